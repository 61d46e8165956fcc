/* SPDX-License-Identifier: Apache-2.0 */
/* Min-hop routing with balancing: a breadth-first search from each switch that has LIDs, then one
 * port per LID (management 3.9). */
#include "mgmt/routing/minhop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/repair.h"

#define UNREACHED UINT32_MAX

/* Work space. */
struct search {
	struct destination_groups groups;
	uint32_t *distance; /* [switch]: hops to the destination's switch */
	uint32_t *queue;
	struct routing_graph *graph;
	port_chooser *choose;
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

static int route_to(void *context, uint32_t target)
{
	struct search *search = context;
	struct routing_graph *graph = search->graph;
	const uint32_t *first_of = search->groups.first_of;

	measure(search, graph, target);
	for (uint32_t index = 0; index < graph->switch_count; index++) {
		struct port_candidates candidates = {0};

		if (index != target)
			find_candidates(search, &graph->switches[index], index, &candidates);
		search->choose(graph, index, index == target, &candidates,
			       search->groups.destinations + first_of[target],
			       first_of[target + 1] - first_of[target]);
	}
	return 0;
}

static void search_release(struct search *search)
{
	destination_groups_release(&search->groups);
	free(search->distance);
	free(search->queue);
}

static int search_init(struct search *search, struct routing_graph *graph, port_chooser *choose)
{
	*search = (struct search){
		.graph = graph,
		.choose = choose,
		.distance = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
		.queue = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
	};
	if (search->distance && search->queue &&
	    destination_groups_init(&search->groups, graph) == 0)
		return 0;
	free(search->distance);
	free(search->queue);
	return -ENOMEM;
}

int minhop_route_by(struct routing_graph *graph, port_chooser *choose)
{
	struct search search;
	int error = search_init(&search, graph, choose);

	if (error)
		return error;
	port_balance_reset(graph);
	for (uint32_t target = 0; !error && target < graph->switch_count; target++) {
		if (search.groups.first_of[target] != search.groups.first_of[target + 1])
			error = route_to(&search, target);
	}
	search_release(&search);
	return error;
}

int minhop_route(struct routing_graph *graph)
{
	return minhop_route_by(graph, port_balance_assign);
}

int minhop_repair(struct routing_graph *graph, const struct routing_hints *hints,
		  const struct routing_change *change)
{
	struct search search;
	const struct repair_rules rules = {.mend_target = route_to, .context = &search};
	int error = search_init(&search, graph, port_balance_mend);

	(void)hints;
	if (error)
		return error;
	error = repair_routes(graph, &rules, change);
	search_release(&search);
	return error;
}
