/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routing engines (management 3.8). */
#include "mgmt/routing/engines.h"

#include <string.h>
#include "mgmt/routing/dfsssp.h"
#include "mgmt/routing/dimension_order.h"
#include "mgmt/routing/fat_tree.h"
#include "mgmt/routing/layered.h"
#include "mgmt/routing/minhop.h"
#include "mgmt/routing/nue.h"
#include "mgmt/routing/random_routes.h"
#include "mgmt/routing/sssp.h"
#include "mgmt/routing/table_file.h"
#include "mgmt/routing/torus_2qos.h"
#include "mgmt/routing/updown.h"

static int route_minhop(struct routing_graph *graph, const struct routing_hints *hints)
{
	(void)hints;
	return minhop_route(graph);
}

const struct routing_engine routing_engines[] = {
	{.name = "minhop", .route = route_minhop, .reroute = minhop_repair},
	{.name = "updn",
	 .promises_no_credit_loops = true,
	 .route = updown_route,
	 .reroute = updown_repair},
	{.name = "dnup",
	 .promises_no_credit_loops = true,
	 .route = downup_route,
	 .reroute = updown_repair},
	{.name = "ftree",
	 .promises_no_credit_loops = true,
	 .route = fat_tree_route,
	 .reroute = fat_tree_repair},
	{.name = "dor", .promises_no_credit_loops = true, .route = dimension_order_route},
	{.name = "lash", .promises_no_credit_loops = true, .route = layered_route},
	{.name = "sssp", .route = sssp_route, .reroute = minhop_repair},
	{.name = "dfsssp", .promises_no_credit_loops = true, .route = dfsssp_route},
	{.name = "torus-2QoS", .promises_no_credit_loops = true, .route = torus_2qos_route},
	{.name = "nue", .promises_no_credit_loops = true, .route = nue_route},
	{.name = "random", .route = random_routes},
	{.name = "file", .route = table_file_route},
	{.name = NULL},
};

const struct routing_engine *routing_engine_find(const char *name)
{
	if (!name)
		return &routing_engines[0];
	for (const struct routing_engine *engine = routing_engines; engine->name; engine++) {
		if (strcmp(engine->name, name) == 0)
			return engine;
	}
	return NULL;
}
