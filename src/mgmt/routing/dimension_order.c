/* SPDX-License-Identifier: Apache-2.0 */
/* Dimension-order routing for meshes, tori and hypercubes (management 3.8, 3.9). */
#include "mgmt/routing/dimension_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/dimension.h"
#include "mgmt/routing/opposite_ports.h"

enum { DIMENSIONS_MAX = 4, NO_DIMENSION = 255 }; /* an SL has four bits */

struct grid {
	struct routing_graph *graph;
	struct destination_groups groups;
	unsigned dimension_count;
	struct dimension dimensions[DIMENSIONS_MAX];
	uint32_t (*coordinates)[DIMENSIONS_MAX]; /* [switch] */
	uint32_t *queue;
	bool *is_placed;
};

static int find_dimensions(struct grid *grid)
{
	uint8_t opposite[OPPOSITE_PORTS_COUNT];
	int error = opposite_ports_find(grid->graph, opposite);

	if (error)
		return error;
	for (unsigned port = 1; port < ROUTING_NO_PORT; port++) {
		if (!opposite[port] || opposite[port] < port)
			continue;
		if (grid->dimension_count == DIMENSIONS_MAX)
			return -EOPNOTSUPP;
		grid->dimensions[grid->dimension_count++] = (struct dimension){
			.plus_port = (uint8_t)port,
			.minus_port = opposite[port],
		};
	}
	return 0;
}

static uint32_t neighbor(const struct grid *grid, uint32_t index, uint8_t port)
{
	const struct routing_switch *node = &grid->graph->switches[index];

	return port <= node->port_count ? node->neighbors[port] : ROUTING_NO_SWITCH;
}

/* Counts the switches in line with the first one, and finds whether the line is closed. Moves the
 * first one to the start of an open line. */
static void measure(const struct grid *grid, struct dimension *dimension, uint32_t *origin)
{
	uint32_t start = *origin, next;

	/* A dimension of a hypercube has two switches and one link. */
	if (dimension->plus_port == dimension->minus_port) {
		dimension->size =
			neighbor(grid, start, dimension->plus_port) == ROUTING_NO_SWITCH ? 1 : 2;
		return;
	}
	for (next = neighbor(grid, start, dimension->minus_port);
	     next != ROUTING_NO_SWITCH && next != *origin;
	     next = neighbor(grid, next, dimension->minus_port))
		start = next;
	dimension->is_ring = next == *origin;
	if (!dimension->is_ring)
		*origin = start;
	dimension->size = 1;
	for (next = neighbor(grid, *origin, dimension->plus_port);
	     next != ROUTING_NO_SWITCH && next != *origin;
	     next = neighbor(grid, next, dimension->plus_port))
		dimension->size++;
	/* Two switches in a ring have two parallel links. */
	if (dimension->size == 2)
		dimension->is_ring = false;
}

/* The coordinate after a step. UINT32_MAX: beyond an open end. */
static uint32_t step(const struct dimension *dimension, uint32_t coordinate, bool goes_plus)
{
	if (dimension->plus_port == dimension->minus_port)
		return 1 - coordinate;
	if (goes_plus)
		return coordinate + 1 < dimension->size ? coordinate + 1
		       : dimension->is_ring		? 0
							: UINT32_MAX;
	return coordinate > 0	    ? coordinate - 1
	       : dimension->is_ring ? dimension->size - 1
				    : UINT32_MAX;
}

/* Gives the neighbor its coordinates, or checks the coordinates that it has. */
static int visit(struct grid *grid, uint32_t index, unsigned axis, bool goes_plus, uint32_t *count)
{
	const struct dimension *dimension = &grid->dimensions[axis];
	uint32_t other =
		neighbor(grid, index, goes_plus ? dimension->plus_port : dimension->minus_port);
	uint32_t coordinates[DIMENSIONS_MAX];

	memcpy(coordinates, grid->coordinates[index], sizeof(coordinates));
	coordinates[axis] = step(dimension, coordinates[axis], goes_plus);
	if (other == ROUTING_NO_SWITCH) {
		uint8_t other_way = goes_plus ? dimension->minus_port : dimension->plus_port;

		/* A link may be missing only beyond the edge. Two switches in a line have one link
		 * or two. */
		return coordinates[axis] == UINT32_MAX || dimension->size == 1 ||
				       (dimension->size == 2 &&
					neighbor(grid, index, other_way) != ROUTING_NO_SWITCH)
			       ? 0
			       : -EOPNOTSUPP;
	}
	if (coordinates[axis] == UINT32_MAX && dimension->size != 2)
		return -EOPNOTSUPP;
	if (coordinates[axis] == UINT32_MAX)
		coordinates[axis] = 1 - grid->coordinates[index][axis];
	if (grid->is_placed[other])
		return memcmp(coordinates, grid->coordinates[other], sizeof(coordinates))
			       ? -EOPNOTSUPP
			       : 0;
	memcpy(grid->coordinates[other], coordinates, sizeof(coordinates));
	grid->is_placed[other] = true;
	grid->queue[(*count)++] = other;
	return 0;
}

