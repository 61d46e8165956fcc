/* SPDX-License-Identifier: Apache-2.0 */
/* Repair of routes after links went or came. An engine takes the shortest paths that it allows, so
 * the length of the path by the tables is the distance: walking the tables yields distances without
 * a search. */
#include "mgmt/routing/repair.h"

#include <errno.h>
#include <stdlib.h>
#include "mgmt/routing/saved_routes.h"
#include "mgmt/routing/port_balance.h"
#include "mgmt/routing/ranks.h"

#define UNREACHED UINT32_MAX

enum { WALK_HOPS_MAX = 64, TARGETS_PART = 4 };

struct repair {
	struct routing_graph *graph;
	const struct repair_rules *rules;
	bool *is_target; /* [switch]: the routes to its destinations must be mended */
	uint32_t target_count;
};

/* The path that an entry leads to. */
struct way {
	uint32_t hops; /* to the switch of the destination; UNREACHED: the path does not lead there
			*/
	bool goes_up;  /* somewhere on the path */
	bool is_legal; /* never goes up after down */
};

static bool leads_on(const struct routing_switch *node, uint8_t port)
{
	return port && port <= node->port_count && node->neighbors[port] != ROUTING_NO_SWITCH;
}

static bool goes_up(const struct repair *repair, uint32_t from, uint32_t to)
{
	return repair->rules->ranks && ranks_goes_up(repair->rules->ranks, from, to);
}

static struct way walk(const struct repair *repair, uint32_t index,
		       const struct routing_destination *destination)
{
	struct way way = {.is_legal = true};
	bool went_down = false;

	while (index != destination->switch_index) {
		const struct routing_switch *node = &repair->graph->switches[index];
		uint8_t port = node->table[destination->lid];

		if (!leads_on(node, port) || ++way.hops > WALK_HOPS_MAX) {
			way.hops = UNREACHED;
			return way;
		}
		if (goes_up(repair, index, node->neighbors[port])) {
			way.goes_up = true;
			way.is_legal &= !went_down;
		} else {
			went_down = true;
		}
		index = node->neighbors[port];
	}
	return way;
}

/* A path that went down may not go up again (management 3.8). */
static bool may_continue(const struct repair *repair, uint32_t index, uint32_t neighbor,
			 const struct way *rest)
{
	return rest->is_legal &&
	       (!repair->rules->ranks || !rest->goes_up || goes_up(repair, index, neighbor));
}

static void mark(struct repair *repair, uint32_t target)
{
	repair->target_count += !repair->is_target[target];
	repair->is_target[target] = true;
}

/* Replaces an entry that led over a link to this neighbor; lost is the rest of its path. */
static void replace(struct repair *repair, uint32_t index,
		    const struct routing_destination *destination, uint32_t lost_neighbor,
		    const struct way *lost)
{
	struct routing_switch *node = &repair->graph->switches[index];
	bool went_up = goes_up(repair, index, lost_neighbor);
	/* Paths that only management traffic uses, because there is no legal one: any path of the
	 * same length will do. */
	bool takes_any = !may_continue(repair, index, lost_neighbor, lost);
	uint8_t best = ROUTING_NO_PORT;

	for (unsigned port = 1; port <= node->port_count; port++) {
		uint32_t neighbor = node->neighbors[port];
		struct way rest;

		if (neighbor == ROUTING_NO_SWITCH ||
		    (best != ROUTING_NO_PORT && node->load[port] >= node->load[best]) ||
		    (!takes_any && goes_up(repair, index, neighbor) != went_up))
			continue;
		rest = walk(repair, neighbor, destination);
		if (rest.hops == lost->hops &&
		    (takes_any || may_continue(repair, index, neighbor, &rest)))
			best = (uint8_t)port;
	}
	if (best == ROUTING_NO_PORT)
		mark(repair, destination->switch_index);
	else
		port_balance_move(node, destination, best);
}

/* Repairs one direction of a link that went. */
static void repair_end(struct repair *repair, uint32_t index, uint8_t port, uint32_t neighbor)
{
	struct routing_graph *graph = repair->graph;
	const struct routing_switch *node = &graph->switches[index];

	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];
		struct way rest;

		if (node->table[destination->lid] != port || index == destination->switch_index ||
		    repair->is_target[destination->switch_index])
			continue;
		rest = walk(repair, neighbor, destination);
		if (rest.hops == UNREACHED)
			mark(repair, destination->switch_index);
		else
			replace(repair, index, destination, neighbor, &rest);
	}
}

static bool is_too_much(const struct repair *repair)
{
	return repair->target_count > repair->graph->switch_count / TARGETS_PART + 1;
}

static int mend_targets(struct repair *repair)
{
	int error = is_too_much(repair) ? -EAGAIN : 0;

	for (uint32_t i = 0; !error && i < repair->graph->switch_count; i++) {
		if (repair->is_target[i])
			error = repair->rules->mend_target(repair->rules->context, i);
		repair->is_target[i] = false;
	}
	repair->target_count = 0;
	return error;
}

