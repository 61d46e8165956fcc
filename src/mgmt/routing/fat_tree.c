/* SPDX-License-Identifier: Apache-2.0 */
/* Routing for fat trees: one top switch per LID, so that shift patterns have no contention
 * (management 3.8, 3.9). */
#include "mgmt/routing/fat_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/saved_routes.h"
#include "mgmt/routing/port_balance.h"
#include "mgmt/routing/ranks.h"
#include "mgmt/routing/updown.h"

#define NO_LEVEL UINT32_MAX

struct tree {
	struct routing_graph *graph;
	struct destination_groups groups;
	uint32_t *level; /* [switch]: hops from the nearest adapter's switch; 0: leaves */
	uint32_t *queue;
	uint32_t *stamps; /* [switch]: the last LID that has its route from here, plus one */
	uint32_t *above;  /* [switch]: the last visited leaf below it, plus one */
	/* Ports towards the level above and below: [first_of[switch] ...]. */
	uint32_t *first_of;
	uint8_t *ports; /* the upper ones first */
	uint8_t *upper_count;
	uint32_t *down_load; /* [first_of[switch] + port]: LIDs that come down this port's link */
};

static int find_levels(struct tree *tree)
{
	const struct routing_graph *graph = tree->graph;
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph->switch_count; i++) {
		tree->level[i] = tree->groups.has_adapters[i] ? 0 : NO_LEVEL;
		if (tree->groups.has_adapters[i])
			tree->queue[count++] = i;
	}
	for (uint32_t head = 0; head < count; head++) {
		const struct routing_switch *node = &graph->switches[tree->queue[head]];
		uint32_t level = tree->level[tree->queue[head]];

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor == ROUTING_NO_SWITCH)
				continue;
			if (tree->level[neighbor] == level)
				return -EOPNOTSUPP; /* a link within a level */
			if (tree->level[neighbor] != NO_LEVEL)
				continue;
			tree->level[neighbor] = level + 1;
			tree->queue[count++] = neighbor;
		}
	}
	/* A part without adapters has no levels and needs no routes. */
	for (uint32_t i = 0; i < graph->switch_count; i++)
		if (tree->level[i] == NO_LEVEL)
			return -EOPNOTSUPP;
	return 0;
}

static void sort_ports(struct tree *tree)
{
	const struct routing_graph *graph = tree->graph;

	for (uint32_t i = 0; i < graph->switch_count; i++) {
		const struct routing_switch *node = &graph->switches[i];
		uint8_t *ports = tree->ports + tree->first_of[i];
		unsigned count = 0;

		for (unsigned port = 1; port <= node->port_count; port++)
			if (node->neighbors[port] != ROUTING_NO_SWITCH &&
			    tree->level[node->neighbors[port]] > tree->level[i])
				ports[count++] = (uint8_t)port;
		tree->upper_count[i] = (uint8_t)count;
		for (unsigned port = 1; port <= node->port_count; port++)
			if (node->neighbors[port] != ROUTING_NO_SWITCH &&
			    tree->level[node->neighbors[port]] < tree->level[i])
				ports[count++] = (uint8_t)port;
		ports[count] = 0;
	}
}

/* Goes from the leaf to a top switch, each time over the link with the fewest LIDs coming down.
 * Equal links are taken in turn; the first one depends on the LID's position on its leaf. Writes
 * the route down and returns the top switch. */
static uint32_t climb(struct tree *tree, const struct routing_destination *destination,
		      uint32_t turn)
{
	struct routing_graph *graph = tree->graph;
	uint32_t index = destination->switch_index;

	graph->switches[index].table[destination->lid] = destination->port_number;
	tree->stamps[index] = destination->lid + 1u;
	while (tree->upper_count[index] > 0) {
		const uint8_t *ports = tree->ports + tree->first_of[index];
		uint32_t *load = tree->down_load + tree->first_of[index];
		unsigned count = tree->upper_count[index];
		uint8_t best = ports[turn % count];

		for (unsigned i = 0; i < count; i++) {
			uint8_t port = ports[(turn + i) % count];

			if (load[port] < load[best])
				best = port;
		}
		load[best]++;

		const struct routing_switch *node = &graph->switches[index];
		uint32_t above = node->neighbors[best];

		graph->switches[above].table[destination->lid] = node->neighbor_ports[best];
		tree->stamps[above] = destination->lid + 1u;
		index = above;
		turn /= count;
	}
	return index;
}

/* Switches below the top that have no route yet and can't go down go up to it, over the least
 * loaded of parallel links. */
