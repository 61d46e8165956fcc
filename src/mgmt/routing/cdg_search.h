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
	/* A spanning tree of the switches with adapters: used if the search finds no path for some
	 * of them. */
	uint8_t **is_tree;	/* [switch][port] */
	uint32_t *component;	/* [switch]: connected ones have the same number */
	uint32_t *member_count; /* [component]: switches with adapters */
	/* The result of one search. */
	uint8_t *ports;	 /* [switch]: towards the LID */
	uint32_t *hops;	 /* [switch]: UINT32_MAX: no path */
	uint32_t *queue; /* the switches with a path, each behind the one it sends to */
	uint32_t queue_count;
	uint64_t *cost;	   /* [switch]: used during the search only */
	uint64_t *passing; /* [switch]: adapters that send through it; only those that count for
			      weights */
	struct cdg_edge *added;
	uint32_t added_count;
};

MUST_USE int cdg_search_init(struct cdg_search *search, const struct routing_graph *graph,
			     const struct destination_groups *groups, const struct ranks *ranks);
void cdg_search_release(struct cdg_search *search);

/* Drops the dependencies of earlier paths. -ENOMEM. */
MUST_USE int cdg_search_begin(struct cdg_search *search);

/*
 * Finds paths from every connected switch to the target, which has adapters: the fewest hops, then
 * the least weight[switch][port], as long as they close no cycle with the paths since
 * cdg_search_begin(). Among equal paths the present port of the LID stays. Only paths that start at
 * switches with adapters count; others carry management traffic only.
 */
void cdg_search_run(struct cdg_search *search, uint32_t *const *weight,
		    const uint32_t *adapter_count, uint32_t target, uint16_t lid);
/* For a target without adapters: any shortest paths. */
void cdg_search_run_unchecked(struct cdg_search *search, uint32_t target);

#endif
