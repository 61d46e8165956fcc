/* SPDX-License-Identifier: Apache-2.0 */
/* Min-hop routing with balancing: a breadth first search from each switch that has LIDs, then one
 * port per LID. */
#include "mgmt/routing/minhop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/port_choice.h"

#define UNREACHED UINT32_MAX

/* The room one run works in. */
struct search {
	struct destination_groups groups;
	uint32_t *distance; /* [switch] to the destination's switch */
	uint32_t *queue;
};

static void measure(struct search *search, const struct routing_graph *graph, uint32_t target)
{
	uint32_t count = 1;

	memset(search->distance, 0xff, graph->switch_count * sizeof(uint32_t));
	search->distance[target] = 0;
	search->queue[0] = target;
	for (uint32_t head = 0; head < count; head++) {
		const struct routing_switch *node = &graph->switches[search->queue[head]];
		uint32_t distance = search->distance[search->queue[head]] + 1;

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor == ROUTING_NO_SWITCH ||
			    search->distance[neighbor] != UNREACHED)
				continue;
			search->distance[neighbor] = distance;
			search->queue[count++] = neighbor;
		}
	}
}

static void find_candidates(const struct search *search, const struct routing_switch *node,
			    uint32_t index, struct port_candidates *ret_candidates)
{
	ret_candidates->count = 0;
	for (unsigned port = 1; port <= node->port_count; port++) {
		uint32_t neighbor = node->neighbors[port];

		if (neighbor != ROUTING_NO_SWITCH && search->distance[neighbor] != UNREACHED &&
		    search->distance[neighbor] + 1 == search->distance[index])
			ret_candidates->ports[ret_candidates->count++] = (uint8_t)port;
	}
}

static void route_to(struct search *search, struct routing_graph *graph, uint32_t target)
{
	const uint32_t *first_of = search->groups.first_of;

	measure(search, graph, target);
	for (uint32_t index = 0; index < graph->switch_count; index++) {
		struct port_candidates candidates = {0};

		if (index != target)
			find_candidates(search, &graph->switches[index], index, &candidates);
		port_choice_assign(graph, index, index == target, &candidates,
				   search->groups.destinations + first_of[target],
				   first_of[target + 1] - first_of[target]);
	}
}

int minhop_route(struct routing_graph *graph)
{
	struct search search = {
		.distance = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
		.queue = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
	};
	int error = search.distance && search.queue ? 0 : -ENOMEM;

	if (!error)
		error = destination_groups_init(&search.groups, graph);
	if (!error)
		port_choice_reset(graph);
	for (uint32_t target = 0; !error && target < graph->switch_count; target++) {
		if (search.groups.first_of[target] != search.groups.first_of[target + 1])
			route_to(&search, graph, target);
	}
	destination_groups_release(&search.groups);
	free(search.distance);
	free(search.queue);
	return error;
}
