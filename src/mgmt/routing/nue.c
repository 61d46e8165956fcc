/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nue, after Domke, Hoefler and Matsuoka, "Routing on the Dependency Graph: A New Approach to
 * Deadlock-Free High-Performance Routing" (HPDC 2016), as OpenSM's engine of this name (management
 * 3.8).
 *
 * Other engines first find paths and then VLs that break their cycles, and fail when the VLs run
 * out. Nue searches paths in the channel dependency graph itself: it does not take a port whose
 * dependency would close a cycle, and searches on. The destinations are divided into as many groups
 * as there are VLs, each with its own dependency graph. The search never fails (cdg_search.c), so
 * one VL is enough for any graph; more VLs make paths shorter.
 *
 * The paper gives every destination the VL of its group. A connection uses one SL in both
 * directions (PathRecord, Reversible), so here pairs of switches get their VL afterwards, as with
 * LASH. If there are too few VLs, there are fewer groups; the paths of one group always fit one VL.
 */
#include "mgmt/routing/nue.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/cdg_search.h"
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/layered.h"
#include "mgmt/routing/port_balance.h"
#include "mgmt/routing/ranks.h"

struct nue {
	struct routing_graph *graph;
	struct destination_groups groups;
	struct ranks ranks;
	struct cdg_search search;
	uint32_t *adapter_count; /* [switch]: base LIDs of adapters there */
	uint32_t **weight;	 /* [switch][port]: paths over the link */
};

static void set_tables(struct nue *nue, const struct routing_destination *destination)
{
	struct routing_graph *graph = nue->graph;
	const struct cdg_search *search = &nue->search;

	for (uint32_t index = 0; index < graph->switch_count; index++)
		graph->switches[index].table[destination->lid] =
			index == destination->switch_index  ? destination->port_number
			: search->hops[index] == UINT32_MAX ? ROUTING_NO_PORT
							    : search->ports[index];
}

/* As in sssp, the weight of a link is the number of adapters that use it. */
static void add_weights(struct nue *nue)
{
	const struct cdg_search *search = &nue->search;

	for (uint32_t place = 1; place < search->queue_count; place++) {
		uint32_t index = search->queue[place];

		nue->weight[index][search->ports[index]] += (uint32_t)search->passing[index];
	}
}

/* Routes all LIDs of a switch. The switch's own LID gets the paths of an adapter's LID, if there is
 * one. */
static void route_to(struct nue *nue, uint32_t target)
{
	const struct routing_graph *graph = nue->graph;
	const uint32_t *first_of = nue->groups.first_of;
	const struct routing_destination *own = NULL;

	for (uint32_t i = first_of[target]; i < first_of[target + 1]; i++) {
		const struct routing_destination *destination =
			&graph->destinations[nue->groups.destinations[i]];

		if (!destination->port_number) {
			own = destination;
			continue;
		}
		cdg_search_run(&nue->search, nue->weight, nue->adapter_count, target,
			       destination->lid);
		set_tables(nue, destination);
		add_weights(nue);
	}
	if (!own)
		return;
	if (!nue->groups.has_adapters[target])
		cdg_search_run_unchecked(&nue->search, target);
	set_tables(nue, own);
}

/* Routes the switches of a range of the order, with their own dependency graph. */
static int route_group(struct nue *nue, uint32_t first, uint32_t end)
{
	const uint32_t *first_of = nue->groups.first_of;
	int error = cdg_search_begin(&nue->search);

	for (uint32_t place = first; !error && place < end; place++) {
		uint32_t target = nue->search.order[place];

		if (first_of[target] != first_of[target + 1])
			route_to(nue, target);
	}
	return error;
}

/* Groups with about equally many LIDs. */
static int route_groups(struct nue *nue, unsigned group_count)
{
	const struct routing_graph *graph = nue->graph;
	uint64_t lid_count = 0;
	uint32_t first = 0;
	unsigned group = 0;
	int error = 0;

	for (uint32_t i = 0; i < graph->switch_count; i++)
		memset(nue->weight[i], 0, (graph->switches[i].port_count + 1u) * sizeof(uint32_t));
	for (uint32_t place = 0; !error && place < graph->switch_count; place++) {
		uint32_t index = nue->search.order[place];

		lid_count += nue->groups.first_of[index + 1] - nue->groups.first_of[index];
		if (place + 1 < graph->switch_count &&
		    lid_count * group_count < (uint64_t)graph->destination_count * (group + 1))
			continue;
		error = route_group(nue, first, place + 1);
		first = place + 1;
		group++;
	}
	return error;
}

static void nue_release(struct nue *nue)
{
	for (uint32_t i = 0; nue->weight && i < nue->graph->switch_count; i++)
		free(nue->weight[i]);
	free(nue->weight);
	free(nue->adapter_count);
	if (nue->search.graph)
		cdg_search_release(&nue->search);
	ranks_release(&nue->ranks);
	destination_groups_release(&nue->groups);
}

static int nue_init(struct nue *nue, struct routing_graph *graph, const struct routing_hints *hints)
{
	size_t room = graph->switch_count + 1u;
	int error;

	*nue = (struct nue){
		.graph = graph,
		.adapter_count = calloc(room, sizeof(uint32_t)),
		.weight = calloc(room, sizeof(uint32_t *)),
	};
	if (!nue->adapter_count || !nue->weight)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->switch_count; i++) {
		nue->weight[i] = calloc(graph->switches[i].port_count + 1u, sizeof(uint32_t));
		if (!nue->weight[i])
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < graph->destination_count; i++) {
		const struct routing_destination *destination = &graph->destinations[i];

		if (destination->port_number && destination->path_index == 0)
			nue->adapter_count[destination->switch_index]++;
	}
	error = destination_groups_init(&nue->groups, graph);
	if (!error)
		error = ranks_find(&nue->ranks, graph, &nue->groups, hints, RANKS_ROOTS_ON_TOP);
	if (!error)
		error = cdg_search_init(&nue->search, graph, &nue->groups, &nue->ranks);
	return error;
}

int nue_route(struct routing_graph *graph, const struct routing_hints *hints)
{
	unsigned lane_count = hints->lane_count ? hints->lane_count : 1;
	struct nue nue;
	int error = nue_init(&nue, graph, hints);

	/* The paths of one group close no cycle on one VL, so the last try succeeds. */
	for (unsigned group_count = lane_count; !error; group_count /= 2) {
		error = route_groups(&nue, group_count);
		if (!error && lane_count > 1)
			error = layered_assign(graph, LAYERED_PAIRS_OF_ADAPTERS, lane_count);
		if (error != -EOPNOTSUPP || group_count == 1)
			break;
		error = 0;
	}
	nue_release(&nue);
	assert(error != -EOPNOTSUPP);
	if (!error)
		port_balance_recount(graph);
	return error;
}
