/* SPDX-License-Identifier: Apache-2.0 */
/* softibd's loop, which serves everybody. */
#include "daemon/daemon.h"

#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>
#include "daemon/bridge.h"
#include "daemon/capture.h"
#include "daemon/client.h"
#include "daemon/delivery.h"
#include "daemon/flows.h"
#include "daemon/ports.h"
#include "daemon/server.h"

enum {
	FRAMES_PER_TURN = 4096,
	EVENTS_PER_TURN = 64,
	TURNS_PER_LOOK = 16, /* at the descriptors, while rings are busy */
	STALLED_WAIT_MS = 1,
	LOOKS_PER_YIELD_MAX = 16, /* at the rings */
	TURNS_PER_MANAGERS = 8,
};

/* An ephemeral fabric that nobody uses any more goes after the first; one that nobody has used yet,
 * after the second. */
#define UNUSED_BEFORE_END SECONDS(1)
#define UNUSED_AT_START	  SECONDS(10)

/* Nobody to switch to: 0.3 us. Programs that poll take their turns one after the other, each as long
 * as it takes to deal with what it has; somebody who computes takes a time slice, or several. */
#define YIELD_SERVED MICROSECONDS(1)
#define YIELD_LOST   MILLISECONDS(2)
#define YIELD_PAUSE  MILLISECONDS(20)

time_ns daemon_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return SECONDS(now.tv_sec) + (time_ns)now.tv_nsec;
}

int daemon_watch(struct daemon *daemon, int descriptor, struct watch *watch)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};

	return epoll_ctl(daemon->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 ? 0 : -errno;
}

