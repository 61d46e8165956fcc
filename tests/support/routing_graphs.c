/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs for tests of routing, and the checks of every result. */
#include "support/routing_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/routing/credit_loops.h"
#include "mgmt/routing/destination_groups.h"

static void make(struct routing_graph *graph, uint32_t switch_count, unsigned port_count,
		 uint32_t adapter_count)
{
	uint32_t destination_count = switch_count + adapter_count;

	assert_int_equal(routing_graph_init(graph, switch_count, destination_count,
					    (uint16_t)destination_count),
			 0);
	for (uint32_t i = 0; i < switch_count; i++) {
		assert_int_equal(routing_graph_set_ports(graph, i, port_count), 0);
		graph->switches[i].guid = 0x1000 + i;
		graph->destinations[i] = (struct routing_destination){
			.lid = (uint16_t)(i + 1),
			.switch_index = i,
			.port_guid = 0x1000 + i,
			.node_guid = 0x1000 + i,
		};
	}
	graph->destination_count = switch_count;
}

static void attach(struct routing_graph *graph, uint32_t switch_index, uint8_t port_number)
{
	uint32_t index = graph->destination_count++;

	graph->destinations[index] = (struct routing_destination){
		.lid = (uint16_t)(index + 1),
		.switch_index = switch_index,
		.port_number = port_number,
		.port_guid = 0x900000 + index,
		.node_guid = 0x800000 + index,
	};
}

void make_star_of_switches(struct routing_graph *ret_graph, uint32_t leaf_count)
{
	make(ret_graph, leaf_count + 1, leaf_count + 1, leaf_count);
	for (uint32_t leaf = 1; leaf <= leaf_count; leaf++) {
		routing_graph_link(ret_graph, 0, (uint8_t)leaf, leaf, 1);
		attach(ret_graph, leaf, 2);
	}
}

void make_ring(struct routing_graph *ret_graph, uint32_t switch_count, unsigned hosts_each)
{
	make(ret_graph, switch_count, 2 + hosts_each, switch_count * hosts_each);
	for (uint32_t i = 0; i < switch_count; i++) {
		routing_graph_link(ret_graph, i, 1, (i + 1) % switch_count, 2);
		for (unsigned host = 0; host < hosts_each; host++)
			attach(ret_graph, i, (uint8_t)(3 + host));
	}
}

void make_grid(struct routing_graph *ret_graph, unsigned axis_count, const uint32_t *sizes,
	       bool wraps)
{
	uint32_t switch_count = 1;

	for (unsigned axis = 0; axis < axis_count; axis++)
		switch_count *= sizes[axis];
	make(ret_graph, switch_count, 2 * axis_count + 1, switch_count);
	for (uint32_t i = 0; i < switch_count; i++) {
		uint32_t stride = 1;

		for (unsigned axis = 0; axis < axis_count; stride *= sizes[axis], axis++) {
			uint32_t coordinate = i / stride % sizes[axis];
			uint32_t next =
				coordinate + 1 < sizes[axis] ? i + stride : i - coordinate * stride;

			if (coordinate + 1 < sizes[axis] || wraps)
				routing_graph_link(ret_graph, i, (uint8_t)(2 * axis + 1), next,
						   (uint8_t)(2 * axis + 2));
		}
		attach(ret_graph, i, (uint8_t)(2 * axis_count + 1));
	}
}

void make_fat_tree(struct routing_graph *ret_graph, unsigned k)
{
	unsigned half = k / 2;
	uint32_t leaves = k * half, middles = k * half, tops = half * half;

	make(ret_graph, leaves + middles + tops, k, leaves * half);
	for (uint32_t pod = 0; pod < k; pod++) {
		for (unsigned i = 0; i < half; i++) {
			uint32_t middle = leaves + pod * half + i;

			for (unsigned j = 0; j < half; j++) {
				routing_graph_link(ret_graph, pod * half + j,
						   (uint8_t)(half + 1 + i), middle,
						   (uint8_t)(j + 1));
				routing_graph_link(ret_graph, middle, (uint8_t)(half + 1 + j),
						   leaves + middles + i * half + j,
						   (uint8_t)(pod + 1));
			}
		}
	}
	for (uint32_t leaf = 0; leaf < leaves; leaf++)
		for (unsigned i = 0; i < half; i++)
			attach(ret_graph, leaf, (uint8_t)(i + 1));
}

