/* SPDX-License-Identifier: Apache-2.0 */
/* Between the rings of programs and the ports of the fabric: packets up, packets down, and what
 * waits for room. */
#ifndef SOFTIB_DAEMON_BRIDGE_H
#define SOFTIB_DAEMON_BRIDGE_H

#include <stdbool.h>
#include "base/time.h"
#include "net/link/port.h"

struct client;
struct daemon;
struct frame;
struct port;

/* Reads the up rings of clients that are awake. */
void bridge_read(struct daemon *daemon);
/* Whether there is something to read in one of them. */
bool bridge_has_news(const struct daemon *daemon);

/* The same for clients whose next packet found no room in the fabric, after it moved. */
bool bridge_retry(struct daemon *daemon);

/* The fabric's deliver callback; the context is the daemon. */
bool bridge_deliver(void *context, struct port *port, struct frame *frame);

/* The fabric's gone callback: a packet of a program ended on its way. */
void bridge_gone(void *context, struct frame *frame, enum drop_reason reason);

/* The client rang: its down ring may have room again. */
void bridge_client_has_room(struct client *client);
/* Reads the client's up ring to its end, unless the fabric is full. */
void bridge_catch_up(struct client *client);
/* Nobody waits for this client any more. */
void bridge_client_gone(struct client *client);

/* Packets for a program that stopped reading are discarded after a while, so that it can't hold up
 * others on its port. */
void bridge_expire(struct daemon *daemon);
time_ns bridge_deadline(const struct daemon *daemon);

#endif
