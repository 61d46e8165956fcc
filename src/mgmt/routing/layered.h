/* SPDX-License-Identifier: Apache-2.0 */
/* Min-hop routes for any graph, free of credit loops by virtual lanes: the way of LASH. */
#ifndef SOFTIB_MGMT_ROUTING_LAYERED_H
#define SOFTIB_MGMT_ROUTING_LAYERED_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/*
 * Each pair of switches with adapters gets the lowest lane on which the paths between their LIDs,
 * both ways, close no circle with those of the pairs before; its number is their SL. -EOPNOTSUPP:
 * the lanes in the hints are not enough.
 */
MUST_USE int layered_route(struct routing_graph *graph, const struct routing_hints *hints);

#endif
