/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a scenario: builds the fabric, brings up the subnet, runs the flows and events, and
 * keeps the results for the report. */
#ifndef SOFTIB_SIM_EXPERIMENT_H
#define SOFTIB_SIM_EXPERIMENT_H

#include "base/attributes.h"
#include "base/time.h"
#include "sim/scenario.h"
#include "sim/sim.h"
#include "sim/traffic.h"

struct experiment {
	const struct scenario *scenario;
	struct sim sim;
	struct traffic traffic;
	time_ns came_up_at; /* when the subnet was up; flows and events count from then */
	time_ns began_at, ended_at;
};

/* text: the topology file that the scenario names; NULL: it names a generator. -EINVAL with line
 * and reason, also when the subnet does not come up or an invariant is violated; -ETIME when
 * virtual time stands still (sim/time_watchdog.h). */
MUST_USE int experiment_run(struct experiment *experiment, const struct scenario *scenario,
			    const char *topology_text, struct scenario_error *ret_error);
void experiment_release(struct experiment *experiment);

#endif
