/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coordinates of the switches of a torus or mesh, found from the cabling.
 *
 * The switch with the lowest GUID gets the coordinates 0, 0, 0, so that rings start at the same
 * switch after a failure elsewhere. A step over a link in the plus direction adds 1, in the minus
 * direction subtracts 1. If two paths to one switch disagree in one dimension, that dimension is a
 * ring, and its size divides the difference. So a missing link or switch does no harm as long as
 * other paths lead around it.
 */
#include "mgmt/routing/torus_coordinates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/opposite_ports.h"

struct survey {
	struct torus *torus;
	int64_t (*steps)[TORUS_DIMENSIONS_MAX]; /* [switch]: from the first one */
	bool *is_placed;
	uint32_t *queue;
	uint32_t queue_count;
	int64_t ring_sizes[TORUS_DIMENSIONS_MAX]; /* 0: no ring was found */
};

static int find_dimensions(struct torus *torus)
{
	uint8_t opposite[OPPOSITE_PORTS_COUNT];
	int error = opposite_ports_find(torus->graph, opposite);

	if (error)
		return error;
	for (unsigned port = 1; port < ROUTING_NO_PORT; port++) {
		if (!opposite[port] || opposite[port] < port)
			continue;
		/* A port that is connected to its own number has no direction. */
		if (torus->dimension_count == TORUS_DIMENSIONS_MAX || opposite[port] == port)
			return -EOPNOTSUPP;
		torus->dimensions[torus->dimension_count++] = (struct dimension){
			.plus_port = (uint8_t)port,
			.minus_port = opposite[port],
		};
	}
	return 0;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a < 0 ? -a : a;
}

/* The switch was reached by another path before. A difference in several dimensions at once
 * determines neither; agree() decides at the end. */
static void compare(struct survey *survey, const int64_t *known, const int64_t *found)
{
	unsigned differing = 0, last = 0;

	for (unsigned d = 0; d < survey->torus->dimension_count; d++) {
		if (known[d] == found[d])
			continue;
		differing++;
		last = d;
	}
	if (differing == 1)
		survey->ring_sizes[last] = greatest_common_divisor(known[last] - found[last],
								   survey->ring_sizes[last]);
}

static void look_at(struct survey *survey, uint32_t index, unsigned dimension, uint8_t port,
		    int step)
{
	const struct routing_switch *node = &survey->torus->graph->switches[index];
	uint32_t neighbor = port <= node->port_count ? node->neighbors[port] : ROUTING_NO_SWITCH;
	int64_t steps[TORUS_DIMENSIONS_MAX];

	if (neighbor == ROUTING_NO_SWITCH)
		return;
	memcpy(steps, survey->steps[index], sizeof(steps));
	steps[dimension] += step;
	if (survey->is_placed[neighbor]) {
		compare(survey, survey->steps[neighbor], steps);
		return;
	}
	memcpy(survey->steps[neighbor], steps, sizeof(steps));
	survey->is_placed[neighbor] = true;
	survey->queue[survey->queue_count++] = neighbor;
}

static uint32_t origin_of(const struct routing_graph *graph)
{
	uint32_t origin = 0;

	for (uint32_t i = 1; i < graph->switch_count; i++)
		if (graph->switches[i].guid < graph->switches[origin].guid)
			origin = i;
	return origin;
}

static int walk(struct survey *survey)
{
	const struct torus *torus = survey->torus;
	uint32_t origin = origin_of(torus->graph);

	survey->is_placed[origin] = true;
	survey->queue[0] = origin;
	survey->queue_count = 1;
	for (uint32_t head = 0; head < survey->queue_count; head++) {
		for (unsigned d = 0; d < torus->dimension_count; d++) {
			const struct dimension *dimension = &torus->dimensions[d];

			look_at(survey, survey->queue[head], d, dimension->plus_port, 1);
			look_at(survey, survey->queue[head], d, dimension->minus_port, -1);
		}
	}
	return survey->queue_count == torus->graph->switch_count ? 0 : -EOPNOTSUPP;
}

static void set_coordinates(const struct survey *survey, unsigned d)
{
	struct torus *torus = survey->torus;
	struct dimension *dimension = &torus->dimensions[d];
	int64_t size = survey->ring_sizes[d], least = 0, most = 0;

	for (uint32_t i = 0; !size && i < torus->graph->switch_count; i++) {
		if (survey->steps[i][d] < least)
			least = survey->steps[i][d];
		if (survey->steps[i][d] > most)
			most = survey->steps[i][d];
	}
	if (!size)
		size = most - least + 1;
	dimension->size = (uint32_t)size;
	/* Two switches in a ring have two parallel links. */
	dimension->is_ring = survey->ring_sizes[d] > 2;
	for (uint32_t i = 0; i < torus->graph->switch_count; i++)
		torus->coordinates[i][d] =
			(uint32_t)(((survey->steps[i][d] - least) % size + size) % size);
}

