/* SPDX-License-Identifier: Apache-2.0 */
/* Routing for fat trees: one top switch per LID, so that shift patterns meet no contention. */
#ifndef SOFTIB_MGMT_ROUTING_FAT_TREE_H
#define SOFTIB_MGMT_ROUTING_FAT_TREE_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/*
 * Each LID of an adapter gets one way down from one top switch, on the links that have the fewest
 * so far; all others go up towards that switch. -EOPNOTSUPP: not a tree whose adapters are all at
 * the bottom, with links only between neighbouring levels, in which all adapters reach each other.
 */
MUST_USE int fat_tree_route(struct routing_graph *graph, const struct routing_hints *hints);
/* After links went: see repair_routes(). When they come back every LID gets its own way again, that
 * of the whole tree; links that it did not have are -EAGAIN. */
MUST_USE int fat_tree_repair(struct routing_graph *graph, const struct routing_hints *hints,
			     const struct routing_change *change);

#endif
