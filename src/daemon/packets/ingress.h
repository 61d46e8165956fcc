/* SPDX-License-Identifier: Apache-2.0 */
/* From the rings of programs to the ports of the fabric: packets, questions about flows, and what
 * waits until the fabric has room. The way back: daemon/packets/delivery.h. */
#ifndef SOFTIB_DAEMON_PACKETS_INGRESS_H
#define SOFTIB_DAEMON_PACKETS_INGRESS_H

#include <stdbool.h>

struct client;
struct packet_plane;
struct port;

/* Reads the up rings of clients that are awake. */
void ingress_read(struct packet_plane *plane);
/* Whether there is something to read in one of them. */
bool ingress_has_records(const struct packet_plane *plane);

/* A port has room again while softibd, which is late, works on an instant that is past: what its
 * host's programs had waiting goes on at that instant, so that a slow link does not stand still
 * until the present. A fabric_owner's. */
void ingress_refill(void *context, struct port *port);

/* The same for clients whose next packet found no room in the fabric, after it moved. */
bool ingress_retry(struct packet_plane *plane);

/* The client rang: its down ring may have room again. */
void ingress_client_has_room(struct packet_plane *plane, struct client *client);
/* Reads the client's up ring to its end, unless the fabric is full. */
void ingress_catch_up(struct packet_plane *plane, struct client *client);
/* Nobody waits for this client any more. */
void ingress_client_gone(struct packet_plane *plane, struct client *client);

#endif