void daemon_unwatch(struct daemon *daemon, int descriptor)
{
	epoll_ctl(daemon->epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

static time_ns end_of_use(const struct daemon *daemon)
{
	if (!daemon->options.is_ephemeral || daemon->user_count)
		return TIME_NEVER;
	return daemon->unused_since + (daemon->was_used ? UNUSED_BEFORE_END : UNUSED_AT_START);
}

/* How late a paced fabric was is told for the last second or two. */
static void watch_lateness(struct daemon *daemon)
{
	if (!daemon->fabric.is_paced || daemon->now < daemon->lateness_since + SECONDS(1))
		return;
	daemon->late_ns_before = daemon->fabric.late_ns_max;
	daemon->fabric.late_ns_max = 0;
	daemon->lateness_since = daemon->now;
}

static time_ns next_deadline(const struct daemon *daemon)
{
	time_ns deadline = fabric_deadline(&daemon->fabric);

	deadline = time_earlier(deadline, sm_runner_deadline(&daemon->sm));
	deadline = time_earlier(deadline, sa_runner_deadline(&daemon->sa));
	deadline = time_earlier(deadline, other_subnets_deadline(&daemon->others));
	deadline = time_earlier(deadline, router_groups_deadline(&daemon->router_groups));
	deadline = time_earlier(deadline, delivery_deadline(daemon));
	deadline = time_earlier(deadline, cm_fabric_deadline(&daemon->cm));
	deadline = time_earlier(deadline, mad_files_deadline(&daemon->mad_files));
	deadline = time_earlier(deadline, server_deadline(daemon));
	return time_earlier(deadline, end_of_use(daemon));
}

/* While programs send packets and nothing else happens, managers and agents need not be asked at
 * every turn whether they have something to do. */
static bool managers_are_due(struct daemon *daemon)
{
	if (!daemon->managers_have_news && !list_is_empty(&daemon->awake) &&
	    daemon->now < daemon->managers_due_at &&
	    ++daemon->turns_without_managers < TURNS_PER_MANAGERS)
		return false;
	daemon->managers_have_news = false;
	daemon->turns_without_managers = 0;
	return true;
}

/* Returns whether they have more to do at once. */
static bool run_managers(struct daemon *daemon)
{
	bool is_busy = sm_runner_run(&daemon->sm, daemon->now);

	is_busy |= sa_runner_run(&daemon->sa, daemon->now);
	is_busy |= router_groups_run(&daemon->router_groups, daemon->now);
	is_busy |= other_subnets_run(&daemon->others, daemon->now);
	is_busy |= mad_files_run(&daemon->mad_files);
	return is_busy;
}

bool daemon_turn(struct daemon *daemon)
{
	bridge_read(daemon);
	delivery_expire(daemon);
	watch_lateness(daemon);

	bool has_managers = managers_are_due(daemon);
	bool is_busy = has_managers && cm_fabric_run(&daemon->cm);

	is_busy |= fabric_step(&daemon->fabric, daemon->now, FRAMES_PER_TURN);
	gateway_sockets_send(daemon);
	/* Who waits for a packet need not wait for the rest of the turn. */
	clients_publish(daemon);
	if (has_managers) {
		is_busy |= run_managers(daemon);
		daemon->managers_have_news |= is_busy;
		daemon->managers_due_at = next_deadline(daemon);
	}
	is_busy |= bridge_retry(daemon);
	clients_bury(daemon);
	ports_announce(daemon);
	if (daemon->paths_changed)
		flows_revoke(daemon);
	clients_publish(daemon);
	if (has_managers)
		cm_fabric_publish(&daemon->cm);
	captures_publish(daemon);
	server_answer_waiters(daemon);
	if (daemon->now >= end_of_use(daemon))
		daemon->is_ending = true;
	/* What the fabric delivered to managers is answered before anybody waits. */
	return is_busy || daemon->managers_have_news || bridge_has_news(daemon) ||
	       !list_is_empty(&daemon->ended) || cm_fabric_deadline(&daemon->cm) == 0;
}

/* How long epoll may sleep: not at all while a ring is watched closely, shortly while one waits for
 * the fabric. */
static int wait_ms(const struct daemon *daemon)
{
	bool is_stalled = false;

	/* A packet that a faulty link holds back: the same. */
	if (timer_queue_deadline(&daemon->fabric.faults.arrivals) < daemon->now + MILLISECONDS(1))
		return 0;

	list_for_each (link, &daemon->awake) {
		if (!container_of(link, struct client, awake_link)->stalled)
			return 0;
		is_stalled = true;
	}
	/* What a paced fabric has on its cables makes room sooner than that. */
	if (is_stalled && !daemon->fabric.is_paced)
		return STALLED_WAIT_MS;

	time_ns deadline = next_deadline(daemon);

	if (is_stalled)
		deadline = time_earlier(deadline, daemon->now + MILLISECONDS(STALLED_WAIT_MS));

	if (deadline == TIME_NEVER)
		return -1;
	if (deadline <= daemon->now)
		return 0;
	/* Nobody sleeps as shortly as a packet takes. */
	if (daemon->fabric.is_paced && deadline - daemon->now < MILLISECONDS(1))
		return 0;

	time_ns wait = (deadline - daemon->now + MILLISECONDS(1) - 1) / MILLISECONDS(1);

	return wait < SECONDS(60) / MILLISECONDS(1) ? (int)wait : 60000;
}

static void look_at_descriptors(struct daemon *daemon, int timeout_ms)
{
	struct epoll_event events[EVENTS_PER_TURN];
	int count = epoll_wait(daemon->epoll, events, EVENTS_PER_TURN, timeout_ms);

	if (timeout_ms)
		daemon->now = daemon_clock();
	daemon->managers_have_news |= count > 0;
	for (int index = 0; index < count; index++) {
		struct watch *watch = events[index].data.ptr;

		watch->ready(daemon, watch, events[index].events);
	}
}

/* While it waits for the next packet, those who could send one may be waiting for its core. Yielding
 * shows whether that is so: if nobody ran, the rings are looked at more often before the next time.
 * If somebody who computes took the core, that is not tried again soon. */
static void let_others_run(struct daemon *daemon)
{
	if (daemon->now < daemon->yields_from)
		return;

	time_ns before = daemon_clock();

	sched_yield();

	time_ns now = daemon_clock();

	if (now - before > YIELD_LOST)
		daemon->yields_from = now + YIELD_PAUSE;
	if (now - before > YIELD_SERVED)
		daemon->looks_per_yield = 0;
	else if (daemon->looks_per_yield < LOOKS_PER_YIELD_MAX)
		daemon->looks_per_yield += daemon->looks_per_yield + 1;
}

/* Until something comes, but not long. The turn ended with a look. */
static void wait_for_news(struct daemon *daemon)
{
	for (unsigned look = 0; look < daemon->looks_per_yield; look++)
		if (bridge_has_news(daemon))
			return;
	let_others_run(daemon);
}

void daemon_step(struct daemon *daemon, int timeout_ms_max)
{
	daemon->now = daemon_clock();

	bool is_busy = daemon_turn(daemon);
	int timeout_ms = is_busy ? 0 : wait_ms(daemon);

	if (!is_busy && timeout_ms == 0)
		wait_for_news(daemon);
	if (timeout_ms_max >= 0 && (timeout_ms < 0 || timeout_ms > timeout_ms_max))
		timeout_ms = timeout_ms_max;
	/* Looking costs a system call, which rings that are busy should not pay for at every turn.
	 */
	if (timeout_ms || ++daemon->turns_without_look >= TURNS_PER_LOOK) {
		daemon->turns_without_look = 0;
		look_at_descriptors(daemon, timeout_ms);
	}
}

void daemon_run(struct daemon *daemon)
{
	while (!daemon->is_ending)
		daemon_step(daemon, -1);
}
