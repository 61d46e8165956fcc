/* SPDX-License-Identifier: Apache-2.0 */
/* Managers of the subnets beyond the first: a fabric with routers has one in each
 * (fabric/topology/subnets.h). */
#ifndef SOFTIB_DAEMON_OTHER_SUBNETS_H
#define SOFTIB_DAEMON_OTHER_SUBNETS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/sa_runner.h"
#include "daemon/sm_runner.h"

struct daemon;
struct fabric;
struct port;

struct other_subnet {
	struct sm_runner sm;
	struct sa_runner sa;
};

struct other_subnets {
	struct other_subnet *subnets;
	uint32_t count;
};

/* The GID prefix of the subnet of this adapter port: 0, which means link-local, without routers. */
uint64_t other_subnets_prefix(const struct fabric *fabric, const struct port *port);

/* A manager and its SA on the first adapter port of each subnet but that of `first`. */
MUST_USE int other_subnets_start(struct other_subnets *others, struct mad_dispatch *dispatch,
				 const struct sm_wishes *wishes, const struct port *first);
void other_subnets_stop(struct other_subnets *others);

/* The built-in manager of the subnet with this prefix, the first one's too; NULL: none, or it is
 * not the master. */
struct sm_runner *other_subnets_manager_of(struct daemon *daemon, uint64_t gid_prefix);

/* Sends what they have to say. Returns whether anybody said anything. */
bool other_subnets_run(struct other_subnets *others, time_ns now);
time_ns other_subnets_deadline(const struct other_subnets *others);

/* Ports of all subnets with a manager that could be Active and are not; of every port if there is
 * no manager. */
uint32_t other_subnets_not_active(const struct daemon *daemon);

#endif
