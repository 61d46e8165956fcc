/* SPDX-License-Identifier: Apache-2.0 */
/* Managers of the subnets after the first. */
#include "daemon/managers/other_subnets.h"

#include <errno.h>
#include <stdlib.h>
#include "fabric/fabric.h"
#include "fabric/topology/subnets.h"

static int start_one(struct other_subnets *others, struct mad_dispatch *dispatch,
		     const struct sm_settings *settings, struct port *port, uint64_t prefix)
{
	struct other_subnet *subnet = &others->subnets[others->count];
	int error = sm_runner_start_on(&subnet->sm, dispatch, settings, port, prefix);

	if (error)
		return error;
	others->count++;
	return sa_runner_start(&subnet->sa, dispatch, &subnet->sm);
}

int other_subnets_start(struct other_subnets *others, struct mad_dispatch *dispatch,
			const struct sm_settings *settings, const struct port *first)
{
	const struct fabric *fabric = dispatch->fabric;
	struct subnet_map map;
	int error = subnet_map_make(fabric, &map);

	if (error)
		return error;
	others->subnets = calloc(map.subnet_count + 1, sizeof(*others->subnets));
	if (!others->subnets)
		error = -ENOMEM;
	for (uint32_t subnet = 0; subnet < map.subnet_count && !error; subnet++) {
		struct port *port = map.first_ports[subnet];

		/* A two-port adapter may be the first of two subnets, with a port in each. */
		if (port && port != first)
			error = start_one(others, dispatch, settings, port,
					  fabric->routers.count ? SUBNET_PREFIX(subnet) : 0);
	}
	subnet_map_release(&map);
	if (error)
		other_subnets_stop(others);
	return error;
}

void other_subnets_stop(struct other_subnets *others)
{
	for (uint32_t index = 0; index < others->count; index++) {
		sa_runner_stop(&others->subnets[index].sa);
		sm_runner_stop(&others->subnets[index].sm);
	}
	free(others->subnets);
	*others = (struct other_subnets){0};
}

bool other_subnets_run(struct other_subnets *others, time_ns now)
{
	bool is_busy = false;

	for (uint32_t index = 0; index < others->count; index++) {
		is_busy |= sm_runner_run(&others->subnets[index].sm, now);
		is_busy |= sa_runner_run(&others->subnets[index].sa, now);
	}
	return is_busy;
}

time_ns other_subnets_deadline(const struct other_subnets *others)
{
	time_ns deadline = TIME_NEVER;

	for (uint32_t index = 0; index < others->count; index++) {
		deadline = time_earlier(deadline, sm_runner_deadline(&others->subnets[index].sm));
		deadline = time_earlier(deadline, sa_runner_deadline(&others->subnets[index].sa));
	}
	return deadline;
}