static int place_switches(struct grid *grid)
{
	uint32_t origin = 0, count = 1;
	uint64_t places = 1;

	/* Twice, since an origin at the start of one line may not be at the start of another. */
	for (unsigned round = 0; round < 2; round++)
		for (unsigned axis = 0; axis < grid->dimension_count; axis++)
			measure(grid, &grid->dimensions[axis], &origin);
	for (unsigned axis = 0; axis < grid->dimension_count; axis++)
		places *= grid->dimensions[axis].size;
	if (places != grid->graph->switch_count)
		return -EOPNOTSUPP;
	grid->is_placed[origin] = true;
	grid->queue[0] = origin;
	for (uint32_t head = 0; head < count; head++) {
		for (unsigned axis = 0; axis < grid->dimension_count; axis++) {
			int error = visit(grid, grid->queue[head], axis, true, &count);

			if (!error)
				error = visit(grid, grid->queue[head], axis, false, &count);
			if (error)
				return error;
		}
	}
	return count == grid->graph->switch_count ? 0 : -EOPNOTSUPP;
}

static uint8_t port_towards(const struct grid *grid, uint32_t from, uint32_t to)
{
	for (unsigned axis = 0; axis < grid->dimension_count; axis++) {
		const struct dimension *dimension = &grid->dimensions[axis];
		uint32_t here = grid->coordinates[from][axis], there = grid->coordinates[to][axis];

		if (here == there)
			continue;

		uint8_t port = dimension_goes_plus(dimension, here, there) ? dimension->plus_port
									   : dimension->minus_port;

		/* Two switches in a line may be connected in either direction. */
		return neighbor(grid, from, port) != ROUTING_NO_SWITCH
			       ? port
			       : (port == dimension->plus_port ? dimension->minus_port
							       : dimension->plus_port);
	}
	return 0;
}

static uint8_t service_level(const struct grid *grid, uint32_t from, uint32_t to)
{
	uint8_t level = 0;

	for (unsigned axis = 0; axis < grid->dimension_count; axis++)
		if (dimension_passes_last_link(&grid->dimensions[axis],
					       grid->coordinates[from][axis],
					       grid->coordinates[to][axis]))
			level |= (uint8_t)(1 << axis);
	return level;
}

static void route_to(struct grid *grid, uint32_t target, bool uses_levels)
{
	struct routing_graph *graph = grid->graph;

	for (uint32_t index = 0; index < graph->switch_count; index++) {
		uint8_t port = port_towards(grid, index, target);
		uint8_t level = service_level(grid, index, target);

		for (uint32_t i = grid->groups.first_of[target];
		     i < grid->groups.first_of[target + 1]; i++) {
			const struct routing_destination *destination =
				&graph->destinations[grid->groups.destinations[i]];

			graph->switches[index].table[destination->lid] =
				index == target ? destination->port_number : port;
			if (uses_levels)
				graph->service_levels[(size_t)index * (graph->lid_max + 1u) +
						      destination->lid] = level;
		}
	}
}

/* The VL on a dimension's links is that dimension's bit of the SL. Towards adapters it is VL 0. */
static int set_lanes(struct grid *grid, uint32_t index)
{
	int error = routing_graph_use_lanes(grid->graph, index);
	struct routing_switch *node = &grid->graph->switches[index];

	for (unsigned pair = 0; !error && pair < (node->port_count + 1) * (node->port_count + 1);
	     pair++) {
		unsigned output = pair % (node->port_count + 1);
		unsigned axis = 0;

		while (axis < grid->dimension_count && grid->dimensions[axis].plus_port != output &&
		       grid->dimensions[axis].minus_port != output)
			axis++;
		for (unsigned sl = 0; sl < ROUTING_SL_COUNT; sl++)
			node->sl_to_vl[pair * ROUTING_SL_COUNT + sl] =
				(uint8_t)(axis < grid->dimension_count ? sl >> axis & 1 : 0);
	}
	return error;
}

static int route_all(struct grid *grid, const struct routing_hints *hints)
{
	struct routing_graph *graph = grid->graph;
	bool has_rings = false;
	int error = 0;

	for (unsigned axis = 0; axis < grid->dimension_count; axis++)
		has_rings |= grid->dimensions[axis].is_ring;
	if (has_rings && hints->lane_count < 2)
		return -EOPNOTSUPP;
	if (has_rings)
		error = routing_graph_use_service_levels(graph);
	for (uint32_t i = 0; has_rings && !error && i < graph->switch_count; i++)
		error = set_lanes(grid, i);
	for (uint32_t i = 0; !error && i < graph->switch_count; i++)
		route_to(grid, i, has_rings);
	return error;
}

int dimension_order_route(struct routing_graph *graph, const struct routing_hints *hints)
{
	struct grid grid = {
		.graph = graph,
		.coordinates = calloc(graph->switch_count + 1u, sizeof(*grid.coordinates)),
		.queue = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
		.is_placed = calloc(graph->switch_count + 1u, sizeof(bool)),
	};
	int error = grid.coordinates && grid.queue && grid.is_placed ? 0 : -ENOMEM;

	if (!error)
		error = destination_groups_init(&grid.groups, graph);
	if (!error)
		error = find_dimensions(&grid);
	if (!error && graph->switch_count > 0)
		error = place_switches(&grid);
	if (!error)
		error = route_all(&grid, hints);
	if (grid.groups.first_of)
		destination_groups_release(&grid.groups);
	free(grid.coordinates);
	free(grid.queue);
	free(grid.is_placed);
	return error;
}
