/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of switches by distance from the roots: the switch with the lower rank is the upper one
 * (management 3.8). */
#include "mgmt/routing/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNRANKED UINT32_MAX

struct survey {
	const struct routing_graph *graph;
	const struct destination_groups *groups;
	uint32_t *distance;
	uint32_t *queue;
};

/* Distances from the switches in the queue, whose distance is 0. */
static uint32_t spread(const struct survey *survey, uint32_t *distance, uint32_t count)
{
	for (uint32_t head = 0; head < count; head++) {
		const struct routing_switch *node = &survey->graph->switches[survey->queue[head]];
		uint32_t next = distance[survey->queue[head]] + 1;

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor == ROUTING_NO_SWITCH || distance[neighbor] != UNRANKED)
				continue;
			distance[neighbor] = next;
			survey->queue[count++] = neighbor;
		}
	}
	return count;
}

static uint32_t measure_from(const struct survey *survey, uint32_t start)
{
	memset(survey->distance, 0xff, survey->graph->switch_count * sizeof(uint32_t));
	survey->distance[start] = 0;
	survey->queue[0] = start;
	return spread(survey, survey->distance, 1);
}

static void find_components(const struct survey *survey, uint32_t *component)
{
	memset(component, 0xff, survey->graph->switch_count * sizeof(uint32_t));
	for (uint32_t start = 0; start < survey->graph->switch_count; start++) {
		if (component[start] != UNRANKED)
			continue;

		uint32_t count = measure_from(survey, start);

		for (uint32_t i = 0; i < count; i++)
			component[survey->queue[i]] = start;
	}
}

/* Distances from a switch to the adapters: the greatest and the least. */
struct distance_range {
	uint32_t farthest, nearest;
};

static struct distance_range distance_range_of(const struct survey *survey, uint32_t start)
{
	struct distance_range range = {.nearest = UNRANKED};
	uint32_t count = measure_from(survey, start);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = survey->queue[i];
		uint32_t distance = survey->distance[index];

		if (!survey->groups->has_adapters[index])
			continue;
		if (distance > range.farthest)
			range.farthest = distance;
		if (distance < range.nearest)
			range.nearest = distance;
	}
	return range;
}

static bool is_better_center(const struct survey *survey, uint32_t candidate,
			     const struct distance_range *range, uint32_t center,
			     const struct distance_range *best)
{
	if (center == UNRANKED || range->farthest != best->farthest)
		return center == UNRANKED || range->farthest < best->farthest;
	return survey->graph->switches[candidate].guid < survey->graph->switches[center].guid;
}

enum root_search { SEARCH_TOP, SEARCH_CENTER };

/* Finds roots for a part of the graph that has none; their distance in rank becomes 0. In a tree
 * they are the top: switches without adapters that are equally far from every adapter. Otherwise it
 * is the switch in the middle. */
static void find_roots(const struct survey *survey, const struct ranks *ranks, uint32_t component,
		       enum root_search search)
{
	uint32_t center = UNRANKED;
	struct distance_range best = {0};
	bool has_top = false;

	for (uint32_t index = 0; index < survey->graph->switch_count; index++) {
		if (ranks->component[index] != component)
			continue;

		struct distance_range range = distance_range_of(survey, index);

		if (search == SEARCH_TOP && !survey->groups->has_adapters[index] &&
		    range.nearest == range.farthest) {
			ranks->rank[index] = 0;
			has_top = true;
		}
		if (is_better_center(survey, index, &range, center, &best)) {
			center = index;
			best = range;
		}
	}
	if (!has_top)
		ranks->rank[center] = 0;
}

static bool has_root(const struct ranks *ranks, uint32_t component)
{
	for (uint32_t index = 0; index < ranks->graph->switch_count; index++)
		if (ranks->component[index] == component && ranks->rank[index] == 0)
			return true;
	return false;
}

static void rank_all(const struct survey *survey, struct ranks *ranks, enum root_search search)
{
	uint32_t count = 0;

	for (uint32_t index = 0; index < survey->graph->switch_count; index++)
		if (ranks->component[index] == index && !has_root(ranks, index))
			find_roots(survey, ranks, index, search);
	for (uint32_t index = 0; index < survey->graph->switch_count; index++)
		if (ranks->rank[index] == 0)
			survey->queue[count++] = index;
	spread(survey, ranks->rank, count);
}

static int survey_init(struct survey *survey, const struct routing_graph *graph,
		       const struct destination_groups *groups)
{
	*survey = (struct survey){
		.graph = graph,
		.groups = groups,
		.distance = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
		.queue = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
	};
	return survey->distance && survey->queue ? 0 : -ENOMEM;
}

static void survey_release(struct survey *survey)
{
	free(survey->distance);
	free(survey->queue);
}

static void take_hints(struct ranks *ranks, const struct routing_hints *hints)
{
	for (uint32_t root = 0; root < hints->root_count; root++)
		for (uint32_t index = 0; index < ranks->graph->switch_count; index++)
			if (ranks->graph->switches[index].guid == hints->root_guids[root])
				ranks->rank[index] = 0;
}

int ranks_find(struct ranks *ranks, const struct routing_graph *graph,
	       const struct destination_groups *groups, const struct routing_hints *hints,
	       enum ranks_direction direction)
{
	struct survey survey;
	int error = survey_init(&survey, graph, groups);

	*ranks = (struct ranks){
		.graph = graph,
		.direction = direction,
		.rank = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
		.component = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
	};
	if (!ranks->rank || !ranks->component)
		error = -ENOMEM;
	if (!error) {
		memset(ranks->rank, 0xff, graph->switch_count * sizeof(uint32_t));
		find_components(&survey, ranks->component);
		take_hints(ranks, hints);
		rank_all(&survey, ranks, SEARCH_TOP);
	}
	survey_release(&survey);
	return error;
}

int ranks_from_one_root(struct ranks *ranks, const struct routing_graph *graph,
			const struct destination_groups *groups, enum ranks_direction direction)
{
	struct survey survey;
	int error = survey_init(&survey, graph, groups);

	ranks->direction = direction;
	if (!error) {
		memset(ranks->rank, 0xff, graph->switch_count * sizeof(uint32_t));
		rank_all(&survey, ranks, SEARCH_CENTER);
	}
	survey_release(&survey);
	return error;
}

void ranks_release(struct ranks *ranks)
{
	free(ranks->rank);
	free(ranks->component);
	*ranks = (struct ranks){0};
}
