/* SPDX-License-Identifier: Apache-2.0 */
/* Min-hop routes for any graph, free of credit loops by several VLs, as LASH does (management 3.8,
 * 3.9). */
#ifndef SOFTIB_MGMT_ROUTING_LAYERED_H
#define SOFTIB_MGMT_ROUTING_LAYERED_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* Each pair of switches with adapters gets the lowest VL on which the paths between their LIDs, in
 * both directions, close no cycle with those of earlier pairs. The number of the VL is their SL.
 * -EOPNOTSUPP: the hints have too few VLs. */
MUST_USE int layered_route(struct routing_graph *graph, const struct routing_hints *hints);

enum layered_pairs {
	LAYERED_PAIRS_WITH_ADAPTERS, /* at one of the two switches, or at both */
	LAYERED_PAIRS_OF_ADAPTERS,   /* at both; paths to and from other switches have SL 0 */
};

/* Assigns VLs to tables that another engine made. */
MUST_USE int layered_assign(struct routing_graph *graph, enum layered_pairs pairs,
			    unsigned lane_count);

#endif
