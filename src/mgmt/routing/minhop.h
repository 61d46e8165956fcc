/* SPDX-License-Identifier: Apache-2.0 */
/* Min-hop routing with balancing (management 3.8, 3.9). */
#ifndef SOFTIB_MGMT_ROUTING_MINHOP_H
#define SOFTIB_MGMT_ROUTING_MINHOP_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"
#include "mgmt/routing/port_balance.h"

/* Fills every switch's table: the fewest hops, and among the ports with the fewest hops the one
 * with the fewest adapter LIDs so far. The present port stays if it has the fewest hops and at most
 * one LID more than the best. LIDs that can't be reached get ROUTING_NO_PORT. -ENOMEM. */
MUST_USE int minhop_route(struct routing_graph *graph);
/* As minhop_route(), with another choice among the ports with the fewest hops. */
MUST_USE int minhop_route_by(struct routing_graph *graph, port_chooser *choose);
/* Repairs the routes after links went or came: see repair_routes(). */
MUST_USE int minhop_repair(struct routing_graph *graph, const struct routing_hints *hints,
			   const struct routing_change *change);

#endif
