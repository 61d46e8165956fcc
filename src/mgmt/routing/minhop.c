/* SPDX-License-Identifier: Apache-2.0 */
/* Min-hop routing with balancing: a breadth first search from each switch that has LIDs, then one
 * port per LID. */
#include "mgmt/routing/minhop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The room one run works in. */
struct search {
	uint32_t *distance; /* [switch] to the destination's switch */
	uint32_t *queue;
	uint32_t queued_count;
	uint32_t *first_of; /* [switch]: its first destination in by_switch; one more at the end */
	uint32_t *by_switch;
};

#define UNREACHED UINT32_MAX

static int search_init(struct search *search, const struct routing_graph *graph)
{
	*search = (struct search){
		.distance = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
		.queue = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
		.first_of = calloc(graph->switch_count + 2u, sizeof(uint32_t)),
		.by_switch = malloc((graph->destination_count + 1u) * sizeof(uint32_t)),
	};
	return search->distance && search->queue && search->first_of && search->by_switch ? 0
											  : -ENOMEM;
}

static void search_release(struct search *search)
{
	free(search->distance);
	free(search->queue);
	free(search->first_of);
	free(search->by_switch);
}

/* Destinations grouped by their switch, so that one search serves all of them. */
static void sort_destinations(struct search *search, const struct routing_graph *graph)
{
	for (uint32_t i = 0; i < graph->destination_count; i++)
		search->first_of[graph->destinations[i].switch_index + 1]++;
	for (uint32_t i = 0; i < graph->switch_count; i++)
		search->first_of[i + 1] += search->first_of[i];
	for (uint32_t i = graph->destination_count; i-- > 0;) {
		uint32_t index = graph->destinations[i].switch_index + 1;

		/* From the back: the end of a group moves to its start, and the order inside stays.
		 */
		search->by_switch[--search->first_of[index]] = i;
	}
	/* Each entry is now the start of its predecessor's group. */
	memmove(search->first_of, search->first_of + 1, graph->switch_count * sizeof(uint32_t));
	search->first_of[graph->switch_count] = graph->destination_count;
}

static void measure(struct search *search, const struct routing_graph *graph, uint32_t target)
{
	memset(search->distance, 0xff, graph->switch_count * sizeof(uint32_t));
	search->distance[target] = 0;
	search->queue[0] = target;
	search->queued_count = 1;
	for (uint32_t head = 0; head < search->queued_count; head++) {
		const struct routing_switch *node = &graph->switches[search->queue[head]];
		uint32_t distance = search->distance[search->queue[head]] + 1;

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor == ROUTING_NO_SWITCH ||
			    search->distance[neighbor] != UNREACHED)
				continue;
			search->distance[neighbor] = distance;
			search->queue[search->queued_count++] = neighbor;
		}
	}
}

struct candidates {
	unsigned count;
	uint8_t ports[ROUTING_NO_PORT];
};

static void find_candidates(const struct search *search, const struct routing_switch *node,
			    uint32_t index, struct candidates *ret_candidates)
{
	ret_candidates->count = 0;
	for (unsigned port = 1; port <= node->port_count; port++) {
		uint32_t neighbor = node->neighbors[port];

		if (neighbor != ROUTING_NO_SWITCH && search->distance[neighbor] != UNREACHED &&
		    search->distance[neighbor] + 1 == search->distance[index])
			ret_candidates->ports[ret_candidates->count++] = (uint8_t)port;
	}
}

static uint8_t choose(const struct routing_switch *node, const struct candidates *candidates,
		      uint8_t present)
{
	uint8_t best = ROUTING_NO_PORT;
	bool present_is_minimal = false;

	for (unsigned i = 0; i < candidates->count; i++) {
		uint8_t port = candidates->ports[i];

		present_is_minimal |= port == present;
		if (best == ROUTING_NO_PORT || node->load[port] < node->load[best])
			best = port;
	}
	/* A table that moves needlessly interrupts traffic; but links that came back must get their
	 * share again. */
	if (present_is_minimal && node->load[present] <= node->load[best] + 1)
		return present;
	return best;
}

static void route_switch(const struct search *search, struct routing_graph *graph, uint32_t index,
			 uint32_t target)
{
	struct routing_switch *node = &graph->switches[index];
	struct candidates candidates = {0};

	if (index != target)
		find_candidates(search, node, index, &candidates);
	for (uint32_t i = search->first_of[target]; i < search->first_of[target + 1]; i++) {
		const struct routing_destination *destination =
			&graph->destinations[search->by_switch[i]];
		uint8_t *entry = &node->table[destination->lid];

		*entry = index == target ? destination->port_number
					 : choose(node, &candidates, *entry);
		/* Only adapters have traffic worth spreading; a switch's own LID gets management
		 * only. */
		if (*entry != ROUTING_NO_PORT && destination->port_number)
			node->load[*entry]++;
	}
}

int minhop_route(struct routing_graph *graph)
{
	struct search search;
	int error = search_init(&search, graph);

	if (!error)
		sort_destinations(&search, graph);
	for (uint32_t i = 0; !error && i < graph->switch_count; i++)
		memset(graph->switches[i].load, 0,
		       (graph->switches[i].port_count + 1) * sizeof(uint32_t));
	for (uint32_t target = 0; !error && target < graph->switch_count; target++) {
		if (search.first_of[target] == search.first_of[target + 1])
			continue;
		measure(&search, graph, target);
		for (uint32_t index = 0; index < graph->switch_count; index++)
			route_switch(&search, graph, index, target);
	}
	search_release(&search);
	return error;
}
