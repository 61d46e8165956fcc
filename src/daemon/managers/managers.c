/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in subnet managers and SAs of all subnets, started, run and stopped together. */
#include "daemon/managers/managers.h"

#include <errno.h>
#include <stdlib.h>
#include "daemon/managers/inactive_ports.h"
#include "mgmt/sm/sm.h"

int managers_start(struct managers *managers, struct mad_dispatch *dispatch,
		   const struct sm_settings *settings, const struct runtime_folder *folder)
{
	int error = 0;

	if (settings) {
		/* A fabric without adapters has no port for a manager, and needs none. */
		int sm_error = sm_runner_start(&managers->sm, dispatch, settings, folder);

		if (sm_error != -ENODEV)
			error = sm_error;
	}
	if (!error && managers->sm.sm)
		error = sa_runner_start(&managers->sa, dispatch, &managers->sm);
	if (!error && managers->sm.sm)
		error = other_subnets_start(&managers->others, dispatch, settings,
					    managers->sm.client.port);
	if (!error)
		error = router_groups_start(&managers->router_groups, dispatch);
	return error;
}

int managers_start_perf(struct managers *managers, struct mad_dispatch *dispatch, time_ns interval)
{
	uint32_t count = managers->others.count + 1;
	struct port **ports;
	int error;

	if (managers->perf.count)
		return 0;
	ports = calloc(count, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	ports[0] = managers->sm.sm ? managers->sm.client.port
				   : sm_runner_choose_port(dispatch->fabric);
	for (uint32_t i = 1; i < count; i++)
		ports[i] = managers->others.subnets[i - 1].sm.client.port;
	error = ports[0] ? perf_runners_start(&managers->perf, dispatch, ports, count, interval)
			 : -ENODEV;
	free(ports);
	return error;
}

void managers_stop_subnets(struct managers *managers)
{
	perf_runners_stop(&managers->perf);
	other_subnets_stop(&managers->others);
	sa_runner_stop(&managers->sa);
	sm_runner_stop(&managers->sm);
}

void managers_stop_routers(struct managers *managers)
{
	router_groups_stop(&managers->router_groups);
}

bool managers_run(struct managers *managers, time_ns now)
{
	bool is_busy = sm_runner_run(&managers->sm, now);

	is_busy |= sa_runner_run(&managers->sa, now);
	is_busy |= router_groups_run(&managers->router_groups, now);
	is_busy |= other_subnets_run(&managers->others, now);
	is_busy |= perf_runners_run(&managers->perf, now);
	return is_busy;
}

time_ns managers_deadline(const struct managers *managers)
{
	time_ns deadline = sm_runner_deadline(&managers->sm);

	deadline = time_earlier(deadline, sa_runner_deadline(&managers->sa));
	deadline = time_earlier(deadline, other_subnets_deadline(&managers->others));
	deadline = time_earlier(deadline, perf_runners_deadline(&managers->perf));
	return time_earlier(deadline, router_groups_deadline(&managers->router_groups));
}

static bool is_master_of(const struct sm_runner *runner, uint64_t gid_prefix)
{
	struct sm_status status;

	if (!runner->sm || runner->client.port->info.gid_prefix != gid_prefix)
		return false;
	sm_status(runner->sm, &status);
	return status.state == SM_MASTER;
}

struct sm_runner *managers_master_of(struct managers *managers, uint64_t gid_prefix)
{
	if (is_master_of(&managers->sm, gid_prefix))
		return &managers->sm;
	for (uint32_t index = 0; index < managers->others.count; index++)
		if (is_master_of(&managers->others.subnets[index].sm, gid_prefix))
			return &managers->others.subnets[index].sm;
	return NULL;
}

uint32_t managers_inactive_ports(const struct managers *managers, const struct fabric *fabric)
{
	uint32_t count =
		inactive_ports_count(fabric, managers->sm.sm ? managers->sm.client.port : NULL);

	for (uint32_t index = 0; index < managers->others.count; index++)
		count += inactive_ports_count(fabric,
					      managers->others.subnets[index].sm.client.port);
	return count;
}
