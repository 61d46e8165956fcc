/* SPDX-License-Identifier: Apache-2.0 */
/* Detects that virtual time stands still, and names the host, port or manager that causes it. */
#include "sim/time_watchdog.h"

#include <stdarg.h>
#include <stdio.h>
#include "fabric/topology/port_names.h"
#include "sim/sim.h"
#include "sim/sim_manager.h"

/* Without pacing packets take no time, so a port may pass many at one instant: while a subnet comes
 * up, or for all requests that a program has posted. */
enum { STEPS_MIN = 1 << 21, STEPS_PER_PORT = 1 << 12 };

static void PRINTF_LIKE(3, 4) blame(struct sim *sim, time_ns deadline, const char *format, ...)
{
	char *reason = sim->watchdog.reason;
	char who[PORT_NAME_BYTES + 32];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(who, sizeof(who), format, arguments);
	va_end(arguments);
	if (deadline <= sim->now)
		snprintf(
			reason, TIME_WATCHDOG_REASON_BYTES,
			"virtual time stands still at %llu ns: the deadline of %s stays at %llu ns",
			(unsigned long long)sim->now, who, (unsigned long long)deadline);
	else
		snprintf(reason, TIME_WATCHDOG_REASON_BYTES,
			 "virtual time stands still at %llu ns: %s always has work",
			 (unsigned long long)sim->now, who);
}

static bool blame_manager(struct sim *sim, time_ns now)
{
	char name[PORT_NAME_BYTES];

	for (uint32_t index = 0; index < sim->manager_count; index++) {
		const struct sim_manager *manager = &sim->managers[index];
		time_ns deadline = sm_deadline(manager->sm);

		if (deadline > now && !manager->has_received)
			continue;
		port_name_text(manager->port, name);
		blame(sim, deadline, "the subnet manager on %s", name);
		return true;
	}
	return false;
}

static bool blame_host(struct sim *sim, time_ns now)
{
	if (timer_queue_deadline(&sim->host_timers) <= now) {
		const struct timer *timer = sim->host_timers.heap[1];
		const struct sim_host *host = container_of(timer, struct sim_host, timer);

		blame(sim, timer_queue_deadline(&sim->host_timers), "host %s", host->node->host);
		return true;
	}
	if (list_is_empty(&sim->awake))
		return false;
	blame(sim, TIME_NEVER, "host %s",
	      container_of(sim->awake.next, struct sim_host, awake_link)->node->host);
	return true;
}

static bool blame_fabric(struct sim *sim, time_ns now)
{
	const struct fabric *fabric = &sim->fabric;
	time_ns deadline = fabric_deadline(fabric);
	char name[PORT_NAME_BYTES];

	if (fabric_has_work(fabric)) {
		port_name_text(fabric->work.ports[fabric->work.head & fabric->work.mask], name);
		blame(sim, TIME_NEVER, "port %s", name);
		return true;
	}
	if (deadline > now)
		return false;
	blame(sim, deadline, "the links of the fabric");
	return true;
}

static void find_cause(struct sim *sim)
{
	time_ns now = sim->now;
	time_ns deadline =
		sim->programs.deadline ? sim->programs.deadline(sim->programs.context) : TIME_NEVER;

	if (deadline <= now)
		blame(sim, deadline, "the programs");
	else if (!blame_manager(sim, now) && !blame_host(sim, now) && !blame_fabric(sim, now))
		blame(sim, TIME_NEVER, "a program");
}

bool time_watchdog_step(struct sim *sim)
{
	struct time_watchdog *watchdog = &sim->watchdog;
	uint64_t step_max = STEPS_MIN + (uint64_t)STEPS_PER_PORT * sim->fabric.port_total;

	if (time_watchdog_has_tripped(watchdog))
		return false;
	if (++watchdog->step_count <= step_max)
		return true;
	find_cause(sim);
	return false;
}
