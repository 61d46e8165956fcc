/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Min-hop routes after links went or came. In min-hop tables the way that an entry leads is as long
 * as the distance, so that walking the tables tells distances without a search.
 */
#include "mgmt/routing/minhop_repair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNREACHED UINT32_MAX

enum { WALK_HOPS_MAX = 64, TARGETS_PART = 4 };

/* The room a repair works in. */
struct repair {
	struct routing_graph *graph;
	bool *is_target; /* [switch]: what is attached there is routed anew */
	uint32_t target_count;
	uint32_t *distance;
	uint32_t *queue;
};

static bool leads_on(const struct routing_switch *node, uint8_t port)
{
	return port && port <= node->port_count && node->neighbors[port] != ROUTING_NO_SWITCH;
}

/* Hops by the tables to the switch of the destination; UNREACHED when they do not lead there. */
static uint32_t walk(const struct routing_graph *graph, uint32_t index,
		     const struct routing_destination *destination)
{
	uint32_t hops = 0;

	while (index != destination->switch_index) {
		const struct routing_switch *node = &graph->switches[index];
		uint8_t port = node->table[destination->lid];

		if (!leads_on(node, port) || ++hops > WALK_HOPS_MAX)
			return UNREACHED;
		index = node->neighbors[port];
	}
	return hops;
}

static void move(struct routing_switch *node, const struct routing_destination *destination,
		 uint8_t port)
{
	uint8_t *entry = &node->table[destination->lid];

	if (destination->port_number) {
		if (*entry <= node->port_count && node->load[*entry])
			node->load[*entry]--;
		if (port != ROUTING_NO_PORT)
			node->load[port]++;
	}
	*entry = port;
}

static void route_anew(struct repair *repair, uint32_t target)
{
	repair->target_count += !repair->is_target[target];
	repair->is_target[target] = true;
}

/* An entry that led over the link to a neighbour from which the destination was this far. */
static void replace(struct repair *repair, uint32_t index,
		    const struct routing_destination *destination, uint32_t neighbor_hops)
{
	struct routing_switch *node = &repair->graph->switches[index];
	uint8_t best = ROUTING_NO_PORT;

	for (unsigned port = 1; port <= node->port_count; port++) {
		if (node->neighbors[port] == ROUTING_NO_SWITCH ||
		    (best != ROUTING_NO_PORT && node->load[port] >= node->load[best]))
			continue;
		if (walk(repair->graph, node->neighbors[port], destination) == neighbor_hops)
			best = (uint8_t)port;
	}
	if (best == ROUTING_NO_PORT)
		route_anew(repair, destination->switch_index);
	else
		move(node, destination, best);
}

/* One direction of a link that went. */
static void repair_end(struct repair *repair, uint32_t index, uint8_t port, uint32_t neighbor)
{
	struct routing_graph *graph = repair->graph;
	const struct routing_switch *node = &graph->switches[index];

	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];
		uint32_t neighbor_hops;

		if (node->table[destination->lid] != port || index == destination->switch_index ||
		    repair->is_target[destination->switch_index])
			continue;
		neighbor_hops = walk(graph, neighbor, destination);
		if (neighbor_hops == UNREACHED)
			route_anew(repair, destination->switch_index);
		else
			replace(repair, index, destination, neighbor_hops);
	}
}

static void measure(struct repair *repair, uint32_t target)
{
	const struct routing_graph *graph = repair->graph;
	uint32_t count = 1;

	memset(repair->distance, 0xff, graph->switch_count * sizeof(*repair->distance));
	repair->distance[target] = 0;
	repair->queue[0] = target;
	for (uint32_t head = 0; head < count; head++) {
		const struct routing_switch *node = &graph->switches[repair->queue[head]];

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor == ROUTING_NO_SWITCH ||
			    repair->distance[neighbor] != UNREACHED)
				continue;
			repair->distance[neighbor] = repair->distance[repair->queue[head]] + 1;
			repair->queue[count++] = neighbor;
		}
	}
}

static bool is_shortest(const struct repair *repair, uint32_t index, uint8_t port)
{
	const struct routing_switch *node = &repair->graph->switches[index];

	return leads_on(node, port) && repair->distance[index] != UNREACHED &&
	       repair->distance[node->neighbors[port]] + 1 == repair->distance[index];
}

