/* SPDX-License-Identifier: Apache-2.0 */
/* softibd's loop: one turn runs every part, then epoll waits for descriptors. */
#include "daemon/daemon.h"

#include <sched.h>
#include "daemon/client_lifetime.h"
#include "daemon/core/flow_table.h"
#include "daemon/packets/delivery.h"
#include "daemon/packets/flow_resolver.h"
#include "daemon/packets/ingress.h"
#include "daemon/packets/packet_capture.h"
#include "daemon/packets/port_updates.h"
#include "daemon/server.h"

enum {
	FRAMES_PER_TURN = 4096,
	TURNS_PER_EPOLL = 16, /* between two polls of the descriptors, while rings are busy */
	STALLED_WAIT_MS = 1,
	POLLS_PER_YIELD_MAX = 16, /* of the rings */
	TURNS_PER_MANAGERS = 8,
};

/* An ephemeral fabric ends UNUSED_BEFORE_END after its last user, or UNUSED_AT_START after the
 * start if it never had one. */
#define UNUSED_BEFORE_END SECONDS(1)
#define UNUSED_AT_START	  SECONDS(10)

/* sched_yield() takes 0.3 us when there is no other process to run, a few microseconds when other
 * programs poll, and a time slice or more when one computes. */
#define YIELD_SERVED MICROSECONDS(1)
#define YIELD_LOST   MILLISECONDS(2)
#define YIELD_PAUSE  MILLISECONDS(20)

static time_ns end_of_use(const struct daemon *daemon)
{
	if (!daemon->options.is_ephemeral || daemon->core.clients.user_count)
		return TIME_NEVER;
	return daemon->core.clients.unused_since +
	       (daemon->core.clients.was_used ? UNUSED_BEFORE_END : UNUSED_AT_START);
}

/* Lateness is reported for the last one to two seconds. */
static void watch_lateness(struct daemon *daemon)
{
	if (!daemon->core.fabric.is_paced ||
	    daemon->core.loop.now < daemon->lateness.since + SECONDS(1))
		return;
	daemon->lateness.before_ns = daemon->core.fabric.late_ns_max;
	daemon->core.fabric.late_ns_max = 0;
	daemon->lateness.since = daemon->core.loop.now;
}

static time_ns next_deadline(const struct daemon *daemon)
{
	time_ns deadline = fabric_deadline(&daemon->core.fabric);

	deadline = time_earlier(deadline, managers_deadline(&daemon->managers));
	deadline = time_earlier(deadline, delivery_deadline(&daemon->packets));
	deadline = time_earlier(deadline, daemon->core.grants_due);
	deadline = time_earlier(deadline, cm_fabric_deadline(&daemon->cm));
	deadline = time_earlier(deadline, mad_files_deadline(&daemon->mad_files));
	deadline = time_earlier(deadline, snmp_service_deadline(&daemon->snmp));
	deadline = time_earlier(deadline, server_deadline(daemon));
	deadline = time_earlier(deadline,
				fair_shares_deadline(&daemon->core.shares, daemon->core.loop.now));
	deadline = time_earlier(deadline, counter_files_deadline(&daemon->counter_files,
								 &daemon->core, &daemon->sysfs));
	return time_earlier(deadline, end_of_use(daemon));
}

/* While programs send packets and nothing else happens, managers and agents do not run at every
 * turn. */
static bool managers_are_due(struct daemon *daemon)
{
	if (!daemon->core.managers_have_news && !list_is_empty(&daemon->core.clients.awake) &&
	    daemon->core.loop.now < daemon->schedule.due_at &&
	    ++daemon->schedule.turns_without < TURNS_PER_MANAGERS)
		return false;
	daemon->core.managers_have_news = false;
	daemon->schedule.turns_without = 0;
	return true;
}

static bool turn(struct daemon *daemon)
{
	fair_shares_resume(&daemon->core.shares, daemon->core.loop.now);
	ingress_read(&daemon->packets);
	delivery_expire(&daemon->packets);
	watch_lateness(daemon);

	bool has_managers = managers_are_due(daemon);
	bool is_busy = has_managers && cm_fabric_run(&daemon->cm);

	is_busy |= fabric_step(&daemon->core.fabric, daemon->core.loop.now, FRAMES_PER_TURN);
	gateway_sockets_send(&daemon->packets.gateways);
	/* A program that waits for a packet gets it before the managers run. */
	clients_publish(&daemon->core);
	if (has_managers) {
		is_busy |= managers_run(&daemon->managers, daemon->core.loop.now);
		is_busy |= mad_files_run(&daemon->mad_files);
		is_busy |= snmp_service_run(&daemon->snmp);
		daemon->core.managers_have_news |= is_busy;
		daemon->schedule.due_at = next_deadline(daemon);
	}
	is_busy |= ingress_retry(&daemon->packets);
	clients_release_ended(daemon);
	port_updates_send(&daemon->packets);
	if (daemon->core.paths_changed)
		flows_revoke(&daemon->core);
	flows_check_grants(&daemon->core);
	clients_publish(&daemon->core);
	if (has_managers)
		cm_fabric_publish(&daemon->cm);
	captures_publish(&daemon->packets);
	server_answer_waiters(daemon);
	counter_files_run(&daemon->counter_files, &daemon->core, &daemon->sysfs);
	if (daemon->core.loop.now >= end_of_use(daemon))
		daemon->is_ending = true;
	/* MADs that the fabric delivered to managers in this turn are answered before epoll waits.
	 */
	return is_busy || daemon->core.managers_have_news ||
	       ingress_has_records(&daemon->packets) ||
	       !list_is_empty(&daemon->core.clients.ended) || cm_fabric_deadline(&daemon->cm) == 0;
}

