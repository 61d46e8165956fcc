/* SPDX-License-Identifier: Apache-2.0 */
/* Dimension-order routing (dor) for meshes, tori and hypercubes (management 3.8). */
#ifndef SOFTIB_MGMT_ROUTING_DIMENSION_ORDER_H
#define SOFTIB_MGMT_ROUTING_DIMENSION_ORDER_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/*
 * Coordinates come from the cabling: a port number means the same direction at every switch. The
 * lowest port's dimension is corrected first. In a dimension that is a ring, packets go in the
 * shorter direction. Packets that pass its last link use VL 1 there, the others VL 0; the bits of
 * the SL tell in which dimensions a path does so. -EOPNOTSUPP: no such cabling, a link is missing,
 * or a ring with only one VL.
 */
MUST_USE int dimension_order_route(struct routing_graph *graph, const struct routing_hints *hints);

#endif
