/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in subnet managers and SAs, one of each per subnet, the performance manager, and the
 * multicast memberships of routers. */
#ifndef SOFTIB_DAEMON_MANAGERS_MANAGERS_H
#define SOFTIB_DAEMON_MANAGERS_MANAGERS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/managers/other_subnets.h"
#include "daemon/managers/perf_runners.h"
#include "daemon/managers/router_groups.h"
#include "daemon/managers/sa_runner.h"
#include "daemon/managers/sm_runner.h"

struct managers {
	struct sm_runner sm; /* of the first subnet */
	struct sa_runner sa;
	struct other_subnets others;
	struct router_groups router_groups;
	struct perf_runners perf; /* not started until somebody asks */
};

/* NULL settings: no subnet manager and no SA. Reports its own errors. */
MUST_USE int managers_start(struct managers *managers, struct mad_dispatch *dispatch,
			    const struct sm_settings *settings,
			    const struct runtime_folder *folder);
/* The performance managers: on the ports of the subnet managers, or where one would be on a fabric
 * without. Does nothing if they run already. -ENODEV: the fabric has no port for one. */
MUST_USE int managers_start_perf(struct managers *managers, struct mad_dispatch *dispatch,
				 time_ns interval);
void managers_stop_subnets(struct managers *managers);
/* After programs have closed their ports: they may have ports of routers open. */
void managers_stop_routers(struct managers *managers);

/* Sends the MADs that are due. Returns whether there were any. */
bool managers_run(struct managers *managers, time_ns now);
time_ns managers_deadline(const struct managers *managers);

/* The built-in manager that is the master of the subnet with this GID prefix; NULL: none is. */
struct sm_runner *managers_master_of(struct managers *managers, uint64_t gid_prefix);

/* Ports of the subnets with a built-in manager that could be Active and are not; of the whole
 * fabric if there is no manager. */
uint32_t managers_inactive_ports(const struct managers *managers, const struct fabric *fabric);

#endif
