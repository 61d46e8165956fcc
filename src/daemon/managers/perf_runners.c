/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in performance managers of all subnets. */
#include "daemon/managers/perf_runners.h"

#include <errno.h>
#include <stdlib.h>

/* Of all of them together: programs' packets wait while the managers have their turn. */
enum { MADS_PER_TURN = 64 };

int perf_runners_start(struct perf_runners *runners, struct mad_dispatch *dispatch,
		       struct port *const ports[], uint32_t port_count, time_ns interval)
{
	int error = 0;

	runners->runners = calloc(port_count, sizeof(*runners->runners));
	runners->managers = calloc(port_count, sizeof(struct perf_manager *));
	if (!runners->runners || !runners->managers)
		error = -ENOMEM;
	for (uint32_t i = 0; i < port_count && !error; i++) {
		error = perf_runner_start(&runners->runners[i], dispatch, ports[i], interval);
		if (error)
			break;
		runners->managers[i] = &runners->runners[i].manager;
		runners->count++;
	}
	if (error)
		perf_runners_stop(runners);
	return error;
}

void perf_runners_stop(struct perf_runners *runners)
{
	for (uint32_t i = 0; i < runners->count; i++)
		perf_runner_stop(&runners->runners[i]);
	free(runners->runners);
	free(runners->managers);
	*runners = (struct perf_runners){0};
}

bool perf_runners_run(struct perf_runners *runners, time_ns now)
{
	bool is_busy = false;

	for (uint32_t i = 0; i < runners->count; i++)
		is_busy |= perf_runner_run(&runners->runners[i], now,
					   (MADS_PER_TURN + runners->count - 1) / runners->count);
	return is_busy;
}

time_ns perf_runners_deadline(const struct perf_runners *runners)
{
	time_ns deadline = TIME_NEVER;

	for (uint32_t i = 0; i < runners->count; i++)
		deadline = time_earlier(deadline, perf_runner_deadline(&runners->runners[i]));
	return deadline;
}
