/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up/down routing (management 3.8, 3.9).
 *
 * Tables depend only on the destination, not on where a packet comes from. So a switch that can
 * reach a LID by going down only always does, even if going up would be shorter: the switches that
 * send down to it rely on that. All others go up, by the fewest hops.
 */
#include "mgmt/routing/updown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/port_balance.h"
#include "mgmt/routing/ranks.h"
#include "mgmt/routing/repair.h"

#define UNREACHED UINT32_MAX

struct updown {
	struct routing_graph *graph;
	const struct destination_groups *groups;
	const struct ranks *ranks;
	uint32_t *down; /* [switch]: hops to the destination going down only */
	uint32_t *hops; /* [switch]: hops of the chosen path */
	uint32_t *queue;
	bool *is_illegal; /* [switch]: the path goes up after down */
	port_chooser *choose;
};

static bool is_open(const uint32_t *distance, uint32_t index)
{
	return index != ROUTING_NO_SWITCH && distance[index] == UNREACHED;
}

/* Searches backwards from the target over links that lead down to it. */
static uint32_t measure_down(struct updown *updown, uint32_t target)
{
	const struct routing_graph *graph = updown->graph;
	uint32_t count = 1;

	memset(updown->down, 0xff, graph->switch_count * sizeof(uint32_t));
	updown->down[target] = 0;
	updown->queue[0] = target;
	for (uint32_t head = 0; head < count; head++) {
		uint32_t index = updown->queue[head];
		const struct routing_switch *node = &graph->switches[index];

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t above = node->neighbors[port];

			if (!is_open(updown->down, above) ||
			    !ranks_goes_up(updown->ranks, index, above))
				continue;
			updown->down[above] = updown->down[index] + 1;
			updown->queue[count++] = above;
		}
	}
	return count;
}

static void look_below(struct updown *updown, uint32_t index, uint32_t *count)
{
	const struct routing_switch *node = &updown->graph->switches[index];

	for (unsigned port = 1; port <= node->port_count; port++) {
		uint32_t below = node->neighbors[port];

		if (!is_open(updown->hops, below) || !ranks_goes_up(updown->ranks, below, index))
			continue;
		updown->hops[below] = updown->hops[index] + 1;
		updown->queue[(*count)++] = below;
	}
}

/* Switches that can't go down to the target go up. Both parts of the queue are sorted by hops, so
 * the nearer of their two heads is next. */
static uint32_t measure_up(struct updown *updown, uint32_t down_count)
{
	uint32_t count = down_count, down_head = 0, up_head = down_count;

	memcpy(updown->hops, updown->down, updown->graph->switch_count * sizeof(uint32_t));
	while (down_head < down_count || up_head < count) {
		bool takes_up = down_head == down_count ||
				(up_head < count && updown->hops[updown->queue[up_head]] <
							    updown->hops[updown->queue[down_head]]);

		look_below(updown, updown->queue[takes_up ? up_head++ : down_head++], &count);
	}
	return count;
}

static void find_candidates(const struct updown *updown, uint32_t index,
			    struct port_candidates *ret_candidates)
{
	const struct routing_switch *node = &updown->graph->switches[index];
	bool goes_down = updown->down[index] != UNREACHED;
	const uint32_t *hops = goes_down ? updown->down : updown->hops;
	uint32_t best = UNREACHED;

	ret_candidates->count = 0;
	for (unsigned port = 1; port <= node->port_count; port++) {
		uint32_t neighbor = node->neighbors[port];

		if (neighbor == ROUTING_NO_SWITCH || hops[neighbor] == UNREACHED ||
		    ranks_goes_up(updown->ranks, index, neighbor) == goes_down)
			continue;
		if (hops[neighbor] < best) {
			best = hops[neighbor];
			ret_candidates->count = 0;
		}
		if (hops[neighbor] == best)
			ret_candidates->ports[ret_candidates->count++] = (uint8_t)port;
	}
}

/* If there is no legal path to a switch's own LID (from one root to another, or after a link was
 * lost), it gets an illegal one: only management traffic goes there. Switches with a legal path are
 * tried first. */
static void measure_rest(struct updown *updown, uint32_t known_count)
{
	const struct routing_graph *graph = updown->graph;
	uint32_t count = known_count;

	for (uint32_t head = 0; head < count; head++) {
		uint32_t index = updown->queue[head];
		const struct routing_switch *node = &graph->switches[index];

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t other = node->neighbors[port];

			if (!is_open(updown->hops, other))
				continue;
			updown->hops[other] = updown->hops[index] + 1;
			updown->is_illegal[other] = true;
			updown->queue[count++] = other;
		}
	}
}

static void find_any(const struct updown *updown, uint32_t index,
		     struct port_candidates *ret_candidates)
{
	const struct routing_switch *node = &updown->graph->switches[index];

	for (unsigned port = 1; port <= node->port_count; port++) {
		uint32_t neighbor = node->neighbors[port];

		if (neighbor != ROUTING_NO_SWITCH &&
		    updown->hops[neighbor] + 1 == updown->hops[index])
			ret_candidates->ports[ret_candidates->count++] = (uint8_t)port;
	}
}

