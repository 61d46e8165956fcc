/* SPDX-License-Identifier: Apache-2.0 */
/* Up/down routing: no packet goes up again once it went down, so that none waits in a circle. */
#ifndef SOFTIB_MGMT_ROUTING_UPDOWN_H
#define SOFTIB_MGMT_ROUTING_UPDOWN_H

#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/*
 * Ranks come from the roots in the hints, else from roots that it finds: the switches without
 * adapters from which all adapters are equally far, else the one switch in the middle. -EOPNOTSUPP:
 * some adapters would not reach each other.
 */
MUST_USE int updown_route(struct routing_graph *graph, const struct routing_hints *hints);
/* The same upside down: first away from the roots, then towards them. For graphs whose adapters are
 * at the top; others are refused. */
MUST_USE int downup_route(struct routing_graph *graph, const struct routing_hints *hints);

/* After links went or came, with the ranks there were: see repair_routes(). */
MUST_USE int updown_repair(struct routing_graph *graph, const struct routing_hints *hints,
			   const struct routing_change *change);

struct destination_groups;
struct ranks;

/* The same with ranks that somebody else made. They are kept in the graph. */
MUST_USE int updown_route_ranked(struct routing_graph *graph,
				 const struct destination_groups *groups,
				 const struct ranks *ranks);

#endif
