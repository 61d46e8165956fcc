/* SPDX-License-Identifier: Apache-2.0 */
/* The routes of a whole graph as an engine made them, saved while repairs change them. When lost
 * links return, entries return to the saved ones. So a graph that is whole again has exactly the
 * tables that it had before. */
#ifndef SOFTIB_MGMT_ROUTING_SAVED_ROUTES_H
#define SOFTIB_MGMT_ROUTING_SAVED_ROUTES_H

#include <stdbool.h>
#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/* Saves the present tables and links. -ENOMEM: nothing is saved. */
MUST_USE int saved_routes_save(struct routing_graph *graph);
bool saved_routes_exist(const struct routing_graph *graph);

/* Whether these links existed between the same ports when the routes were saved. */
bool saved_routes_have_links(const struct routing_graph *graph, const struct routing_link *links,
			     unsigned link_count);

/* Restores every entry whose whole saved path exists again. Other entries stay. Their destinations
 * are marked in ret_is_mixed[], by their index in the graph, because paths to them consist of saved
 * and repaired entries. */
void saved_routes_restore(struct routing_graph *graph, bool ret_is_mixed[]);

#endif
