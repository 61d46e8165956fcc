/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torus-2QoS, after OpenSM's engine of this name and its manual page torus-2QoS(8) (management
 * 3.8).
 *
 * Packets correct one dimension after the other, in the shorter direction of each ring. The SL has
 * a bit for each dimension in which the path passes the dateline, the link from the last switch of
 * a ring to the first. The VL on links of that dimension is that bit, so neither VL has a cycle.
 *
 * If a link of a ring is missing, packets take the long direction. The ring is a line then, which
 * has no cycle on any VL. The SLs are those of the whole torus and do not change with failures.
 *
 * If the switch where a packet would turn is missing, the packet turns one switch earlier and
 * passes the missing one in the next dimension. It then turns back into an earlier dimension, which
 * dimension-order routing never does. The first hop after such a turn uses separate VLs (VL bit 1),
 * so that no cycle around the missing switch closes.
 *
 * OpenSM reads the sizes of the torus from a file; here they come from the cabling. The result is
 * checked for lost connections and credit loops before it is used, so failures that the rules do
 * not cover are refused.
 */
#include "mgmt/routing/torus_2qos.h"

#include <errno.h>
#include <stdlib.h>
#include "mgmt/routing/credit_loops.h"
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/port_balance.h"
#include "mgmt/routing/torus_coordinates.h"

enum {
	RING_LANES = 2,
	TURN_LANES = 4,
	QOS_LANES = 8,
	DATELINE_BIT = 0,
	TURN_BIT = 1,
	QOS_BIT = 2,
	QOS_SL_BIT = 3,
};

/* How far the links lead from a switch along one dimension without a gap. */
struct extent {
	uint32_t plus[TORUS_DIMENSIONS_MAX], minus[TORUS_DIMENSIONS_MAX];
};

struct torus_2qos {
	struct routing_graph *graph;
	struct torus torus;
	struct destination_groups groups;
	struct extent *extents; /* [switch] */
	unsigned lane_count;
};

static uint32_t neighbor(const struct routing_graph *graph, uint32_t index, uint8_t port)
{
	const struct routing_switch *node = &graph->switches[index];

	return port <= node->port_count ? node->neighbors[port] : ROUTING_NO_SWITCH;
}

static uint32_t steps_along(const struct torus_2qos *engine, uint32_t index, uint8_t port,
			    uint32_t steps_max)
{
	uint32_t steps = 0;

	while (steps < steps_max) {
		index = neighbor(engine->graph, index, port);
		if (index == ROUTING_NO_SWITCH)
			break;
		steps++;
	}
	return steps;
}

static void measure(struct torus_2qos *engine)
{
	for (uint32_t i = 0; i < engine->graph->switch_count; i++) {
		for (unsigned d = 0; d < engine->torus.dimension_count; d++) {
			const struct dimension *dimension = &engine->torus.dimensions[d];

			engine->extents[i].plus[d] =
				steps_along(engine, i, dimension->plus_port, dimension->size - 1);
			engine->extents[i].minus[d] =
				steps_along(engine, i, dimension->minus_port, dimension->size - 1);
		}
	}
}

/* The port towards another switch of the same line. 0: both directions have a gap. */
static uint8_t port_along(const struct torus_2qos *engine, uint32_t index, unsigned d, uint32_t to)
{
	const struct dimension *dimension = &engine->torus.dimensions[d];
	const struct extent *extent = &engine->extents[index];
	uint32_t from = engine->torus.coordinates[index][d];
	uint32_t forward = (to + dimension->size - from) % dimension->size;
	bool can_plus = extent->plus[d] >= forward;
	bool can_minus = extent->minus[d] >= dimension->size - forward;

	if (can_plus && (dimension_goes_plus(dimension, from, to) || !can_minus))
		return dimension->plus_port;
	return can_minus ? dimension->minus_port : 0;
}

/* The port towards the place of a missing switch, up to the switch before it. 0: this is that
 * switch, or there is no path. */
static uint8_t port_before(const struct torus_2qos *engine, uint32_t index, unsigned d, uint32_t to)
{
	const struct dimension *dimension = &engine->torus.dimensions[d];
	uint32_t from = engine->torus.coordinates[index][d];
	uint32_t forward = (to + dimension->size - from) % dimension->size;
	uint32_t backward = dimension->size - forward;
	bool can_plus = engine->extents[index].plus[d] >= forward - 1;
	bool can_minus = engine->extents[index].minus[d] >= backward - 1;

	if ((forward == 1 && can_plus) || (backward == 1 && can_minus))
		return 0;
	if (can_plus && (dimension_goes_plus(dimension, from, to) || !can_minus))
		return dimension->plus_port;
	return can_minus ? dimension->minus_port : 0;
}

