/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlock-free SSSP, after Domke, Hoefler and Nagel, "Deadlock-Free Oblivious Routing for
 * Arbitrary Topologies" (IPDPS 2011), as OpenSM's engine of this name (management 3.8, 3.9).
 *
 * All paths of sssp start on VL 0. While the channel dependency graph of a VL has a cycle, the
 * engine chooses the edge of that cycle which the fewest paths use, and moves those paths to the
 * next VL. Then it treats the next VL the same way. LASH places one path after the other and never
 * moves one. This engine sees all paths of a VL, so it breaks each cycle where that moves the
 * fewest paths.
 *
 * The paper moves single paths. Here all paths between two switches move together, in both
 * directions, because a connection uses one SL in both directions (PathRecord, Reversible).
 */
#include "mgmt/routing/dfsssp.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/sssp.h"

enum { LANES_MAX = 15 };

/* A channel is an output port of a switch on the present VL. */
enum channel_color { NOT_VISITED, ON_STACK, IN_NO_CYCLE };

struct visit {
	uint32_t channel;
	unsigned next_output; /* at the switch where it arrives */
};

struct dfsssp {
	struct routing_graph *graph;
	struct destination_groups groups;
	unsigned lane_count;
	uint32_t *terminals; /* switches with adapters */
	uint32_t terminal_count;
	uint32_t *terminal_of; /* [switch]: its index in terminals */
	uint8_t *lanes;	       /* [terminal x terminal_count + terminal] */
	/* The dependency graph of one VL. */
	uint32_t *first_channel; /* [switch]: the channel of its port 0 */
	uint32_t *owner;	 /* [channel]: the switch that it leaves */
	uint32_t **uses; /* [switch][input port x ports + output port]: paths with this turn */
	uint8_t *colors;
	struct visit *stack;
	uint32_t stack_count;
	bool has_moved; /* some pair is on the next VL */
};

/* An edge of the dependency graph: into a switch by one port, out of it by another. */
struct turn {
	uint32_t switch_index;
	unsigned input, output;
};

static uint32_t *uses_of(const struct dfsssp *dfsssp, const struct turn *turn)
{
	unsigned port_count = dfsssp->graph->switches[turn->switch_index].port_count;

	return &dfsssp->uses[turn->switch_index][turn->input * (port_count + 1) + turn->output];
}

/* Counts the turns of the paths from one switch to the adapters of another. */
static void count_paths(struct dfsssp *dfsssp, uint32_t source, uint32_t target, uint32_t change)
{
	const struct routing_graph *graph = dfsssp->graph;
	const struct destination_groups *groups = &dfsssp->groups;

	for (uint32_t i = groups->first_of[target]; i < groups->first_of[target + 1]; i++) {
		const struct routing_destination *destination =
			&graph->destinations[groups->destinations[i]];
		unsigned input = 0;

		if (!destination->port_number)
			continue;
		for (uint32_t index = source; index != target;) {
			const struct routing_switch *node = &graph->switches[index];
			uint8_t port = node->table[destination->lid];

			if (port > node->port_count)
				break;
			if (input)
				*uses_of(dfsssp, &(struct turn){index, input, port}) += change;
			input = node->neighbor_ports[port];
			index = node->neighbors[port];
		}
	}
}

static void count_pair(struct dfsssp *dfsssp, uint32_t a, uint32_t b, uint32_t change)
{
	count_paths(dfsssp, a, b, change);
	count_paths(dfsssp, b, a, change);
}

static uint8_t *lane_of(const struct dfsssp *dfsssp, uint32_t a, uint32_t b)
{
	uint32_t first = dfsssp->terminal_of[a], second = dfsssp->terminal_of[b];

	return &dfsssp->lanes[first < second ? (size_t)first * dfsssp->terminal_count + second
					     : (size_t)second * dfsssp->terminal_count + first];
}

static void build_lane(struct dfsssp *dfsssp, uint8_t lane)
{
	for (uint32_t i = 0; i < dfsssp->graph->switch_count; i++) {
		size_t side = dfsssp->graph->switches[i].port_count + 1u;

		memset(dfsssp->uses[i], 0, side * side * sizeof(uint32_t));
	}
	for (uint32_t i = 0; i < dfsssp->terminal_count; i++)
		for (uint32_t j = i + 1; j < dfsssp->terminal_count; j++)
			if (dfsssp->lanes[(size_t)i * dfsssp->terminal_count + j] == lane)
				count_pair(dfsssp, dfsssp->terminals[i], dfsssp->terminals[j], 1);
}

/* Whether the path to the LID from this switch goes over this output port of another. */
static bool passes(const struct dfsssp *dfsssp, uint32_t index, uint32_t target, uint16_t lid,
		   uint32_t switch_index)
{
	const struct routing_graph *graph = dfsssp->graph;

	while (index != switch_index && index != target) {
		const struct routing_switch *node = &graph->switches[index];
		uint8_t port = node->table[lid];

		if (port > node->port_count)
			return false;
		index = node->neighbors[port];
	}
	return index == switch_index;
}

