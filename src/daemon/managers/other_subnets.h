/* SPDX-License-Identifier: Apache-2.0 */
/* Managers of the subnets after the first: a fabric with routers has one in each subnet
 * (fabric/topology/subnets.h). */
#ifndef SOFTIB_DAEMON_MANAGERS_OTHER_SUBNETS_H
#define SOFTIB_DAEMON_MANAGERS_OTHER_SUBNETS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/managers/sa_runner.h"
#include "daemon/managers/sm_runner.h"

struct port;

struct other_subnet {
	struct sm_runner sm;
	struct sa_runner sa;
};

struct other_subnets {
	struct other_subnet *subnets;
	uint32_t count;
};

/* Starts a manager and its SA on the first adapter port of each subnet but that of `first`. */
MUST_USE int other_subnets_start(struct other_subnets *others, struct mad_dispatch *dispatch,
				 const struct sm_settings *settings, const struct port *first);
void other_subnets_stop(struct other_subnets *others);

/* Sends the MADs that are due. Returns whether there were any. */
bool other_subnets_run(struct other_subnets *others, time_ns now);
time_ns other_subnets_deadline(const struct other_subnets *others);

#endif
