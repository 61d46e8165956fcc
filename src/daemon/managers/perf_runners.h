/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in performance managers, one per subnet. They take no memory and send nothing before
 * somebody asks for them. */
#ifndef SOFTIB_DAEMON_MANAGERS_PERF_RUNNERS_H
#define SOFTIB_DAEMON_MANAGERS_PERF_RUNNERS_H

#include "daemon/managers/perf_runner.h"

struct perf_runners {
	struct perf_runner *runners; /* do not move: the dispatcher knows their clients */
	const struct perf_manager **managers;
	uint32_t count; /* 0: not started */
};

/* Starts a manager on each of these ports. interval: between two sweeps; 0: only when asked. */
MUST_USE int perf_runners_start(struct perf_runners *runners, struct mad_dispatch *dispatch,
				struct port *const ports[], uint32_t port_count, time_ns interval);
void perf_runners_stop(struct perf_runners *runners);

/* Sends the MADs that are due. Returns whether there were any. */
bool perf_runners_run(struct perf_runners *runners, time_ns now);
time_ns perf_runners_deadline(const struct perf_runners *runners);

#endif
