/* SPDX-License-Identifier: Apache-2.0 */
/* From the rings of programs to the ports of the fabric: packets, resolve requests and other
 * records, and retries when the fabric was full. The way back is daemon/packets/delivery.h. */
#ifndef SOFTIB_DAEMON_PACKETS_INGRESS_H
#define SOFTIB_DAEMON_PACKETS_INGRESS_H

#include <stdbool.h>

struct client;
struct packet_plane;
struct port;
struct share_hold;

/* Reads the up rings of clients that are awake. */
void ingress_read(struct packet_plane *plane);
/* Whether one of those rings has a record. */
bool ingress_has_records(const struct packet_plane *plane);

/* The fabric's port_has_room callback; the context is the packet plane. While softibd is late, the
 * fabric works on an instant in the past. Packets that waited for this port are injected at that
 * instant, so that a slow link does not stand still until the present. */
void ingress_refill(void *context, struct port *port);

/* Reads again the clients whose next record found no room in the fabric. Returns whether there was
 * any progress. */
bool ingress_retry(struct packet_plane *plane);

/* The client rang because its down ring has room again. */
void ingress_client_has_room(struct packet_plane *plane, struct client *client);
/* The doorbell and the up ring are not read until the process has a share of softibd's time again.
 */
void ingress_hold_back(struct client *client);
void ingress_resume_client(struct share_hold *hold);
/* The client ended: processes what it sent, and unblocks packets that waited for it. */
void ingress_client_gone(struct packet_plane *plane, struct client *client);

#endif
