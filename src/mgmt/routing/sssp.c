/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single-source shortest-path routing, after Hoefler, Schneider and Lumsdaine, "Optimized Routing
 * for Large-Scale InfiniBand Networks" (Hot Interconnects 2009), as OpenSM's engine of this name
 * (management 3.8, 3.9).
 *
 * A link's weight is the number of paths over it: one per adapter that sends over it to one LID.
 * For one LID after the other, every switch gets the port whose path has the least weight, and the
 * links of these paths become heavier. The paper starts with weights so large that a path with
 * fewer hops is always lighter. Here hops are compared first, so that one breadth-first search per
 * switch serves all its LIDs. min-hop balances the ports of each switch separately; this engine
 * balances links over whole paths.
 */
#include "mgmt/routing/sssp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/port_balance.h"

#define UNREACHED UINT32_MAX

struct sssp {
	struct routing_graph *graph;
	struct destination_groups groups;
	uint32_t *adapter_count; /* [switch]: base LIDs of adapters there */
	uint32_t **weight;	 /* [switch][port]: paths over the link */
	uint32_t *distance;	 /* [switch]: hops to the target */
	uint32_t *queue;	 /* switches, the nearest to the target first */
	uint32_t queue_count;
	/* [position in the queue]: the index of its first entry in candidates, the ports that lead
	 * one hop nearer. */
	uint32_t *first_candidate;
	uint8_t *candidates;
	uint64_t *cost;	   /* [switch]: weight of its path to the LID */
	uint64_t *passing; /* [switch]: adapters whose packets to the LID pass through it */
};

static void measure(struct sssp *sssp, uint32_t target)
{
	const struct routing_graph *graph = sssp->graph;

	memset(sssp->distance, 0xff, graph->switch_count * sizeof(uint32_t));
	sssp->distance[target] = 0;
	sssp->queue[0] = target;
	sssp->queue_count = 1;
	for (uint32_t head = 0; head < sssp->queue_count; head++) {
		const struct routing_switch *node = &graph->switches[sssp->queue[head]];
		uint32_t distance = sssp->distance[sssp->queue[head]] + 1;

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor == ROUTING_NO_SWITCH || sssp->distance[neighbor] != UNREACHED)
				continue;
			sssp->distance[neighbor] = distance;
			sssp->queue[sssp->queue_count++] = neighbor;
		}
	}
}

static void find_candidates(struct sssp *sssp)
{
	const struct routing_graph *graph = sssp->graph;
	uint32_t count = 0;

	for (uint32_t place = 0; place < sssp->queue_count; place++) {
		uint32_t index = sssp->queue[place];
		const struct routing_switch *node = &graph->switches[index];

		sssp->first_candidate[place] = count;
		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor != ROUTING_NO_SWITCH &&
			    sssp->distance[neighbor] + 1 == sssp->distance[index])
				sssp->candidates[count++] = (uint8_t)port;
		}
	}
	sssp->first_candidate[sssp->queue_count] = count;
}

/* The nearest switches choose first, so that the weight of the rest of a path is known. */
static void choose_ports(struct sssp *sssp, uint16_t lid)
{
	struct routing_graph *graph = sssp->graph;

	sssp->cost[sssp->queue[0]] = 0;
	for (uint32_t place = 1; place < sssp->queue_count; place++) {
		uint32_t index = sssp->queue[place];
		struct routing_switch *node = &graph->switches[index];
		uint8_t present = node->table[lid], best = ROUTING_NO_PORT;
		uint64_t best_cost = UINT64_MAX;

		for (uint32_t i = sssp->first_candidate[place];
		     i < sssp->first_candidate[place + 1]; i++) {
			uint8_t port = sssp->candidates[i];
			uint64_t cost =
				sssp->cost[node->neighbors[port]] + sssp->weight[index][port];

			if (cost < best_cost || (cost == best_cost && port == present)) {
				best_cost = cost;
				best = port;
			}
		}
		node->table[lid] = best;
		sssp->cost[index] = best_cost;
	}
}

