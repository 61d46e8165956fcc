/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlock-free single-source shortest-path routing (dfsssp): sssp on any graph, with lanes. */
#ifndef SOFTIB_MGMT_ROUTING_DFSSSP_H
#define SOFTIB_MGMT_ROUTING_DFSSSP_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/*
 * Routes as sssp_route(). Each pair of switches with adapters gets a lane, whose number is the SL
 * of the paths between their adapters, both ways. -EOPNOTSUPP: the lanes in the hints are not
 * enough.
 */
MUST_USE int dfsssp_route(struct routing_graph *graph, const struct routing_hints *hints);

#endif
