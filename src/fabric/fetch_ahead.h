/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefetching for large fabrics, which do not fit in caches: a hop touches some fifteen cache lines
 * of ports, queues and tables that were not used for long. The memory of the next few events is
 * fetched in rounds; each round follows pointers that the round before has brought into the cache.
 * Nothing here changes state.
 */
#ifndef SOFTIB_FABRIC_FETCH_AHEAD_H
#define SOFTIB_FABRIC_FETCH_AHEAD_H

struct frame;
struct port;
struct port_queues;

enum { HOPS_AHEAD = 16 };

/* A frame that is about to cross from this port to its peer. */
struct hop_ahead {
	const struct port *output;
	const struct frame *frame;
};

/* The next hops, turns and credits; up to HOPS_AHEAD in all. */
struct ahead {
	struct hop_ahead hops[HOPS_AHEAD];
	const struct port_queues *turns[HOPS_AHEAD];   /* of ports that may send */
	const struct port_queues *credits[HOPS_AHEAD]; /* of ports whose peers get credits */
	unsigned hop_count, turn_count, credit_count;
};

/* The cache lines of a port, of its queues and of a frame that every packet reads. */
void fetch_port(const struct port *port);
void fetch_queues(const struct port_queues *queues);
void fetch_frame(const struct frame *frame);

/* Call when frames, queues and the hops' outputs have been fetched. */
void fetch_ahead(const struct ahead *ahead);

#endif