/* Moves every pair that has a path with this turn to the next VL. */
static void move_pairs(struct dfsssp *dfsssp, const struct turn *turn, uint8_t lane)
{
	const struct routing_graph *graph = dfsssp->graph;
	const struct routing_switch *node = &graph->switches[turn->switch_index];
	uint32_t before = node->neighbors[turn->input];
	uint8_t before_port = node->neighbor_ports[turn->input];

	for (uint32_t i = 0; i < graph->destination_count && *uses_of(dfsssp, turn); i++) {
		const struct routing_destination *destination = &graph->destinations[i];
		uint32_t target = destination->switch_index;

		if (!destination->port_number || target == turn->switch_index || target == before ||
		    node->table[destination->lid] != turn->output ||
		    graph->switches[before].table[destination->lid] != before_port)
			continue;
		for (uint32_t j = 0; j < dfsssp->terminal_count; j++) {
			uint32_t source = dfsssp->terminals[j];

			if (source == target || *lane_of(dfsssp, source, target) != lane ||
			    !passes(dfsssp, source, target, destination->lid, before))
				continue;
			count_pair(dfsssp, source, target, UINT32_MAX); /* minus 1 */
			*lane_of(dfsssp, source, target) = (uint8_t)(lane + 1);
			dfsssp->has_moved = true;
		}
	}
	assert(*uses_of(dfsssp, turn) == 0);
}

static unsigned port_of(const struct dfsssp *dfsssp, uint32_t channel)
{
	return channel - dfsssp->first_channel[dfsssp->owner[channel]];
}

/* The edge from one channel to the next one. */
static struct turn turn_between(const struct dfsssp *dfsssp, uint32_t channel, uint32_t next)
{
	const struct routing_switch *from = &dfsssp->graph->switches[dfsssp->owner[channel]];

	return (struct turn){.switch_index = dfsssp->owner[next],
			     .input = from->neighbor_ports[port_of(dfsssp, channel)],
			     .output = port_of(dfsssp, next)};
}

/* The part of the stack from the channel that was found again is a cycle. */
static struct turn weakest_turn(const struct dfsssp *dfsssp, uint32_t met_again)
{
	uint32_t top = dfsssp->stack_count - 1;
	struct turn weakest = turn_between(dfsssp, dfsssp->stack[top].channel, met_again);

	for (uint32_t i = top; dfsssp->stack[i].channel != met_again; i--) {
		struct turn turn = turn_between(dfsssp, dfsssp->stack[i - 1].channel,
						dfsssp->stack[i].channel);

		if (*uses_of(dfsssp, &turn) < *uses_of(dfsssp, &weakest))
			weakest = turn;
	}
	return weakest;
}

static void push(struct dfsssp *dfsssp, uint32_t channel)
{
	dfsssp->colors[channel] = ON_STACK;
	dfsssp->stack[dfsssp->stack_count++] = (struct visit){.channel = channel};
}

/* The next channel that the channel on top of the stack waits for. UINT32_MAX: no more. */
static uint32_t next_channel(const struct dfsssp *dfsssp, struct visit *visit)
{
	const struct routing_switch *from = &dfsssp->graph->switches[dfsssp->owner[visit->channel]];
	unsigned port = port_of(dfsssp, visit->channel);
	uint32_t index = from->neighbors[port];

	if (index == ROUTING_NO_SWITCH)
		return UINT32_MAX;
	while (visit->next_output <= dfsssp->graph->switches[index].port_count) {
		struct turn turn = {index, from->neighbor_ports[port], visit->next_output++};

		if (*uses_of(dfsssp, &turn))
			return dfsssp->first_channel[index] + turn.output;
	}
	return UINT32_MAX;
}

/* Depth-first search from one channel. true: a cycle, whose weakest turn is in ret_turn. Channels
 * without a cycle stay so, because edges are only removed. */
static bool find_cycle(struct dfsssp *dfsssp, uint32_t start, struct turn *ret_turn)
{
	dfsssp->stack_count = 0;
	push(dfsssp, start);
	while (dfsssp->stack_count > 0) {
		struct visit *visit = &dfsssp->stack[dfsssp->stack_count - 1];
		uint32_t next = next_channel(dfsssp, visit);

		if (next == UINT32_MAX) {
			dfsssp->colors[visit->channel] = IN_NO_CYCLE;
			dfsssp->stack_count--;
		} else if (dfsssp->colors[next] == NOT_VISITED) {
			push(dfsssp, next);
		} else if (dfsssp->colors[next] == ON_STACK) {
			*ret_turn = weakest_turn(dfsssp, next);
			for (uint32_t i = 0; i < dfsssp->stack_count; i++)
				dfsssp->colors[dfsssp->stack[i].channel] = NOT_VISITED;
			return true;
		}
	}
	return false;
}

