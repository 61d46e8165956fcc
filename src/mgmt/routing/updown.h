/* SPDX-License-Identifier: Apache-2.0 */
/* Up/down routing (updn): no packet goes up after it went down, so there are no credit loops
 * (management 3.8, 3.9). */
#ifndef SOFTIB_MGMT_ROUTING_UPDOWN_H
#define SOFTIB_MGMT_ROUTING_UPDOWN_H

#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* Ranks come from the roots in the hints, else from roots that the engine finds: the switches
 * without adapters that are equally far from all adapters, else the one switch in the middle.
 * -EOPNOTSUPP: some adapters would not reach each other. */
MUST_USE int updown_route(struct routing_graph *graph, const struct routing_hints *hints);
/* The reverse (dnup): first away from the roots, then towards them. For graphs whose adapters are
 * at the top; other graphs are refused. */
MUST_USE int downup_route(struct routing_graph *graph, const struct routing_hints *hints);

/* Repairs the routes after links went or came, with the ranks of the graph: see repair_routes(). */
MUST_USE int updown_repair(struct routing_graph *graph, const struct routing_hints *hints,
			   const struct routing_change *change);

struct destination_groups;
struct ranks;

/* As updown_route(), with given ranks, which are saved in the graph. */
MUST_USE int updown_route_ranked(struct routing_graph *graph,
				 const struct destination_groups *groups,
				 const struct ranks *ranks);

#endif
