/* SPDX-License-Identifier: Apache-2.0 */
/* The path from one port to another. */
#include "sim/paths.h"

#include <errno.h>
#include "fabric/routers.h"
#include "sim/sim.h"

enum { HOP_LIMIT = 64 };

int sim_path_find(struct sim *sim, const struct port *from, const struct port *to,
		  struct sim_path *ret_path)
{
	if (sim_manager_of(sim, from) == sim_manager_of(sim, to)) {
		*ret_path = (struct sim_path){.dlid = to->info.lid};
		return 0;
	}

	/* Without routers all subnets have the link-local prefix, which no router forwards. */
	const struct port *router =
		to->info.gid_prefix == from->info.gid_prefix
			? NULL
			: routers_towards(&sim->fabric, from, to->info.gid_prefix);

	if (!router)
		return -EHOSTUNREACH;
	*ret_path = (struct sim_path){
		.dlid = router->info.lid,
		.is_global = true,
		.hop_limit = HOP_LIMIT,
		.dgid = gid_from(to->info.gid_prefix, to->guid),
	};
	return 0;
}
