/* SPDX-License-Identifier: Apache-2.0 */
/* Dimension-order routing for tori that lost links or a switch, with two levels of quality of
 * service (torus-2QoS). */
#ifndef SOFTIB_MGMT_ROUTING_TORUS_2QOS_H
#define SOFTIB_MGMT_ROUTING_TORUS_2QOS_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/*
 * For tori and meshes of up to three dimensions, see torus_find(). Rings take two lanes, a missing
 * switch takes four, and eight give two QoS levels: SL bit 3, which is left to policy. -EOPNOTSUPP:
 * no such cabling, too few lanes, or failures that can't be routed around without credit loops.
 */
MUST_USE int torus_2qos_route(struct routing_graph *graph, const struct routing_hints *hints);

#endif
