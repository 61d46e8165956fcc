/* SPDX-License-Identifier: Apache-2.0 */
/* Random routing (random): for each LID any of the shortest paths. */
#ifndef SOFTIB_MGMT_ROUTING_RANDOM_ROUTES_H
#define SOFTIB_MGMT_ROUTING_RANDOM_ROUTES_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* The choice depends on the switch's GUID, the port and the LID only: the same in every run. LIDs
 * that can't be reached get ROUTING_NO_PORT. -ENOMEM. */
MUST_USE int random_routes(struct routing_graph *graph, const struct routing_hints *hints);

#endif
