/* SPDX-License-Identifier: Apache-2.0 */
/* Dimension-order routing for tori that lost links or a switch, with two QoS levels (torus-2QoS;
 * management 3.8). */
#ifndef SOFTIB_MGMT_ROUTING_TORUS_2QOS_H
#define SOFTIB_MGMT_ROUTING_TORUS_2QOS_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* For tori and meshes of up to three dimensions, see torus_find(). Rings take two VLs, a missing
 * switch takes four, and eight give two QoS levels by SL bit 3, which policy sets. -EOPNOTSUPP: no
 * such cabling, too few VLs, or failures that can't be routed around without credit loops. */
MUST_USE int torus_2qos_route(struct routing_graph *graph, const struct routing_hints *hints);

#endif
