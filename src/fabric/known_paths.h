/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of paths: a packet follows the path of the last packet with the same header fields, until
 * something changes. Where nothing waits on that path, the packet crosses the fabric at once.
 *
 * fabric_walk() finds a path with the functions that forward packets. Every change of a table,
 * state, tap or fault invalidates all paths. The effect on each port stays the same: credits,
 * arbitration, counters. At an output that has a frame waiting, or no credits, the packet is queued
 * as usual, so each lane keeps its order. Links that take time, are captured or have faults always
 * use the queues.
 */
#ifndef SOFTIB_FABRIC_KNOWN_PATHS_H
#define SOFTIB_FABRIC_KNOWN_PATHS_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"

struct fabric;
struct frame;
struct known_paths;
struct port;

/* fabric_inject() by way of this cache. May call deliver(). */
MUST_USE bool fabric_inject_through(struct fabric *fabric, struct port *port, struct frame *frame,
				    time_ns now);

void known_paths_destroy(struct known_paths *paths);

#endif
