/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known paths: where the tables sent the last packet of a kind, they send the next one, until
 * something changes. On such a path, where nothing waits, a packet crosses the fabric at once.
 *
 * A path is found by fabric_walk(), that is by the functions that forward packets, and is forgotten
 * with every change of a table, state, tap or fault. What a packet does to each port on its way
 * stays the same: credits, arbitration, counters. At an output that has a frame waiting, or no
 * credits, it is queued as ever, so order on each lane is kept. Links that take time, or that
 * somebody watches, are for the queues alone.
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

/* fabric_inject() with that. deliver() may be called meanwhile. */
MUST_USE bool fabric_inject_through(struct fabric *fabric, struct port *port, struct frame *frame,
				    time_ns now);

void known_paths_destroy(struct known_paths *paths);

#endif