bool daemon_turn(struct daemon *daemon)
{
	struct fair_shares *shares = &daemon->core.shares;
	bool is_busy = turn(daemon);

	if (unlikely(shares->mad_sender))
		share_charge_mads(shares, daemon->core.loop.now, event_loop_clock());
	return is_busy;
}

/* How long epoll may wait: not at all while a ring is polled, 1 ms while a ring waits for room in
 * the fabric. */
static int wait_ms(const struct daemon *daemon)
{
	bool is_stalled = false;

	/* A delayed packet of a faulty link is due within epoll's resolution of 1 ms. */
	if (timer_queue_deadline(&daemon->core.fabric.faults.arrivals) <
	    daemon->core.loop.now + MILLISECONDS(1))
		return 0;

	list_for_each (link, &daemon->core.clients.awake) {
		if (!container_of(link, struct client, rings.awake_link)->ingress.stalled)
			return 0;
		is_stalled = true;
	}
	/* Packets on the cables of a paced fabric arrive, and make room, sooner than that. */
	if (is_stalled && !daemon->core.fabric.is_paced)
		return STALLED_WAIT_MS;

	time_ns deadline = next_deadline(daemon);

	if (is_stalled)
		deadline = time_earlier(deadline,
					daemon->core.loop.now + MILLISECONDS(STALLED_WAIT_MS));

	if (deadline == TIME_NEVER)
		return -1;
	if (deadline <= daemon->core.loop.now)
		return 0;
	/* A packet of a paced fabric takes less time than the shortest sleep. */
	if (daemon->core.fabric.is_paced && deadline - daemon->core.loop.now < MILLISECONDS(1))
		return 0;

	time_ns wait = (deadline - daemon->core.loop.now + MILLISECONDS(1) - 1) / MILLISECONDS(1);

	return wait < SECONDS(60) / MILLISECONDS(1) ? (int)wait : 60000;
}

/* Programs that could send the next packet may be waiting for softibd's processor. The time that a
 * yield takes tells: if no process ran, poll the rings more often before the next yield; if a
 * process took a whole time slice, do not yield again for a while. */
static void yield_to_others(struct daemon *daemon)
{
	if (daemon->core.loop.now < daemon->polling.yields_from)
		return;

	time_ns before = event_loop_clock();

	sched_yield();

	time_ns now = event_loop_clock();

	if (now - before > YIELD_LOST)
		daemon->polling.yields_from = now + YIELD_PAUSE;
	if (now - before > YIELD_SERVED)
		daemon->polling.polls_per_yield = 0;
	else if (daemon->polling.polls_per_yield < POLLS_PER_YIELD_MAX)
		daemon->polling.polls_per_yield += daemon->polling.polls_per_yield + 1;
}

/* Polls the rings a few times, then yields. */
static void poll_rings(struct daemon *daemon)
{
	for (unsigned look = 0; look < daemon->polling.polls_per_yield; look++)
		if (ingress_has_records(&daemon->packets))
			return;
	yield_to_others(daemon);
}

void daemon_step(struct daemon *daemon, int timeout_ms_max)
{
	daemon->core.loop.now = event_loop_clock();

	bool is_busy = daemon_turn(daemon);
	int timeout_ms = is_busy ? 0 : wait_ms(daemon);

	if (!is_busy && timeout_ms == 0)
		poll_rings(daemon);
	if (timeout_ms_max >= 0 && (timeout_ms < 0 || timeout_ms > timeout_ms_max))
		timeout_ms = timeout_ms_max;
	/* epoll costs a system call, so busy rings are polled several turns in a row. */
	if (timeout_ms || ++daemon->polling.turns_without_epoll >= TURNS_PER_EPOLL) {
		daemon->polling.turns_without_epoll = 0;
		daemon->core.managers_have_news |=
			event_loop_poll(&daemon->core.loop, timeout_ms) > 0;
	}
}

void daemon_run(struct daemon *daemon)
{
	while (!daemon->is_ending)
		daemon_step(daemon, -1);
}
