/* SPDX-License-Identifier: Apache-2.0 */
/* Routing for fat trees (ftree): one top switch per LID, so that shift patterns have no contention
 * (management 3.8, 3.9). */
#ifndef SOFTIB_MGMT_ROUTING_FAT_TREE_H
#define SOFTIB_MGMT_ROUTING_FAT_TREE_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* Each LID of an adapter gets one route down from one top switch, over the links with the fewest
 * LIDs so far. All other switches go up towards that switch. -EOPNOTSUPP: not a tree in which all
 * adapters are at the bottom, links connect neighboring levels only, and all adapters reach each
 * other. */
MUST_USE int fat_tree_route(struct routing_graph *graph, const struct routing_hints *hints);
/* Repairs the routes after links went, see repair_routes(). When the links return, every LID gets
 * its route of the whole tree again. -EAGAIN: links that the tree did not have. */
MUST_USE int fat_tree_repair(struct routing_graph *graph, const struct routing_hints *hints,
			     const struct routing_change *change);

#endif
