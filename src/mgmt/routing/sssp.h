/* SPDX-License-Identifier: Apache-2.0 */
/* Single-source shortest-path routing (sssp): shortest paths, balanced over the whole fabric
 * (management 3.8, 3.9). */
#ifndef SOFTIB_MGMT_ROUTING_SSSP_H
#define SOFTIB_MGMT_ROUTING_SSSP_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* Each LID gets the paths with the fewest hops, and of those the paths over links that the fewest
 * adapters use so far. The present port stays if it is as good. LIDs that can't be reached get
 * ROUTING_NO_PORT. -ENOMEM. */
MUST_USE int sssp_route(struct routing_graph *graph, const struct routing_hints *hints);

#endif
