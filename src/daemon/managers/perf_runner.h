/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in performance manager of one subnet: a client of QP1 on the port of the built-in
 * subnet manager. */
#ifndef SOFTIB_DAEMON_MANAGERS_PERF_RUNNER_H
#define SOFTIB_DAEMON_MANAGERS_PERF_RUNNER_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/mad/mad_dispatch.h"
#include "mgmt/perf/perf_manager.h"

enum { PERF_RUNNER_BATCH = 32 };

struct perf_runner {
	struct mad_dispatch *dispatch;
	struct mad_client client;
	struct perf_manager manager;
	struct mad_message unsent[PERF_RUNNER_BATCH]; /* MADs that found no room in the fabric */
	unsigned unsent_first, unsent_count;
};

/* interval: between two sweeps; 0: only when asked. */
MUST_USE int perf_runner_start(struct perf_runner *runner, struct mad_dispatch *dispatch,
			       struct port *port, time_ns interval);
void perf_runner_stop(struct perf_runner *runner);

/* Sends the MADs that are due, at most so many. Returns whether there were any. */
bool perf_runner_run(struct perf_runner *runner, time_ns now, unsigned mads_max);
time_ns perf_runner_deadline(const struct perf_runner *runner);

#endif