/* ROUTING_NO_PORT: no path. */
static uint8_t port_towards(const struct torus_2qos *engine, uint32_t index, uint32_t target)
{
	const struct torus *torus = &engine->torus;

	for (unsigned d = 0; d < torus->dimension_count; d++) {
		uint32_t to = torus->coordinates[target][d];
		uint8_t port;

		if (torus->coordinates[index][d] == to)
			continue;
		/* The packet would turn into the next dimension there. */
		if (torus_switch_at(torus, index, d, to) != ROUTING_NO_SWITCH)
			port = port_along(engine, index, d, to);
		else
			port = port_before(engine, index, d, to);
		if (port)
			return port;
	}
	return ROUTING_NO_PORT;
}

/* As on the whole torus. */
static uint8_t service_level(const struct torus_2qos *engine, uint32_t from, uint32_t to)
{
	const struct torus *torus = &engine->torus;
	uint8_t level = 0;

	for (unsigned d = 0; d < torus->dimension_count; d++)
		if (dimension_passes_last_link(&torus->dimensions[d], torus->coordinates[from][d],
					       torus->coordinates[to][d]))
			level |= (uint8_t)(1u << d);
	return level;
}

static void route_to(struct torus_2qos *engine, uint32_t target)
{
	struct routing_graph *graph = engine->graph;
	const struct destination_groups *groups = &engine->groups;

	for (uint32_t index = 0; index < graph->switch_count; index++) {
		uint8_t port = index == target ? 0 : port_towards(engine, index, target);
		uint8_t level = service_level(engine, index, target);

		for (uint32_t i = groups->first_of[target]; i < groups->first_of[target + 1]; i++) {
			const struct routing_destination *destination =
				&graph->destinations[groups->destinations[i]];

			graph->switches[index].table[destination->lid] =
				index == target ? destination->port_number : port;
			graph->service_levels[(size_t)index * (graph->lid_max + 1u) +
					      destination->lid] = level;
		}
	}
}

static uint8_t lane(const struct torus_2qos *engine, unsigned input, unsigned output, unsigned sl)
{
	unsigned none = engine->torus.dimension_count;
	unsigned from = torus_dimension_of(&engine->torus, input);
	unsigned to = torus_dimension_of(&engine->torus, output);
	bool is_high = engine->lane_count >= QOS_LANES && sl >> QOS_SL_BIT & 1;
	unsigned lane = 0;

	/* An adapter needs at most two VLs, one for each QoS level. */
	if (to == none)
		return is_high;
	if (engine->torus.dimensions[to].is_ring)
		lane |= (sl >> to & 1) << DATELINE_BIT;
	if (from != none && from > to && engine->lane_count >= TURN_LANES)
		lane |= 1u << TURN_BIT;
	return (uint8_t)(lane | (unsigned)is_high << QOS_BIT);
}

static int set_lanes(struct torus_2qos *engine, uint32_t index)
{
	int error = routing_graph_use_lanes(engine->graph, index);
	struct routing_switch *node = &engine->graph->switches[index];
	unsigned side = node->port_count + 1;

	for (unsigned pair = 0; !error && pair < side * side; pair++)
		for (unsigned sl = 0; sl < ROUTING_SL_COUNT; sl++)
			node->sl_to_vl[pair * ROUTING_SL_COUNT + sl] =
				lane(engine, pair / side, pair % side, sl);
	return error;
}

/* Finds failures that the rules of this engine do not cover. */
static int check(const struct routing_graph *graph)
{
	struct routing_verdict verdict;
	struct credit_loops loops;
	int error = routing_check(graph, &verdict);

	if (error)
		return error;
	if (verdict.fault != ROUTING_SOUND || verdict.unreachable_count)
		return -EOPNOTSUPP;
	error = credit_loops_check(graph, &loops);
	return !error && loops.has_loop ? -EOPNOTSUPP : error;
}

static int route_all(struct torus_2qos *engine)
{
	struct routing_graph *graph = engine->graph;
	int error;

	for (unsigned d = 0; d < engine->torus.dimension_count; d++)
		if (engine->torus.dimensions[d].is_ring && engine->lane_count < RING_LANES)
			return -EOPNOTSUPP;
	error = routing_graph_use_service_levels(graph);
	for (uint32_t i = 0; !error && i < graph->switch_count; i++)
		error = set_lanes(engine, i);
	if (error)
		return error;
	measure(engine);
	for (uint32_t i = 0; i < graph->switch_count; i++)
		route_to(engine, i);
	if (engine->lane_count >= QOS_LANES)
		graph->policy_sl_bits = 1u << QOS_SL_BIT;
	port_balance_recount(graph);
	return check(graph);
}

int torus_2qos_route(struct routing_graph *graph, const struct routing_hints *hints)
{
	struct torus_2qos engine = {.graph = graph, .lane_count = hints->lane_count};
	int error = torus_find(&engine.torus, graph);

	if (error)
		return error;
	engine.extents = calloc(graph->switch_count + 1u, sizeof(*engine.extents));
	error = engine.extents ? destination_groups_init(&engine.groups, graph) : -ENOMEM;
	if (!error) {
		error = route_all(&engine);
		destination_groups_release(&engine.groups);
	}
	free(engine.extents);
	torus_release(&engine.torus);
	return error;
}
