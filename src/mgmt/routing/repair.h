/* SPDX-License-Identifier: Apache-2.0 */
/* Routes after links went or came: only what uses them changes. */
#ifndef SOFTIB_MGMT_ROUTING_REPAIR_H
#define SOFTIB_MGMT_ROUTING_REPAIR_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

struct ranks;

/* How an engine whose ways are the shortest ones that it allows wants them mended. */
struct repair_rules {
	/* Ways go up first, then down only, and down alone where that is possible. NULL: any way.
	 */
	const struct ranks *ranks;
	/* Mends the entries of every switch for all that is attached to this one. -EAGAIN: can't.
	 */
	MUST_USE int (*mend_target)(void *context, uint32_t target);
	void *context;
};

/*
 * The tables are the engine's on the graph as it was before. Entries that led over a link that is
 * gone get the least loaded of the other ways that are as long; where there is none the
 * destination's switch is mended. A link that came gets its share of what its two switches send
 * that way, and switches to which it makes ways shorter are mended; where home routes are kept,
 * entries go back to those instead. -ENOMEM; -EAGAIN: too much
 * changed, route everything.
 */
MUST_USE int repair_routes(struct routing_graph *graph, const struct repair_rules *rules,
			   const struct routing_change *change);

#endif