/* Adds every adapter's path to the LID to the weights of its links, the farthest switches first. */
static void add_weights(struct sssp *sssp, uint16_t lid)
{
	const struct routing_graph *graph = sssp->graph;

	for (uint32_t place = 0; place < sssp->queue_count; place++)
		sssp->passing[sssp->queue[place]] = sssp->adapter_count[sssp->queue[place]];
	for (uint32_t place = sssp->queue_count - 1; place > 0; place--) {
		uint32_t index = sssp->queue[place];
		const struct routing_switch *node = &graph->switches[index];
		uint8_t port = node->table[lid];

		sssp->weight[index][port] += (uint32_t)sssp->passing[index];
		sssp->passing[node->neighbors[port]] += sssp->passing[index];
	}
}

static void route_to(struct sssp *sssp, uint32_t target)
{
	struct routing_graph *graph = sssp->graph;
	const struct destination_groups *groups = &sssp->groups;

	measure(sssp, target);
	find_candidates(sssp);
	for (uint32_t i = groups->first_of[target]; i < groups->first_of[target + 1]; i++) {
		const struct routing_destination *destination =
			&graph->destinations[groups->destinations[i]];

		for (uint32_t index = 0; index < graph->switch_count; index++)
			if (sssp->distance[index] == UNREACHED)
				graph->switches[index].table[destination->lid] = ROUTING_NO_PORT;
		graph->switches[target].table[destination->lid] = destination->port_number;
		choose_ports(sssp, destination->lid);
		/* A switch's own LID gets management traffic only. */
		if (destination->port_number)
			add_weights(sssp, destination->lid);
	}
}

static void sssp_release(struct sssp *sssp)
{
	destination_groups_release(&sssp->groups);
	for (uint32_t i = 0; sssp->weight && i < sssp->graph->switch_count; i++)
		free(sssp->weight[i]);
	free(sssp->weight);
	free(sssp->adapter_count);
	free(sssp->distance);
	free(sssp->queue);
	free(sssp->first_candidate);
	free(sssp->candidates);
	free(sssp->cost);
	free(sssp->passing);
}

static int sssp_init(struct sssp *sssp, struct routing_graph *graph)
{
	size_t room = graph->switch_count + 2u, port_count = 0;

	*sssp = (struct sssp){
		.graph = graph,
		.adapter_count = calloc(room, sizeof(uint32_t)),
		.weight = calloc(room, sizeof(uint32_t *)),
		.distance = malloc(room * sizeof(uint32_t)),
		.queue = malloc(room * sizeof(uint32_t)),
		.first_candidate = malloc(room * sizeof(uint32_t)),
		.cost = malloc(room * sizeof(uint64_t)),
		.passing = malloc(room * sizeof(uint64_t)),
	};
	if (!sssp->adapter_count || !sssp->weight || !sssp->distance || !sssp->queue ||
	    !sssp->first_candidate || !sssp->cost || !sssp->passing)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->switch_count; i++) {
		sssp->weight[i] = calloc(graph->switches[i].port_count + 1u, sizeof(uint32_t));
		if (!sssp->weight[i])
			return -ENOMEM;
		port_count += graph->switches[i].port_count;
	}
	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];

		if (destination->port_number && destination->path_index == 0)
			sssp->adapter_count[destination->switch_index]++;
	}
	sssp->candidates = malloc(port_count + 1);
	return sssp->candidates ? destination_groups_init(&sssp->groups, graph) : -ENOMEM;
}

int sssp_route(struct routing_graph *graph, const struct routing_hints *hints)
{
	struct sssp sssp;
	int error = sssp_init(&sssp, graph);

	(void)hints;
	for (uint32_t target = 0; !error && target < graph->switch_count; target++)
		if (sssp.groups.first_of[target] != sssp.groups.first_of[target + 1])
			route_to(&sssp, target);
	sssp_release(&sssp);
	/* Repairs use the load of ports. */
	if (!error)
		port_balance_recount(graph);
	return error;
}
