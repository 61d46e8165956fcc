/* SPDX-License-Identifier: Apache-2.0 */
/* Paths to one LID after the other that together close no cycle of the channel dependency graph. */
#ifndef SOFTIB_MGMT_ROUTING_CDG_SEARCH_H
#define SOFTIB_MGMT_ROUTING_CDG_SEARCH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/routing/channels.h"
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/ranks.h"

struct cdg_edge {
	uint32_t from, to; /* channels */
};

struct cdg_search {
	const struct routing_graph *graph;
	const struct ranks *ranks;
	const bool *has_adapters; /* [switch] */
	uint32_t *order;	  /* switches, the nearest to the roots first */
	struct channel_graph channels;
	/* A spanning tree of the switches with adapters: the way out if the search ends early. */
	uint8_t **is_tree;	/* [switch][port] */
	uint32_t *component;	/* [switch]: connected ones have the same number */
	uint32_t *member_count; /* [component]: switches with adapters */
	/* The result of one search. */
	uint8_t *ports;	 /* [switch]: towards the LID */
	uint32_t *hops;	 /* [switch]: UINT32_MAX: no path */
	uint32_t *queue; /* the switches with a path; who is passed comes before who passes */
	uint32_t queue_count;
	uint64_t *cost;	   /* [switch]: room for the search, afterwards free */
	uint64_t *passing; /* [switch]: adapters that send by it; only those of the weights */
	struct cdg_edge *added;
	uint32_t added_count;
};

MUST_USE int cdg_search_init(struct cdg_search *search, const struct routing_graph *graph,
			     const struct destination_groups *groups, const struct ranks *ranks);
void cdg_search_release(struct cdg_search *search);

/* Paths that were found before no longer count. -ENOMEM. */
MUST_USE int cdg_search_begin(struct cdg_search *search);

/*
 * Paths from every switch that is connected to the target, which has adapters: the fewest hops,
 * then the least weight[switch][port], as far as no cycle is closed with the paths since
 * cdg_search_begin(). Of paths that are as good the port that has the LID now stays. Only paths
 * that start at switches with adapters count; others carry management only.
 */
void cdg_search_run(struct cdg_search *search, uint32_t *const *weight,
		    const uint32_t *adapter_count, uint32_t target, uint16_t lid);
/* For a target without adapters: any shortest paths. */
void cdg_search_run_unchecked(struct cdg_search *search, uint32_t target);

#endif
