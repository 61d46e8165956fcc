/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large fabrics do not fit in caches: a hop touches some twenty lines of ports, queues and tables
 * that nobody has touched for long. What the next few hops will look at is fetched in rounds, each
 * of which finds in the cache what the one before has asked for. Nothing here changes anything.
 */
#ifndef SOFTIB_FABRIC_FETCH_AHEAD_H
#define SOFTIB_FABRIC_FETCH_AHEAD_H

struct frame;
struct port;

enum { HOPS_AHEAD = 16 };

/* A frame that is about to cross from this port to its peer. */
struct hop_ahead {
	struct port *output;
	const struct frame *frame; /* NULL: none, or not known */
};

void fetch_hops(const struct hop_ahead hops[], unsigned hop_count);

#endif
