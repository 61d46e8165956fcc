/* SPDX-License-Identifier: Apache-2.0 */
/* Switches, links and LIDs for routing, and a check of the tables: every LID is reached, and there
 * are no loops. */
#include "mgmt/routing/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int routing_graph_init(struct routing_graph *graph, uint32_t switch_count,
		       uint32_t destination_count, uint16_t lid_max)
{
	*graph = (struct routing_graph){
		.switch_count = switch_count,
		.destination_count = destination_count,
		.lid_max = lid_max,
		.switches = calloc(switch_count + 1, sizeof(*graph->switches)),
		.destinations = calloc(destination_count + 1, sizeof(*graph->destinations)),
	};
	if (!graph->switches || !graph->destinations) {
		routing_graph_release(graph);
		return -ENOMEM;
	}
	return 0;
}

int routing_graph_set_ports(struct routing_graph *graph, uint32_t switch_index, unsigned port_count)
{
	struct routing_switch *node = &graph->switches[switch_index];

	assert(!node->neighbors && port_count < ROUTING_NO_PORT);
	node->port_count = port_count;
	node->neighbors = malloc((port_count + 1) * sizeof(*node->neighbors));
	node->neighbor_ports = calloc(port_count + 1, sizeof(*node->neighbor_ports));
	node->load = calloc(port_count + 1, sizeof(*node->load));
	node->table = malloc(graph->lid_max + 1u);
	node->moved_blocks = calloc(graph->lid_max / ROUTING_LIDS_PER_BLOCK / 64 + 1u,
				    sizeof(*node->moved_blocks));
	if (!node->neighbors || !node->neighbor_ports || !node->load || !node->table ||
	    !node->moved_blocks)
		return -ENOMEM;
	for (unsigned i = 0; i <= port_count; i++)
		node->neighbors[i] = ROUTING_NO_SWITCH;
	memset(node->table, ROUTING_NO_PORT, graph->lid_max + 1u);
	return 0;
}

void routing_graph_drop_saved_routes(struct routing_graph *graph)
{
	for (uint32_t i = 0; graph->saved_routes && i < graph->switch_count; i++) {
		free(graph->saved_routes[i].table);
		free(graph->saved_routes[i].neighbors);
		free(graph->saved_routes[i].neighbor_ports);
	}
	free(graph->saved_routes);
	graph->saved_routes = NULL;
}

void routing_graph_release(struct routing_graph *graph)
{
	routing_graph_drop_saved_routes(graph);
	for (uint32_t i = 0; graph->switches && i < graph->switch_count; i++) {
		free(graph->switches[i].neighbors);
		free(graph->switches[i].neighbor_ports);
		free(graph->switches[i].sl_to_vl);
		free(graph->switches[i].load);
		free(graph->switches[i].table);
		free(graph->switches[i].moved_blocks);
	}
	free(graph->switches);
	free(graph->destinations);
	free(graph->service_levels);
	free(graph->ranks);
	*graph = (struct routing_graph){0};
}

void routing_graph_link(struct routing_graph *graph, uint32_t a, uint8_t a_port, uint32_t b,
			uint8_t b_port)
{
	assert(a_port <= graph->switches[a].port_count && b_port <= graph->switches[b].port_count);
	graph->switches[a].neighbors[a_port] = b;
	graph->switches[a].neighbor_ports[a_port] = b_port;
	graph->switches[b].neighbors[b_port] = a;
	graph->switches[b].neighbor_ports[b_port] = a_port;
}

int routing_graph_use_service_levels(struct routing_graph *graph)
{
	size_t pair_count = (size_t)graph->switch_count * (graph->lid_max + 1u);

	if (!graph->service_levels)
		graph->service_levels = calloc(pair_count + 1, 1);
	return graph->service_levels ? 0 : -ENOMEM;
}

