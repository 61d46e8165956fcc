/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routes of a whole graph as an engine made them, kept while repairs change them: when the
 * links that were lost come back, entries go home. So a graph that is whole again has the very
 * tables that it had before.
 */
#ifndef SOFTIB_MGMT_ROUTING_SAVED_ROUTES_H
#define SOFTIB_MGMT_ROUTING_SAVED_ROUTES_H

#include <stdbool.h>
#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* The tables and links as they are now. -ENOMEM: none are kept. */
MUST_USE int saved_routes_save(struct routing_graph *graph);
bool saved_routes_exist(const struct routing_graph *graph);

/* Whether these links were there, between the same ports. */
bool saved_routes_have_links(const struct routing_graph *graph, const struct routing_link *links,
			     unsigned link_count);

/*
 * Every entry whose whole way home is there again goes back to what it was. Others stay, and their
 * destinations, by their index in the graph, are told: ways to them are of two makings.
 */
void saved_routes_restore(struct routing_graph *graph, bool ret_is_mixed[]);

#endif
