/* SPDX-License-Identifier: Apache-2.0 */
/* Random routing (random): any of the shortest paths for each LID. */
#ifndef SOFTIB_MGMT_ROUTING_RANDOM_ROUTES_H
#define SOFTIB_MGMT_ROUTING_RANDOM_ROUTES_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* The choice depends only on the switch's GUID, the port and the LID, so it is the same in every
 * run. LIDs that can't be reached get ROUTING_NO_PORT. -ENOMEM. */
MUST_USE int random_routes(struct routing_graph *graph, const struct routing_hints *hints);

#endif
