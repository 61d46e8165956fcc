/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in performance manager: a client of QP1 on the port of the built-in subnet manager. It
 * takes no memory and sends nothing before somebody asks for it. */
#ifndef SOFTIB_DAEMON_MANAGERS_PERF_RUNNER_H
#define SOFTIB_DAEMON_MANAGERS_PERF_RUNNER_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/mad/mad_dispatch.h"
#include "mgmt/perf/perf_manager.h"

enum { PERF_RUNNER_BATCH = 32 };

struct perf_runner {
	bool is_started;
	struct mad_dispatch *dispatch;
	struct mad_client client;
	struct perf_manager manager;
	struct mad_message unsent[PERF_RUNNER_BATCH]; /* MADs that found no room in the fabric */
	unsigned unsent_first, unsent_count;
};

/* interval: between two sweeps; 0: only when asked. Does nothing if it runs already. -ENODEV: the
 * fabric has no port for it. */
MUST_USE int perf_runner_start(struct perf_runner *runner, struct mad_dispatch *dispatch,
			       time_ns interval);
void perf_runner_stop(struct perf_runner *runner);

/* Sends the MADs that are due. Returns whether there were any. */
bool perf_runner_run(struct perf_runner *runner, time_ns now);
time_ns perf_runner_deadline(const struct perf_runner *runner);

#endif
