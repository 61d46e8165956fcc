/* SPDX-License-Identifier: Apache-2.0 */
/* From the ports of the fabric to the rings of programs: a packet goes to the program that owns its
 * destination queue pair, or to softibd's own receivers (MADs, IPoIB), and waits while the ring is
 * full. */
#ifndef SOFTIB_DAEMON_PACKETS_DELIVERY_H
#define SOFTIB_DAEMON_PACKETS_DELIVERY_H

#include <stdbool.h>
#include "base/time.h"
#include "net/link/port.h"

struct packet_plane;
struct frame;
struct host;

/* The fabric's deliver callback; the context is the packet plane. Returns false if the packet has
 * to wait for room. */
bool delivery_make(void *context, struct port *port, struct frame *frame);

/* The fabric's gone callback: a program's packet was dropped inside the fabric. */
void delivery_gone(void *context, struct frame *frame, enum drop_reason reason);

/* Retries the packets that wait at this host's ports, because one of its programs has room again or
 * has ended. */
void delivery_unblock(struct packet_plane *plane, const struct host *host);

/* Discards packets for a program that does not take them, after a while, so that it can't hold up
 * the other programs on its port. */
void delivery_expire(struct packet_plane *plane);
time_ns delivery_deadline(const struct packet_plane *plane);

#endif
