/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The channel dependency graph: its vertices are (link, direction, lane), with an edge where a
 * packet that holds the buffer of one waits for room in the other. A routing can't deadlock if it
 * has no cycle (vol 1, appendix on deadlock; Dally and Seitz).
 *
 * Edges only lie between an input and an output of one switch, so that they fit a bit matrix per
 * switch. The order is kept topological while edges are added, so that the one which would close a
 * cycle is found at once.
 */
#ifndef SOFTIB_MGMT_ROUTING_CHANNELS_H
#define SOFTIB_MGMT_ROUTING_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/routing/graph.h"

struct channel_graph {
	const struct routing_graph *graph;
	unsigned lane_count;
	uint32_t channel_count;
	uint32_t *first_of; /* [switch]: the channel of its output port 0, lane 0 */
	uint32_t *owner;    /* [channel]: the switch it leaves */
	uint64_t **edges;   /* [switch]: bit [input channel there x outputs + output channel] */
	uint64_t **refused; /* the same for edges that closed a cycle; NULL: not remembered */
	uint32_t *order;    /* [channel]: every edge goes from a lower to a higher place */
	/* Room for one search. */
	uint32_t *stack, *forward, *backward, *places;
	uint64_t *keys;
	uint8_t *marks;
};

MUST_USE int channel_graph_init(struct channel_graph *channels, const struct routing_graph *graph,
				unsigned lane_count);
void channel_graph_release(struct channel_graph *channels);

/* Before the first edge: the channel with the lowest key comes first. Edges that fit the order are
 * added without a search. */
void channel_graph_set_order(struct channel_graph *channels, const uint32_t *keys);
/* From now on an edge that closed a cycle once is refused without a search; even if an edge of that
 * cycle is removed later. -ENOMEM. */
MUST_USE int channel_graph_remember_refusals(struct channel_graph *channels);

/* A port of a switch, as an output, on a lane. */
static inline uint32_t channel_of(const struct channel_graph *channels, uint32_t switch_index,
				  unsigned port_number, unsigned lane)
{
	return channels->first_of[switch_index] + port_number * channels->lane_count + lane;
}

enum channel_verdict {
	CHANNEL_EDGE_KNOWN,
	CHANNEL_EDGE_NEW,
	CHANNEL_EDGE_CLOSES_CYCLE, /* and was not added */
};

/* From a channel into a switch to one out of it. */
enum channel_verdict channel_graph_add(struct channel_graph *channels, uint32_t from, uint32_t to);
void channel_graph_remove(struct channel_graph *channels, uint32_t from, uint32_t to);

#endif
