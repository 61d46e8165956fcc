/* SPDX-License-Identifier: Apache-2.0 */
/* Min-hop routes after links went or came: only what uses them changes. */
#ifndef SOFTIB_MGMT_ROUTING_MINHOP_REPAIR_H
#define SOFTIB_MGMT_ROUTING_MINHOP_REPAIR_H

#include "mgmt/routing/engine.h"

/*
 * The tables are those of min-hop routing on the graph as it was before. Entries that led over a
 * link that is gone get the least loaded of the other shortest ways; where there is none the
 * destination's switch is routed anew. A link that came gets its share of what its two switches
 * send that way, and what it makes shorter is routed anew. -ENOMEM; -EAGAIN: too much changed,
 * route everything.
 */
MUST_USE int minhop_repair(struct routing_graph *graph, const struct routing_hints *hints,
			   const struct routing_change *change);

#endif
