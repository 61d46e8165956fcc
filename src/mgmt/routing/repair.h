/* SPDX-License-Identifier: Apache-2.0 */
/* Repair of routes after links went or came: only entries that are affected change. */
#ifndef SOFTIB_MGMT_ROUTING_REPAIR_H
#define SOFTIB_MGMT_ROUTING_REPAIR_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

struct ranks;

/* How to repair the routes of an engine that takes the shortest paths that it allows. */
struct repair_rules {
	/* Paths go up first, then down only, and only down where possible. NULL: any path. */
	const struct ranks *ranks;
	/* Mends the entries of every switch for the destinations at this switch. -EAGAIN: not
	 * possible. */
	MUST_USE int (*mend_target)(void *context, uint32_t target);
	void *context;
};

/*
 * The tables are the engine's for the former graph. Entries that led over a lost link get the least
 * loaded of the other ports with equally long paths; without one, the destination's switch is
 * mended. A new link gets its share of the LIDs that its two switches send in that direction, and
 * switches whose paths it shortens are mended. If there are saved routes, entries return to them
 * instead. -ENOMEM; -EAGAIN: too much changed, route everything.
 */
MUST_USE int repair_routes(struct routing_graph *graph, const struct repair_rules *rules,
			   const struct routing_change *change);

#endif
