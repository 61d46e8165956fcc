/* SPDX-License-Identifier: Apache-2.0 */
/* The flow control watchdog (vol 1, chapter 7; transport 8.4). */
#include "fabric/flow_watchdog.h"

#include "fabric/link_faults.h"
#include "fabric/movement.h"
#include "net/link/detail_counters.h"
#include "net/link/lane_credits.h"

/* 400,000 symbols of the slowest link, 4 ns each; faster links use the same time (transport
 * 8.4). */
#define WATCHDOG_TIMEOUT MICROSECONDS(1600)

void flow_watchdog_stop(struct fabric *fabric, struct link_faults *faults)
{
	struct port *output = faults->output;

	timer_queue_cancel(&fabric->faults.watchdogs, &faults->watchdog);
	if (!output->flow_control_is_lost)
		return;
	port_flow_control_find(output);
	output->peer->errors.watchdogs = 0;
	if (port_carries_management(output) && port_credits_renew(output))
		fabric_wake(fabric, output->peer);
}

void flow_watchdog_watch(struct fabric *fabric, struct link_faults *faults, time_ns now)
{
	if (!faults->judge.settings.loses_flow_control) {
		flow_watchdog_stop(fabric, faults);
		return;
	}
	port_flow_control_lose(faults->output);
	timer_queue_arm(&fabric->faults.watchdogs, &faults->watchdog, now + WATCHDOG_TIMEOUT);
}

/* Training gives both sides their initial credits. */
static void expire(struct fabric *fabric, struct link_faults *faults)
{
	struct port *output = faults->output;
	struct port *waiting = output->peer;

	if (!port_carries_management(output))
		return;

	enum link_error_action action = port_note_watchdog(waiting);

	port_count_update_errors(waiting, port_data_vl_count(waiting));
	if (action == LINK_ERROR_WATCHDOG && port_credits_renew(output))
		fabric_wake(fabric, waiting);
	fabric_link_error(fabric, waiting, action);
}

void flow_watchdogs_run(struct fabric *fabric, time_ns now)
{
	struct timer *timer;

	while ((timer = timer_queue_pop(&fabric->faults.watchdogs, now))) {
		struct link_faults *faults = container_of(timer, struct link_faults, watchdog);

		timer_queue_arm(&fabric->faults.watchdogs, timer, now + WATCHDOG_TIMEOUT);
		expire(fabric, faults);
	}
}
