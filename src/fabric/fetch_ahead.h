/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large fabrics do not fit in caches: a hop touches some fifteen lines of ports, queues and tables
 * that nobody has touched for long. What the next few events will look at is fetched in rounds,
 * each of which finds in the cache what the one before has asked for. Nothing here changes
 * anything.
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

/* What comes next; up to HOPS_AHEAD in all. */
struct ahead {
	struct hop_ahead hops[HOPS_AHEAD];
	const struct port_queues *turns[HOPS_AHEAD];   /* of ports that may send */
	const struct port_queues *credits[HOPS_AHEAD]; /* of ports whose peers get credits */
	unsigned hop_count, turn_count, credit_count;
};

/* What every packet looks at of a port, of its queues, and of a frame. */
void fetch_port(const struct port *port);
void fetch_queues(const struct port_queues *queues);
void fetch_frame(const struct frame *frame);

/* Frames and queues, and the hops' outputs, have been fetched. */
void fetch_ahead(const struct ahead *ahead);

#endif