int routing_graph_use_lanes(struct routing_graph *graph, uint32_t switch_index)
{
	struct routing_switch *node = &graph->switches[switch_index];
	size_t pair_count = (size_t)(node->port_count + 1) * (node->port_count + 1);

	if (node->sl_to_vl)
		return 0;
	node->sl_to_vl = malloc(pair_count * ROUTING_SL_COUNT);
	if (!node->sl_to_vl)
		return -ENOMEM;
	for (size_t i = 0; i < pair_count * ROUTING_SL_COUNT; i++)
		node->sl_to_vl[i] = (uint8_t)(i % ROUTING_SL_COUNT);
	return 0;
}

void routing_graph_drop_lanes(struct routing_graph *graph)
{
	free(graph->service_levels);
	graph->service_levels = NULL;
	graph->policy_sl_bits = 0;
	for (uint32_t i = 0; i < graph->switch_count; i++) {
		free(graph->switches[i].sl_to_vl);
		graph->switches[i].sl_to_vl = NULL;
	}
}

enum mark { UNVISITED, ON_PATH, ARRIVES, UNROUTED };

/* The switch to which this switch sends the LID. ROUTING_NO_SWITCH: the path ends here, at the
 * destination or nowhere. */
static uint32_t next_switch(const struct routing_graph *graph, uint32_t index,
			    const struct routing_destination *destination, enum mark *ret_end)
{
	const struct routing_switch *node = &graph->switches[index];
	uint8_t port = node->table[destination->lid];

	if (index == destination->switch_index) {
		*ret_end = port == destination->port_number ? ARRIVES : UNROUTED;
		return ROUTING_NO_SWITCH;
	}
	*ret_end = UNROUTED;
	return port == 0 || port > node->port_count ? ROUTING_NO_SWITCH : node->neighbors[port];
}

/* Walks from one switch to one whose result is known, and marks all on the path with that result.
 * The path contains each switch at most once. */
static enum mark follow(const struct routing_graph *graph,
			const struct routing_destination *destination, uint32_t start,
			uint8_t *marks, uint32_t *path)
{
	uint32_t length = 0;
	uint32_t index = start;
	enum mark end = UNROUTED;

	while (index != ROUTING_NO_SWITCH && marks[index] == UNVISITED) {
		marks[index] = ON_PATH;
		path[length++] = index;
		index = next_switch(graph, index, destination, &end);
	}
	if (index != ROUTING_NO_SWITCH)
		end = (enum mark)marks[index];
	for (uint32_t i = 0; i < length; i++)
		marks[path[i]] = (uint8_t)(end == ON_PATH ? UNROUTED : end);
	return end;
}

static void check_destination(const struct routing_graph *graph,
			      const struct routing_destination *destination, uint8_t *marks,
			      uint32_t *path, struct routing_verdict *verdict)
{
	memset(marks, UNVISITED, graph->switch_count);
	for (uint32_t index = 0; index < graph->switch_count; index++) {
		enum mark end = marks[index] == UNVISITED
					? follow(graph, destination, index, marks, path)
					: (enum mark)marks[index];
		bool has_entry = graph->switches[index].table[destination->lid] != ROUTING_NO_PORT;

		if (end == ARRIVES)
			continue;
		verdict->unreachable_count++;
		if (verdict->fault != ROUTING_SOUND || (end == UNROUTED && !has_entry))
			continue;
		verdict->fault = end == ON_PATH ? ROUTING_LOOP : ROUTING_DEAD_END;
		verdict->switch_index = index;
		verdict->lid = destination->lid;
	}
}

int routing_check(const struct routing_graph *graph, struct routing_verdict *ret_verdict)
{
	struct routing_verdict verdict = {0};
	uint8_t *marks = malloc(graph->switch_count + 1u);
	uint32_t *path = malloc((graph->switch_count + 1u) * sizeof(*path));
	int error = marks && path ? 0 : -ENOMEM;

	for (uint32_t i = 0; !error && i < graph->destination_count; i++)
		check_destination(graph, &graph->destinations[i], marks, path, &verdict);
	free(marks);
	free(path);
	if (!error)
		*ret_verdict = verdict;
	return error;
}