static uint8_t least_loaded(const struct repair *repair, uint32_t index)
{
	const struct routing_switch *node = &repair->graph->switches[index];
	uint8_t best = ROUTING_NO_PORT;

	for (unsigned port = 1; port <= node->port_count; port++) {
		if (is_shortest(repair, index, (uint8_t)port) &&
		    (best == ROUTING_NO_PORT || node->load[port] < node->load[best]))
			best = (uint8_t)port;
	}
	return best;
}

/* Every switch's entry for one destination, where it is not on a shortest way any more. */
static void route_destination(struct repair *repair, const struct routing_destination *destination)
{
	for (uint32_t index = 0; index < repair->graph->switch_count; index++) {
		struct routing_switch *node = &repair->graph->switches[index];

		if (index != destination->switch_index &&
		    !is_shortest(repair, index, node->table[destination->lid]))
			move(node, destination, least_loaded(repair, index));
	}
}

static void route_targets(struct repair *repair)
{
	const struct routing_graph *graph = repair->graph;
	uint32_t measured = UNREACHED;

	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];

		if (!repair->is_target[destination->switch_index])
			continue;
		if (measured != destination->switch_index)
			measure(repair, destination->switch_index);
		measured = destination->switch_index;
		route_destination(repair, destination);
	}
}

/* A link shortens ways to where its ends are two hops or more apart; those are routed anew. */
static void find_shortcuts(struct repair *repair, const struct routing_link *link)
{
	const struct routing_graph *graph = repair->graph;

	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];
		uint32_t a_hops = walk(graph, link->a, destination);
		uint32_t b_hops = walk(graph, link->b, destination);

		if (a_hops == UNREACHED || b_hops == UNREACHED || a_hops > b_hops + 1 ||
		    b_hops > a_hops + 1)
			route_anew(repair, destination->switch_index);
	}
}

/* What the switch may as well send by the new port, from ports that have more than their share. */
static void share(struct repair *repair, uint32_t index, uint8_t port, uint32_t neighbor)
{
	struct routing_graph *graph = repair->graph;
	struct routing_switch *node = &graph->switches[index];

	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];
		uint8_t present = node->table[destination->lid];

		if (index == destination->switch_index || !destination->port_number ||
		    repair->is_target[destination->switch_index] || !leads_on(node, present) ||
		    node->load[present] <= node->load[port] + 1)
			continue;
		if (walk(graph, neighbor, destination) + 1 == walk(graph, index, destination))
			move(node, destination, port);
	}
}

static bool is_too_much(const struct repair *repair)
{
	return repair->target_count > repair->graph->switch_count / TARGETS_PART + 1;
}

static int take_in(struct repair *repair, const struct routing_change *change)
{
	for (unsigned i = 0; i < change->added_count; i++) {
		const struct routing_link *link = &change->added[i];

		repair->graph->switches[link->a].load[link->a_port] = 0;
		repair->graph->switches[link->b].load[link->b_port] = 0;
		find_shortcuts(repair, link);
		if (is_too_much(repair))
			return -EAGAIN;
	}
	for (unsigned i = 0; i < change->added_count; i++) {
		const struct routing_link *link = &change->added[i];

		share(repair, link->a, link->a_port, link->b);
		share(repair, link->b, link->b_port, link->a);
	}
	route_targets(repair);
	return 0;
}

static int take_out(struct repair *repair, const struct routing_change *change)
{
	for (unsigned i = 0; i < change->removed_count; i++) {
		const struct routing_link *link = &change->removed[i];

		repair_end(repair, link->a, link->a_port, link->b);
		repair_end(repair, link->b, link->b_port, link->a);
		if (is_too_much(repair))
			return -EAGAIN;
	}
	route_targets(repair);
	return 0;
}

int minhop_repair(struct routing_graph *graph, const struct routing_hints *hints,
		  const struct routing_change *change)
{
	struct repair repair = {
		.graph = graph,
		.is_target = calloc(graph->switch_count + 1u, sizeof(*repair.is_target)),
		.distance = calloc(graph->switch_count + 1u, sizeof(*repair.distance)),
		.queue = calloc(graph->switch_count + 1u, sizeof(*repair.queue)),
	};
	int error = repair.is_target && repair.distance && repair.queue ? 0 : -ENOMEM;

	(void)hints;
	/* Ways that a lost link made longer may be shorter by a new one. */
	if (!error && change->removed_count && change->added_count)
		error = -EAGAIN;
	if (!error)
		error = take_out(&repair, change);
	if (!error)
		error = take_in(&repair, change);
	free(repair.is_target);
	free(repair.distance);
	free(repair.queue);
	return error;
}