/* -EOPNOTSUPP: there is no next VL for the paths that have to move. */
static int break_cycles(struct dfsssp *dfsssp, uint8_t lane)
{
	uint32_t channel_count = dfsssp->first_channel[dfsssp->graph->switch_count];
	struct turn turn;

	build_lane(dfsssp, lane);
	dfsssp->has_moved = false;
	memset(dfsssp->colors, NOT_VISITED, channel_count);
	for (uint32_t channel = 0; channel < channel_count; channel++) {
		/* Each cycle that is found removes an edge for good. */
		while (dfsssp->colors[channel] == NOT_VISITED &&
		       find_cycle(dfsssp, channel, &turn)) {
			if (lane + 1u == dfsssp->lane_count)
				return -EOPNOTSUPP;
			move_pairs(dfsssp, &turn, lane);
		}
	}
	return 0;
}

static int set_service_levels(struct dfsssp *dfsssp)
{
	struct routing_graph *graph = dfsssp->graph;
	int error = routing_graph_use_service_levels(graph);

	for (uint32_t i = 0; !error && i < dfsssp->terminal_count; i++) {
		uint32_t source = dfsssp->terminals[i];

		for (uint32_t j = 0; j < graph->destination_count; j++) {
			uint32_t target = graph->destinations[j].switch_index;

			if (target != source && dfsssp->groups.has_adapters[target])
				graph->service_levels[(size_t)source * (graph->lid_max + 1u) +
						      graph->destinations[j].lid] =
					*lane_of(dfsssp, source, target);
		}
	}
	return error;
}

static void dfsssp_release(struct dfsssp *dfsssp)
{
	destination_groups_release(&dfsssp->groups);
	for (uint32_t i = 0; dfsssp->uses && i < dfsssp->graph->switch_count; i++)
		free(dfsssp->uses[i]);
	free(dfsssp->uses);
	free(dfsssp->terminals);
	free(dfsssp->terminal_of);
	free(dfsssp->lanes);
	free(dfsssp->first_channel);
	free(dfsssp->owner);
	free(dfsssp->colors);
	free(dfsssp->stack);
}

static int make_channels(struct dfsssp *dfsssp)
{
	const struct routing_graph *graph = dfsssp->graph;
	size_t channel_count = 0;

	for (uint32_t i = 0; i < graph->switch_count; i++) {
		size_t side = graph->switches[i].port_count + 1u;

		dfsssp->first_channel[i] = (uint32_t)channel_count;
		channel_count += side;
		dfsssp->uses[i] = malloc(side * side * sizeof(uint32_t));
		if (!dfsssp->uses[i])
			return -ENOMEM;
	}
	dfsssp->first_channel[graph->switch_count] = (uint32_t)channel_count;
	dfsssp->owner = malloc((channel_count + 1) * sizeof(uint32_t));
	dfsssp->colors = malloc(channel_count + 1);
	dfsssp->stack = malloc((channel_count + 1) * sizeof(*dfsssp->stack));
	if (!dfsssp->owner || !dfsssp->colors || !dfsssp->stack)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->switch_count; i++)
		for (uint32_t channel = dfsssp->first_channel[i];
		     channel < dfsssp->first_channel[i + 1]; channel++)
			dfsssp->owner[channel] = i;
	return 0;
}

static int dfsssp_init(struct dfsssp *dfsssp, struct routing_graph *graph, unsigned lane_count)
{
	size_t room = graph->switch_count + 1u;
	int error;

	*dfsssp = (struct dfsssp){
		.graph = graph,
		.lane_count = lane_count,
		.terminals = malloc(room * sizeof(uint32_t)),
		.terminal_of = calloc(room, sizeof(uint32_t)),
		.first_channel = calloc(room, sizeof(uint32_t)),
		.uses = calloc(room, sizeof(uint32_t *)),
	};
	if (!dfsssp->terminals || !dfsssp->terminal_of || !dfsssp->first_channel || !dfsssp->uses)
		return -ENOMEM;
	error = destination_groups_init(&dfsssp->groups, graph);
	for (uint32_t i = 0; !error && i < graph->switch_count; i++) {
		if (!dfsssp->groups.has_adapters[i])
			continue;
		dfsssp->terminal_of[i] = dfsssp->terminal_count;
		dfsssp->terminals[dfsssp->terminal_count++] = i;
	}
	dfsssp->lanes = calloc((size_t)dfsssp->terminal_count * dfsssp->terminal_count + 1, 1);
	if (!dfsssp->lanes)
		return -ENOMEM;
	return error ? error : make_channels(dfsssp);
}

int dfsssp_route(struct routing_graph *graph, const struct routing_hints *hints)
{
	unsigned lane_count = hints->lane_count ? hints->lane_count : 1;
	struct dfsssp dfsssp;
	int error = sssp_route(graph, hints);

	if (error)
		return error;
	error = dfsssp_init(&dfsssp, graph, lane_count < LANES_MAX ? lane_count : LANES_MAX);
	for (uint8_t lane = 0; !error && lane < dfsssp.lane_count; lane++) {
		error = break_cycles(&dfsssp, lane);
		if (!dfsssp.has_moved)
			break;
	}
	if (!error)
		error = set_service_levels(&dfsssp);
	dfsssp_release(&dfsssp);
	return error;
}