/* -EOPNOTSUPP: some adapters do not reach those at the target. */
static int route_to(void *context, uint32_t target)
{
	struct updown *updown = context;
	struct routing_graph *graph = updown->graph;
	const uint32_t *first_of = updown->groups->first_of;
	const bool *has_adapters = updown->groups->has_adapters;

	memset(updown->is_illegal, 0, graph->switch_count);
	measure_rest(updown, measure_up(updown, measure_down(updown, target)));
	for (uint32_t index = 0; index < graph->switch_count; index++) {
		struct port_candidates candidates = {0};

		if (updown->is_illegal[index] && has_adapters[index] && has_adapters[target])
			return -EOPNOTSUPP;
		if (updown->is_illegal[index])
			find_any(updown, index, &candidates);
		else if (index != target && updown->hops[index] != UNREACHED)
			find_candidates(updown, index, &candidates);
		updown->choose(graph, index, index == target, &candidates,
			       updown->groups->destinations + first_of[target],
			       first_of[target + 1] - first_of[target]);
	}
	return 0;
}

static void updown_release(struct updown *updown)
{
	free(updown->down);
	free(updown->hops);
	free(updown->queue);
	free(updown->is_illegal);
}

static int updown_init(struct updown *updown, struct routing_graph *graph,
		       const struct destination_groups *groups, const struct ranks *ranks,
		       port_chooser *choose)
{
	*updown = (struct updown){
		.graph = graph,
		.groups = groups,
		.ranks = ranks,
		.choose = choose,
		.down = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
		.hops = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
		.queue = malloc((graph->switch_count + 1u) * sizeof(uint32_t)),
		.is_illegal = calloc(graph->switch_count + 1u, sizeof(bool)),
	};
	if (updown->down && updown->hops && updown->queue && updown->is_illegal)
		return 0;
	updown_release(updown);
	return -ENOMEM;
}

/* Saves the ranks for repairs: with other ranks, old and new paths together might close a cycle. */
static int keep_ranks(struct routing_graph *graph, const struct ranks *ranks)
{
	size_t byte_count = (graph->switch_count + 1u) * sizeof(*graph->ranks);

	if (!graph->ranks)
		graph->ranks = malloc(byte_count);
	if (!graph->ranks)
		return -ENOMEM;
	memcpy(graph->ranks, ranks->rank, byte_count - sizeof(*graph->ranks));
	graph->roots_are_at_bottom = ranks->direction == RANKS_ROOTS_AT_BOTTOM;
	return 0;
}

int updown_route_ranked(struct routing_graph *graph, const struct destination_groups *groups,
			const struct ranks *ranks)
{
	struct updown updown;
	int error = updown_init(&updown, graph, groups, ranks, port_balance_assign);

	if (error)
		return error;
	port_balance_reset(graph);
	for (uint32_t target = 0; !error && target < graph->switch_count; target++) {
		if (groups->first_of[target] != groups->first_of[target + 1])
			error = route_to(&updown, target);
	}
	updown_release(&updown);
	return error ? error : keep_ranks(graph, ranks);
}

int updown_repair(struct routing_graph *graph, const struct routing_hints *hints,
		  const struct routing_change *change)
{
	const struct ranks ranks = {.graph = graph,
				    .rank = graph->ranks,
				    .direction = graph->roots_are_at_bottom ? RANKS_ROOTS_AT_BOTTOM
									    : RANKS_ROOTS_ON_TOP};
	struct updown updown;
	const struct repair_rules rules = {
		.ranks = &ranks, .mend_target = route_to, .context = &updown};
	struct destination_groups groups;
	int error;

	(void)hints;
	if (!graph->ranks)
		return -EAGAIN;
	error = destination_groups_init(&groups, graph);
	if (error)
		return error;
	error = updown_init(&updown, graph, &groups, &ranks, port_balance_mend);
	if (!error) {
		error = repair_routes(graph, &rules, change);
		updown_release(&updown);
	}
	destination_groups_release(&groups);
	/* Not possible with these ranks, perhaps with others. */
	return error == -EOPNOTSUPP ? -EAGAIN : error;
}

static int route(struct routing_graph *graph, const struct routing_hints *hints,
		 enum ranks_direction direction)
{
	struct destination_groups groups;
	struct ranks ranks;
	int error = destination_groups_init(&groups, graph);

	if (error)
		return error;
	error = ranks_find(&ranks, graph, &groups, hints, direction);
	if (!error)
		error = updown_route_ranked(graph, &groups, &ranks);
	/* Roots that were found may not fit; a single root always does. */
	if (error == -EOPNOTSUPP && !hints->root_count) {
		error = ranks_from_one_root(&ranks, graph, &groups, direction);
		if (!error)
			error = updown_route_ranked(graph, &groups, &ranks);
	}
	ranks_release(&ranks);
	destination_groups_release(&groups);
	return error;
}

int updown_route(struct routing_graph *graph, const struct routing_hints *hints)
{
	return route(graph, hints, RANKS_ROOTS_ON_TOP);
}

int downup_route(struct routing_graph *graph, const struct routing_hints *hints)
{
	return route(graph, hints, RANKS_ROOTS_AT_BOTTOM);
}