static uint8_t free_port(const struct routing_graph *graph, uint32_t index)
{
	const struct routing_switch *node = &graph->switches[index];

	for (unsigned port = 1; port < node->port_count; port++)
		if (node->neighbors[port] == ROUTING_NO_SWITCH)
			return (uint8_t)port;
	return 0;
}

static void link_if_free(struct routing_graph *graph, uint32_t a, uint32_t b)
{
	uint8_t a_port = free_port(graph, a), b_port = free_port(graph, b);

	if (a != b && a_port && b_port)
		routing_graph_link(graph, a, a_port, b, b_port);
}

void make_random_graph(struct routing_graph *ret_graph, struct random *random,
		       uint32_t switch_count, uint32_t extra_links)
{
	enum { PORTS = 24 };

	make(ret_graph, switch_count, PORTS, switch_count);
	for (uint32_t i = 1; i < switch_count; i++) {
		uint32_t other = (uint32_t)random_below(random, i);

		while (!free_port(ret_graph, other))
			other = (uint32_t)random_below(random, i);
		link_if_free(ret_graph, i, other);
	}
	for (uint32_t i = 0; i < extra_links; i++)
		link_if_free(ret_graph, (uint32_t)random_below(random, switch_count),
			     (uint32_t)random_below(random, switch_count));
	for (uint32_t i = 0; i < switch_count; i++)
		if (i < 2 || random_below(random, 2))
			attach(ret_graph, i, PORTS);
}

/* Indexes after the omitted switch move down by one. */
static uint32_t index_without(uint32_t index, uint32_t without_switch)
{
	return index == without_switch || index == ROUTING_NO_SWITCH ? ROUTING_NO_SWITCH
	       : index > without_switch				     ? index - 1
								     : index;
}

static void copy_links(struct routing_graph *copy, const struct routing_graph *graph,
		       uint32_t without_switch)
{
	for (uint32_t i = 0; i < graph->switch_count; i++) {
		const struct routing_switch *node = &graph->switches[i];
		uint32_t index = index_without(i, without_switch);

		if (index == ROUTING_NO_SWITCH)
			continue;
		assert_int_equal(routing_graph_set_ports(copy, index, node->port_count), 0);
		copy->switches[index].guid = node->guid;
	}
	for (uint32_t i = 0; i < graph->switch_count; i++) {
		const struct routing_switch *node = &graph->switches[i];

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t a = index_without(i, without_switch);
			uint32_t b = index_without(node->neighbors[port], without_switch);

			if (a != ROUTING_NO_SWITCH && b != ROUTING_NO_SWITCH)
				routing_graph_link(copy, a, (uint8_t)port, b,
						   node->neighbor_ports[port]);
		}
	}
}

void make_copy(struct routing_graph *ret_graph, const struct routing_graph *graph,
	       uint32_t without_switch, unsigned lmc)
{
	uint32_t switch_count = graph->switch_count - (without_switch != ROUTING_NO_SWITCH);
	uint32_t lid_count = graph->destination_count << lmc;

	assert_int_equal(
		routing_graph_init(ret_graph, switch_count, lid_count, (uint16_t)lid_count), 0);
	copy_links(ret_graph, graph, without_switch);
	ret_graph->destination_count = 0;
	for (uint32_t i = 0; i < graph->destination_count; i++) {
		struct routing_destination destination = graph->destinations[i];

		if (destination.switch_index == without_switch)
			continue;
		destination.switch_index = index_without(destination.switch_index, without_switch);
		for (unsigned path = 0; path < (destination.port_number ? 1u << lmc : 1); path++) {
			destination.path_index = (uint8_t)path;
			destination.lid = (uint16_t)(ret_graph->destination_count + 1);
			ret_graph->destinations[ret_graph->destination_count++] = destination;
		}
	}
}

