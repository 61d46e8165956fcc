/* SPDX-License-Identifier: Apache-2.0 */
/* Min-hop routes for any graph, free of credit loops by several VLs, as LASH does (management 3.8,
 * 3.9). */
#include "mgmt/routing/layered.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/channels.h"
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/minhop.h"

enum { LANES_MAX = 15 };

struct edge {
	uint32_t from, to;
};

struct layered {
	struct routing_graph *graph;
	struct destination_groups groups;
	unsigned lane_count;
	struct channel_graph layers[LANES_MAX]; /* one VL each */
	unsigned layer_count;			/* in use so far */
	struct edge *added; /* edges that the present pair added to the present layer */
	uint32_t added_count;
};

/* Adds the dependencies of the paths from one switch to the LIDs of another. false: they close a
 * cycle. */
static bool add_paths(struct layered *layered, struct channel_graph *layer, uint32_t source,
		      uint32_t target)
{
	const struct routing_graph *graph = layered->graph;
	const struct destination_groups *groups = &layered->groups;

	for (uint32_t i = groups->first_of[target]; i < groups->first_of[target + 1]; i++) {
		uint16_t lid = graph->destinations[groups->destinations[i]].lid;
		uint32_t previous = UINT32_MAX;

		/* A min-hop path visits each switch at most once. */
		for (uint32_t index = source; index != target;) {
			const struct routing_switch *node = &graph->switches[index];
			uint8_t port = node->table[lid];

			if (port == 0 || port > node->port_count)
				break;

			uint32_t channel = channel_of(layer, index, port, 0);

			if (previous != UINT32_MAX) {
				enum channel_verdict verdict =
					channel_graph_add(layer, previous, channel);

				if (verdict == CHANNEL_EDGE_CLOSES_CYCLE)
					return false;
				if (verdict == CHANNEL_EDGE_NEW)
					layered->added[layered->added_count++] =
						(struct edge){previous, channel};
			}
			previous = channel;
			index = node->neighbors[port];
		}
	}
	return true;
}

static bool fits(struct layered *layered, struct channel_graph *layer, uint32_t a, uint32_t b)
{
	layered->added_count = 0;
	if (add_paths(layered, layer, a, b) && add_paths(layered, layer, b, a))
		return true;
	while (layered->added_count > 0) {
		const struct edge *edge = &layered->added[--layered->added_count];

		channel_graph_remove(layer, edge->from, edge->to);
	}
	return false;
}

static void set_service_level(struct layered *layered, uint32_t source, uint32_t target,
			      unsigned layer)
{
	struct routing_graph *graph = layered->graph;
	const struct destination_groups *groups = &layered->groups;

	for (uint32_t i = groups->first_of[target]; i < groups->first_of[target + 1]; i++) {
		uint16_t lid = graph->destinations[groups->destinations[i]].lid;

		graph->service_levels[(size_t)source * (graph->lid_max + 1u) + lid] =
			(uint8_t)layer;
	}
}

static int place_pair(struct layered *layered, uint32_t a, uint32_t b)
{
	for (unsigned layer = 0; layer < layered->lane_count; layer++) {
		if (layer == layered->layer_count) {
			int error = channel_graph_init(&layered->layers[layer], layered->graph, 1);

			if (error)
				return error;
			layered->layer_count++;
		}
		if (!fits(layered, &layered->layers[layer], a, b))
			continue;
		set_service_level(layered, a, b, layer);
		set_service_level(layered, b, a, layer);
		return 0;
	}
	return -EOPNOTSUPP;
}

/* The dependencies of all paths of a pair of switches, at most. */
static size_t edges_max(const struct layered *layered)
{
	size_t lids_max = 0;

	for (uint32_t i = 0; i < layered->graph->switch_count; i++) {
		size_t lids = layered->groups.first_of[i + 1] - layered->groups.first_of[i];

		if (lids > lids_max)
			lids_max = lids;
	}
	return 2 * lids_max * (layered->graph->switch_count + 1u);
}

/* Switches without adapters exchange packets with switches that have adapters, not with each other.
 */
static int place_all(struct layered *layered, enum layered_pairs pairs)
{
	const bool *has_adapters = layered->groups.has_adapters;
	int error = 0;

	for (uint32_t a = 0; !error && a < layered->graph->switch_count; a++)
		for (uint32_t b = a + 1; !error && b < layered->graph->switch_count; b++)
			if (pairs == LAYERED_PAIRS_OF_ADAPTERS ? has_adapters[a] && has_adapters[b]
							       : has_adapters[a] || has_adapters[b])
				error = place_pair(layered, a, b);
	return error;
}

int layered_assign(struct routing_graph *graph, enum layered_pairs pairs, unsigned lane_count)
{
	struct layered layered = {.graph = graph,
				  .lane_count = lane_count == 0		 ? 1
						: lane_count > LANES_MAX ? LANES_MAX
									 : lane_count};
	int error = routing_graph_use_service_levels(graph);

	if (!error)
		error = destination_groups_init(&layered.groups, graph);
	if (!error) {
		layered.added = malloc(edges_max(&layered) * sizeof(*layered.added));
		error = layered.added ? place_all(&layered, pairs) : -ENOMEM;
	}
	for (unsigned layer = 0; layer < layered.layer_count; layer++)
		channel_graph_release(&layered.layers[layer]);
	free(layered.added);
	if (layered.groups.first_of)
		destination_groups_release(&layered.groups);
	return error;
}

int layered_route(struct routing_graph *graph, const struct routing_hints *hints)
{
	int error = minhop_route(graph);

	return error ? error
		     : layered_assign(graph, LAYERED_PAIRS_WITH_ADAPTERS, hints->lane_count);
}
