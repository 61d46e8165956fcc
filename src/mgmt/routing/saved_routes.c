/* SPDX-License-Identifier: Apache-2.0 */
/* Saved routes, which are restored when lost links return. */
#include "mgmt/routing/saved_routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/port_balance.h"

static void *copy_of(const void *bytes, size_t byte_count)
{
	void *copy = malloc(byte_count);

	if (copy)
		memcpy(copy, bytes, byte_count);
	return copy;
}

int saved_routes_save(struct routing_graph *graph)
{
	routing_graph_drop_saved_routes(graph);
	graph->saved_routes = calloc(graph->switch_count + 1u, sizeof(*graph->saved_routes));
	if (!graph->saved_routes)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->switch_count; i++) {
		const struct routing_switch *node = &graph->switches[i];
		struct saved_switch *saved = &graph->saved_routes[i];
		size_t port_count = node->port_count + 1u;

		saved->table = copy_of(node->table, graph->lid_max + 1u);
		saved->neighbors = copy_of(node->neighbors, port_count * sizeof(*node->neighbors));
		saved->neighbor_ports = copy_of(node->neighbor_ports, port_count);
		if (!saved->table || !saved->neighbors || !saved->neighbor_ports) {
			routing_graph_drop_saved_routes(graph);
			return -ENOMEM;
		}
	}
	return 0;
}

bool saved_routes_exist(const struct routing_graph *graph)
{
	return graph->saved_routes != NULL;
}

bool saved_routes_have_links(const struct routing_graph *graph, const struct routing_link *links,
			     unsigned link_count)
{
	for (unsigned i = 0; i < link_count; i++) {
		const struct saved_switch *saved = &graph->saved_routes[links[i].a];

		if (saved->neighbors[links[i].a_port] != links[i].b ||
		    saved->neighbor_ports[links[i].a_port] != links[i].b_port)
			return false;
	}
	return true;
}

static bool link_is_there(const struct routing_graph *graph, uint32_t index, uint8_t port)
{
	const struct routing_switch *node = &graph->switches[index];
	const struct saved_switch *saved = &graph->saved_routes[index];

	return port && port <= node->port_count && saved->neighbors[port] != ROUTING_NO_SWITCH &&
	       node->neighbors[port] == saved->neighbors[port] &&
	       node->neighbor_ports[port] == saved->neighbor_ports[port];
}

/* Whether the links of the saved path from this switch to the destination's switch exist. */
static bool saved_path_exists(const struct routing_graph *graph, uint32_t index,
			      const struct routing_destination *destination)
{
	/* An engine's routes have no loops; the bound is for tables from elsewhere. */
	for (uint32_t hops = 0; hops <= graph->switch_count; hops++) {
		uint8_t port = graph->saved_routes[index].table[destination->lid];

		if (index == destination->switch_index)
			return true;
		if (!link_is_there(graph, index, port))
			return false;
		index = graph->saved_routes[index].neighbors[port];
	}
	return false;
}

/* Most tables are unchanged, so compare the whole table first. */
static void restore_switch(struct routing_graph *graph, uint32_t index, bool ret_is_mixed[])
{
	struct routing_switch *node = &graph->switches[index];
	const uint8_t *saved = graph->saved_routes[index].table;

	if (memcmp(node->table, saved, graph->lid_max + 1u) == 0)
		return;
	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];

		/* The entry at the destination's own switch tells whether it is present. Routing
		 * does not change it. */
		if (node->table[destination->lid] == saved[destination->lid] ||
		    index == destination->switch_index)
			continue;
		if (saved_path_exists(graph, index, destination))
			port_balance_move(node, destination, saved[destination->lid]);
		else
			ret_is_mixed[i] = true;
	}
}

void saved_routes_restore(struct routing_graph *graph, bool ret_is_mixed[])
{
	memset(ret_is_mixed, 0, graph->destination_count * sizeof(*ret_is_mixed));
	for (uint32_t i = 0; i < graph->switch_count; i++)
		restore_switch(graph, i, ret_is_mixed);
}
