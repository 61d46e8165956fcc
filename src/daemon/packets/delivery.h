/* SPDX-License-Identifier: Apache-2.0 */
/* From the ports of the fabric to the rings of programs: each packet to who has its destination
 * queue pair, or to softibd's own (MADs, IPoIB), and what waits for room. */
#ifndef SOFTIB_DAEMON_PACKETS_DELIVERY_H
#define SOFTIB_DAEMON_PACKETS_DELIVERY_H

#include <stdbool.h>
#include "base/time.h"
#include "net/link/port.h"

struct packet_plane;
struct frame;
struct host;

/* The fabric's deliver callback; the context is the packet plane. False: it waits for room. */
bool delivery_make(void *context, struct port *port, struct frame *frame);

/* The fabric's gone callback: a packet of a program ended on its way. */
void delivery_gone(void *context, struct frame *frame, enum drop_reason reason);

/* A program of this host has room again, or will never have: what waits at its ports is tried
 * again. */
void delivery_unblock(struct packet_plane *plane, const struct host *host);

/* Packets for a program that stopped reading are discarded after a while, so that it can't hold up
 * others on its port. */
void delivery_expire(struct packet_plane *plane);
time_ns delivery_deadline(const struct packet_plane *plane);

#endif