static uint32_t place_of(const struct torus *torus, const uint32_t *coordinates)
{
	uint32_t place = 0;

	for (unsigned d = torus->dimension_count; d > 0; d--)
		place = place * torus->dimensions[d - 1].size + coordinates[d - 1];
	return place;
}

/* Whether every link leads to the coordinates that its direction implies. It does not if going
 * around one ring is a step in another. */
static bool agree(const struct torus *torus)
{
	for (uint32_t i = 0; i < torus->graph->switch_count; i++) {
		const struct routing_switch *node = &torus->graph->switches[i];

		for (unsigned d = 0; d < torus->dimension_count; d++) {
			const struct dimension *dimension = &torus->dimensions[d];
			uint32_t coordinates[TORUS_DIMENSIONS_MAX];

			if (dimension->plus_port > node->port_count ||
			    node->neighbors[dimension->plus_port] == ROUTING_NO_SWITCH)
				continue;
			memcpy(coordinates, torus->coordinates[i], sizeof(coordinates));
			coordinates[d] = (coordinates[d] + 1) % dimension->size;
			if (memcmp(coordinates,
				   torus->coordinates[node->neighbors[dimension->plus_port]],
				   sizeof(coordinates)) != 0)
				return false;
		}
	}
	return true;
}

/* At most one switch per place, and most places are taken. */
static int fill_places(struct torus *torus)
{
	uint64_t place_count = 1;

	for (unsigned d = 0; d < torus->dimension_count; d++)
		place_count *= torus->dimensions[d].size;
	if (place_count > 2 * (uint64_t)torus->graph->switch_count + 2)
		return -EOPNOTSUPP;
	torus->place_count = (uint32_t)place_count;
	torus->switch_at = malloc((place_count + 1) * sizeof(uint32_t));
	if (!torus->switch_at)
		return -ENOMEM;
	for (uint32_t place = 0; place < place_count; place++)
		torus->switch_at[place] = ROUTING_NO_SWITCH;
	for (uint32_t i = 0; i < torus->graph->switch_count; i++) {
		uint32_t place = place_of(torus, torus->coordinates[i]);

		if (torus->switch_at[place] != ROUTING_NO_SWITCH)
			return -EOPNOTSUPP;
		torus->switch_at[place] = i;
	}
	return 0;
}

int torus_find(struct torus *torus, const struct routing_graph *graph)
{
	size_t room = graph->switch_count + 1u;
	struct survey survey = {
		.torus = torus,
		.steps = calloc(room, sizeof(*survey.steps)),
		.is_placed = calloc(room, sizeof(bool)),
		.queue = malloc(room * sizeof(uint32_t)),
	};
	int error;

	*torus = (struct torus){.graph = graph,
				.coordinates = calloc(room, sizeof(*torus->coordinates))};
	error = survey.steps && survey.is_placed && survey.queue && torus->coordinates ? 0
										       : -ENOMEM;
	if (!error)
		error = find_dimensions(torus);
	if (!error && graph->switch_count > 0)
		error = walk(&survey);
	for (unsigned d = 0; !error && d < torus->dimension_count; d++)
		set_coordinates(&survey, d);
	if (!error)
		error = agree(torus) ? fill_places(torus) : -EOPNOTSUPP;
	free(survey.steps);
	free(survey.is_placed);
	free(survey.queue);
	if (error)
		torus_release(torus);
	return error;
}

void torus_release(struct torus *torus)
{
	free(torus->coordinates);
	free(torus->switch_at);
	*torus = (struct torus){0};
}

uint32_t torus_switch_at(const struct torus *torus, uint32_t switch_index, unsigned dimension,
			 uint32_t coordinate)
{
	uint32_t coordinates[TORUS_DIMENSIONS_MAX];

	memcpy(coordinates, torus->coordinates[switch_index], sizeof(coordinates));
	coordinates[dimension] = coordinate;
	return torus->switch_at[place_of(torus, coordinates)];
}

unsigned torus_dimension_of(const struct torus *torus, unsigned port_number)
{
	unsigned d = 0;

	while (d < torus->dimension_count && torus->dimensions[d].plus_port != port_number &&
	       torus->dimensions[d].minus_port != port_number)
		d++;
	return d;
}