void cut_link(struct routing_graph *graph, uint32_t switch_index, unsigned port_number)
{
	struct routing_switch *node = &graph->switches[switch_index];

	graph->switches[node->neighbors[port_number]].neighbors[node->neighbor_ports[port_number]] =
		ROUTING_NO_SWITCH;
	node->neighbors[port_number] = ROUTING_NO_SWITCH;
}

bool cut_any_link(struct routing_graph *graph, struct random *random)
{
	for (unsigned tries = 0; tries < 1000; tries++) {
		uint32_t index = (uint32_t)random_below(random, graph->switch_count);
		unsigned port =
			1 + (unsigned)random_below(random, graph->switches[index].port_count);

		if (graph->switches[index].neighbors[port] == ROUTING_NO_SWITCH)
			continue;
		cut_link(graph, index, port);
		return true;
	}
	return false;
}

/* [switch]: whether it is connected to the first one. */
static bool *find_connected(const struct routing_graph *graph, uint32_t start)
{
	bool *is_connected = calloc(graph->switch_count, sizeof(bool));
	uint32_t *queue = malloc(graph->switch_count * sizeof(uint32_t));
	uint32_t count = 1;

	assert_non_null(is_connected);
	assert_non_null(queue);
	is_connected[start] = true;
	queue[0] = start;
	for (uint32_t head = 0; head < count; head++) {
		const struct routing_switch *node = &graph->switches[queue[head]];

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t next = node->neighbors[port];

			if (next == ROUTING_NO_SWITCH || is_connected[next])
				continue;
			is_connected[next] = true;
			queue[count++] = next;
		}
	}
	free(queue);
	return is_connected;
}

unsigned path_hops(const struct routing_graph *graph, uint32_t from_switch, uint16_t lid)
{
	const struct routing_destination *destination = NULL;
	uint32_t index = from_switch;
	unsigned hops = 0;

	for (uint32_t i = 0; i < graph->destination_count && !destination; i++)
		if (graph->destinations[i].lid == lid)
			destination = &graph->destinations[i];
	assert_non_null(destination);
	while (index != destination->switch_index && hops <= graph->switch_count) {
		uint8_t port = graph->switches[index].table[lid];

		if (port == 0 || port > graph->switches[index].port_count ||
		    graph->switches[index].neighbors[port] == ROUTING_NO_SWITCH)
			return UINT32_MAX;
		index = graph->switches[index].neighbors[port];
		hops++;
	}
	if (index != destination->switch_index ||
	    graph->switches[index].table[lid] != destination->port_number)
		return UINT32_MAX;
	return hops;
}

void expect_all_adapters_connected(const struct routing_graph *graph)
{
	struct destination_groups groups;

	assert_int_equal(destination_groups_init(&groups, graph), 0);
	for (uint32_t source = 0; source < graph->switch_count; source++) {
		if (!groups.has_adapters[source])
			continue;

		bool *is_connected = find_connected(graph, source);

		for (uint32_t i = 0; i < graph->destination_count; i++)
			if (is_connected[graph->destinations[i].switch_index])
				assert_int_not_equal(
					path_hops(graph, source, graph->destinations[i].lid),
					UINT32_MAX);
		free(is_connected);
	}
	destination_groups_release(&groups);
}

void expect_no_credit_loops(const struct routing_graph *graph)
{
	struct credit_loops loops;

	assert_int_equal(credit_loops_check(graph, &loops), 0);
	assert_false(loops.has_loop);
}
