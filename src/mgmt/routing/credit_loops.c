/* SPDX-License-Identifier: Apache-2.0 */
/* Credit loops of a graph's tables: enters the channels of every path into a dependency graph,
 * which reports the first cycle (management 3.8, 3.9). */
#include "mgmt/routing/credit_loops.h"

#include <errno.h>
#include <stdlib.h>
#include "mgmt/routing/channels.h"
#include "mgmt/routing/destination_groups.h"

struct check {
	const struct routing_graph *graph;
	struct destination_groups groups;
	struct channel_graph channels;
	uint32_t *stamps; /* [channel]: the last (LID, SL) that was followed through it */
	uint32_t stamp;
	struct credit_loops loops;
};

static uint8_t lane_max(const struct routing_graph *graph)
{
	uint8_t max = 0;

	for (uint32_t i = 0; i < graph->switch_count; i++) {
		const struct routing_switch *node = &graph->switches[i];
		size_t count =
			(size_t)(node->port_count + 1) * (node->port_count + 1) * ROUTING_SL_COUNT;

		for (size_t entry = 0; node->sl_to_vl && entry < count; entry++)
			if (node->sl_to_vl[entry] > max && node->sl_to_vl[entry] < 15)
				max = node->sl_to_vl[entry];
	}
	if (!graph->service_levels)
		return max;
	for (size_t i = 0; i < (size_t)graph->switch_count * (graph->lid_max + 1u); i++)
		if (graph->service_levels[i] > max)
			max = graph->service_levels[i];
	return max;
}

/* Follows a packet from a switch until it meets the path of an earlier one with this LID and SL. */
static void follow(struct check *check, const struct routing_destination *destination,
		   uint32_t index, uint8_t sl)
{
	const struct routing_graph *graph = check->graph;
	uint32_t previous = UINT32_MAX;
	unsigned input_port = 0;

	while (index != destination->switch_index) {
		const struct routing_switch *node = &graph->switches[index];
		uint8_t port = node->table[destination->lid];

		if (port == 0 || port > node->port_count ||
		    node->neighbors[port] == ROUTING_NO_SWITCH)
			return;

		uint8_t lane = routing_lane(node, input_port, port, sl);
		uint32_t channel = channel_of(&check->channels, index, port, lane);

		if (lane + 1u > check->loops.lane_count)
			check->loops.lane_count = lane + 1u;
		if (previous != UINT32_MAX && !check->loops.has_loop &&
		    channel_graph_add(&check->channels, previous, channel) ==
			    CHANNEL_EDGE_CLOSES_CYCLE) {
			check->loops.has_loop = true;
			check->loops.switch_index = index;
			check->loops.lid = destination->lid;
		}
		if (check->stamps[channel] == check->stamp)
			return;
		check->stamps[channel] = check->stamp;
		previous = channel;
		input_port = node->neighbor_ports[port];
		index = node->neighbors[port];
	}
}

static void check_destination(struct check *check, const struct routing_destination *destination)
{
	const struct routing_graph *graph = check->graph;
	uint32_t first_stamp = check->stamp;

	for (uint32_t source = 0; source < graph->switch_count; source++) {
		if (!check->groups.has_adapters[source])
			continue;

		uint8_t sl = routing_graph_service_level(graph, source, destination->lid);

		check->stamp = first_stamp + sl;
		follow(check, destination, source, sl);
	}
	check->stamp = first_stamp + ROUTING_SL_COUNT;
}

int credit_loops_check(const struct routing_graph *graph, struct credit_loops *ret_loops)
{
	struct check check = {.graph = graph, .stamp = 1};
	int error = destination_groups_init(&check.groups, graph);

	if (error)
		return error;
	error = channel_graph_init(&check.channels, graph, lane_max(graph) + 1u);
	if (!error) {
		check.stamps = calloc(check.channels.channel_count + 1u, sizeof(uint32_t));
		error = check.stamps ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; !error && i < graph->destination_count; i++)
		if (graph->destinations[i].port_number)
			check_destination(&check, &graph->destinations[i]);
	free(check.stamps);
	if (check.channels.graph)
		channel_graph_release(&check.channels);
	destination_groups_release(&check.groups);
	if (!error)
		*ret_loops = check.loops;
	return error;
}
