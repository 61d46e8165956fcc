/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlock-free single-source shortest-path routing (dfsssp): sssp on any graph, with several VLs
 * (management 3.8). */
#ifndef SOFTIB_MGMT_ROUTING_DFSSSP_H
#define SOFTIB_MGMT_ROUTING_DFSSSP_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* Routes as sssp_route(). Each pair of switches with adapters gets a VL, whose number is the SL of
 * the paths between their adapters, in both directions. -EOPNOTSUPP: the hints have too few VLs. */
MUST_USE int dfsssp_route(struct routing_graph *graph, const struct routing_hints *hints);

#endif