/* Whether the path from one end is better by way of the other: shorter, or down only where it was
 * not. */
static bool is_better(const struct repair *repair, uint32_t index, uint32_t neighbor,
		      const struct way *present, const struct way *rest)
{
	bool is_down = repair->rules->ranks && !rest->goes_up && !goes_up(repair, index, neighbor);

	if (present->hops == UNREACHED || rest->hops == UNREACHED)
		return true;
	if (!may_continue(repair, index, neighbor, rest))
		return false;
	if (!present->is_legal)
		return true;
	if (repair->rules->ranks && is_down != !present->goes_up)
		return is_down;
	return present->hops > rest->hops + 1;
}

static void find_shortcuts(struct repair *repair, const struct routing_link *link)
{
	const struct routing_graph *graph = repair->graph;

	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];
		struct way from_a = walk(repair, link->a, destination);
		struct way from_b = walk(repair, link->b, destination);

		if (is_better(repair, link->a, link->b, &from_a, &from_b) ||
		    is_better(repair, link->b, link->a, &from_b, &from_a))
			mark(repair, destination->switch_index);
	}
}

/* Moves LIDs to the new port, where it is as good, from ports that have more than their share. */
static void share(struct repair *repair, uint32_t index, uint8_t port, uint32_t neighbor)
{
	struct routing_graph *graph = repair->graph;
	struct routing_switch *node = &graph->switches[index];

	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];
		uint8_t present = node->table[destination->lid];
		struct way rest;

		if (index == destination->switch_index || !destination->port_number ||
		    repair->is_target[destination->switch_index] || !leads_on(node, present) ||
		    node->load[present] <= node->load[port] + 1 ||
		    goes_up(repair, index, neighbor) !=
			    goes_up(repair, index, node->neighbors[present]))
			continue;
		rest = walk(repair, neighbor, destination);
		if (rest.hops + 1 == walk(repair, index, destination).hops &&
		    may_continue(repair, index, neighbor, &rest))
			port_balance_move(node, destination, port);
	}
}

/* A path of restored and other entries may not reach its destination. */
static int check_mixed(struct repair *repair, const bool is_mixed[])
{
	const struct routing_graph *graph = repair->graph;

	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];

		for (uint32_t index = 0; is_mixed[i] && index < graph->switch_count; index++) {
			struct way way = walk(repair, index, destination);

			if (way.hops == UNREACHED || !way.is_legal)
				mark(repair, destination->switch_index);
		}
		if (is_too_much(repair))
			return -EAGAIN;
	}
	return mend_targets(repair);
}

/* The links existed when the routes were saved: they get the LIDs that they had. */
static int restore_routes(struct repair *repair, const struct routing_change *change)
{
	bool *is_mixed = calloc(repair->graph->destination_count + 1u, sizeof(*is_mixed));
	int error;

	if (!is_mixed)
		return -ENOMEM;
	saved_routes_restore(repair->graph, is_mixed);
	for (unsigned i = 0; i < change->added_count; i++)
		find_shortcuts(repair, &change->added[i]);
	error = is_too_much(repair) ? -EAGAIN : check_mixed(repair, is_mixed);
	free(is_mixed);
	return error;
}

static int take_in(struct repair *repair, const struct routing_change *change)
{
	if (saved_routes_exist(repair->graph))
		return change->added_count ? restore_routes(repair, change) : 0;
	for (unsigned i = 0; i < change->added_count; i++) {
		const struct routing_link *link = &change->added[i];

		repair->graph->switches[link->a].load[link->a_port] = 0;
		repair->graph->switches[link->b].load[link->b_port] = 0;
		find_shortcuts(repair, link);
		if (is_too_much(repair))
			return -EAGAIN;
	}
	for (unsigned i = 0; i < change->added_count; i++) {
		const struct routing_link *link = &change->added[i];

		share(repair, link->a, link->a_port, link->b);
		share(repair, link->b, link->b_port, link->a);
	}
	return mend_targets(repair);
}

static int take_out(struct repair *repair, const struct routing_change *change)
{
	for (unsigned i = 0; i < change->removed_count; i++) {
		const struct routing_link *link = &change->removed[i];

		repair_end(repair, link->a, link->a_port, link->b);
		repair_end(repair, link->b, link->b_port, link->a);
		if (is_too_much(repair))
			return -EAGAIN;
	}
	return mend_targets(repair);
}

int repair_routes(struct routing_graph *graph, const struct repair_rules *rules,
		  const struct routing_change *change)
{
	struct repair repair = {.graph = graph, .rules = rules};
	int error;

	/* A path that a lost link made longer may be shorter by a new one. */
	if (change->removed_count && change->added_count)
		return -EAGAIN;
	repair.is_target = calloc(graph->switch_count + 1u, sizeof(*repair.is_target));
	if (!repair.is_target)
		return -ENOMEM;
	error = take_out(&repair, change);
	if (!error)
		error = take_in(&repair, change);
	free(repair.is_target);
	return error;
}