static void fan_out(struct tree *tree, const struct routing_destination *destination, uint32_t top)
{
	struct routing_graph *graph = tree->graph;
	uint32_t count = 1;

	tree->queue[0] = top;
	for (uint32_t head = 0; head < count; head++) {
		uint32_t index = tree->queue[head];
		const struct routing_switch *node = &graph->switches[index];
		const uint8_t *port =
			tree->ports + tree->first_of[index] + tree->upper_count[index];

		for (; *port; port++) {
			uint32_t below = node->neighbors[*port];
			uint8_t up_port = node->neighbor_ports[*port];
			struct routing_switch *lower = &graph->switches[below];
			uint8_t *entry = &lower->table[destination->lid];

			if (tree->above[below] == destination->switch_index + 1)
				continue;
			if (tree->stamps[below] != destination->lid + 1u) {
				tree->stamps[below] = destination->lid + 1u;
				*entry = up_port;
				tree->queue[count++] = below;
			} else if (*entry <= lower->port_count && *entry > 0 &&
				   lower->neighbors[*entry] == index &&
				   lower->load[up_port] + 1 < lower->load[*entry]) {
				*entry = up_port;
			}
			if (*entry == up_port)
				lower->load[up_port]++;
		}
	}
}

/* Marks every switch from which this leaf is reached by going down only. */
static void mark_above(struct tree *tree, uint32_t leaf)
{
	uint32_t count = 1;

	tree->queue[0] = leaf;
	tree->above[leaf] = leaf + 1;
	for (uint32_t head = 0; head < count; head++) {
		uint32_t index = tree->queue[head];
		const uint8_t *ports = tree->ports + tree->first_of[index];

		for (unsigned i = 0; i < tree->upper_count[index]; i++) {
			uint32_t upper = tree->graph->switches[index].neighbors[ports[i]];

			if (tree->above[upper] == leaf + 1)
				continue;
			tree->above[upper] = leaf + 1;
			tree->queue[count++] = upper;
		}
	}
}

static int tree_init(struct tree *tree, struct routing_graph *graph)
{
	size_t count = graph->switch_count + 1u, port_count = 0;

	*tree = (struct tree){
		.graph = graph,
		.level = malloc(count * sizeof(uint32_t)),
		.queue = malloc(count * sizeof(uint32_t)),
		.stamps = calloc(count, sizeof(uint32_t)),
		.above = calloc(count, sizeof(uint32_t)),
		.first_of = malloc(count * sizeof(uint32_t)),
		.upper_count = calloc(count, 1),
	};
	if (!tree->level || !tree->queue || !tree->stamps || !tree->above || !tree->first_of ||
	    !tree->upper_count)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->switch_count; i++) {
		tree->first_of[i] = (uint32_t)port_count;
		port_count += graph->switches[i].port_count + 2u;
	}
	tree->ports = calloc(port_count + 1, 1);
	tree->down_load = calloc(port_count + 1, sizeof(uint32_t));
	return tree->ports && tree->down_load ? destination_groups_init(&tree->groups, graph)
					      : -ENOMEM;
}

static void tree_release(struct tree *tree)
{
	if (tree->groups.first_of)
		destination_groups_release(&tree->groups);
	free(tree->level);
	free(tree->queue);
	free(tree->stamps);
	free(tree->above);
	free(tree->first_of);
	free(tree->upper_count);
	free(tree->ports);
	free(tree->down_load);
}

static void route_adapters(struct tree *tree)
{
	struct routing_graph *graph = tree->graph;

	for (uint32_t leaf = 0; leaf < graph->switch_count; leaf++) {
		uint32_t turn = 0;

		if (tree->groups.has_adapters[leaf])
			mark_above(tree, leaf);
		for (uint32_t i = tree->groups.first_of[leaf]; i < tree->groups.first_of[leaf + 1];
		     i++) {
			const struct routing_destination *destination =
				&graph->destinations[tree->groups.destinations[i]];

			if (destination->port_number)
				fan_out(tree, destination, climb(tree, destination, turn++));
		}
	}
}

/* First gives every switch a route by the up/down rule. Switches that the LID's own tree does not
 * reach keep it: they go down where they can and else up, as in the tree. */
static int route_by_levels(struct tree *tree, const struct routing_hints *hints)
{
	struct ranks ranks;
	uint32_t level_max = 0;
	int error = ranks_find(&ranks, tree->graph, &tree->groups, hints, RANKS_ROOTS_ON_TOP);

	for (uint32_t i = 0; !error && i < tree->graph->switch_count; i++)
		if (tree->level[i] > level_max)
			level_max = tree->level[i];
	for (uint32_t i = 0; !error && i < tree->graph->switch_count; i++)
		ranks.rank[i] = level_max - tree->level[i];
	if (!error)
		error = updown_route_ranked(tree->graph, &tree->groups, &ranks);
	ranks_release(&ranks);
	return error;
}

int fat_tree_route(struct routing_graph *graph, const struct routing_hints *hints)
{
	struct tree tree;
	int error = tree_init(&tree, graph);

	if (!error)
		error = find_levels(&tree);
	if (!error)
		error = route_by_levels(&tree, hints);
	if (!error) {
		sort_ports(&tree);
		route_adapters(&tree);
		port_balance_recount(graph);
		error = saved_routes_save(graph);
	}
	tree_release(&tree);
	return error;
}

int fat_tree_repair(struct routing_graph *graph, const struct routing_hints *hints,
		    const struct routing_change *change)
{
	/* A link that did not exist when the tree was routed may make it another tree. */
	if (!saved_routes_exist(graph) ||
	    !saved_routes_have_links(graph, change->added, change->added_count))
		return -EAGAIN;
	return updown_repair(graph, hints, change);
}
