/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The channel dependency graph (management 3.8). Its vertices are (link, direction, VL). It has an
 * edge where a packet that holds the buffer of one channel waits for room in the other. A routing
 * without a cycle can't deadlock (Dally and Seitz).
 *
 * Edges lie between an input and an output of one switch, so a bit matrix per switch holds them.
 * The order stays topological while edges are added, so an edge that would close a cycle is found
 * at once.
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
	uint32_t *first_of; /* [switch]: the channel of its output port 0, VL 0 */
	uint32_t *owner;    /* [channel]: the switch that it leaves */
	uint64_t **edges;   /* [switch]: bit [input channel there x outputs + output channel] */
	uint64_t **refused; /* the same for edges that closed a cycle; NULL: not stored */
	uint32_t *order;    /* [channel]: every edge goes from a lower to a higher position */
	/* Work space for one search. */
	uint32_t *stack, *forward, *backward, *places;
	uint64_t *keys;
	uint8_t *marks;
};

MUST_USE int channel_graph_init(struct channel_graph *channels, const struct routing_graph *graph,
				unsigned lane_count);
void channel_graph_release(struct channel_graph *channels);

/* Call it before the first edge: the channel with the lowest key comes first. Edges that fit the
 * order are added without a search. */
void channel_graph_set_order(struct channel_graph *channels, const uint32_t *keys);
/* From now on an edge that closed a cycle once is refused without a search, even if an edge of that
 * cycle is removed later. -ENOMEM. */
MUST_USE int channel_graph_remember_refusals(struct channel_graph *channels);

/* The output channel of a port of a switch on a VL. */
static inline uint32_t channel_of(const struct channel_graph *channels, uint32_t switch_index,
				  unsigned port_number, unsigned lane)
{
	return channels->first_of[switch_index] + port_number * channels->lane_count + lane;
}

enum channel_verdict {
	CHANNEL_EDGE_KNOWN,
	CHANNEL_EDGE_NEW,
	CHANNEL_EDGE_CLOSES_CYCLE, /* the edge was not added */
};

/* Adds an edge from a channel into a switch to a channel out of it. */
enum channel_verdict channel_graph_add(struct channel_graph *channels, uint32_t from, uint32_t to);
void channel_graph_remove(struct channel_graph *channels, uint32_t from, uint32_t to);

#endif
