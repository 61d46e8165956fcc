/* SPDX-License-Identifier: Apache-2.0 */
/* softibd as a whole: starting it, the loop that serves everybody, ending it. */
#include "daemon/daemon.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "daemon/bridge.h"
#include "daemon/capture.h"
#include "daemon/client.h"
#include "daemon/flows.h"
#include "daemon/issm.h"
#include "daemon/log.h"
#include "daemon/ports.h"
#include "daemon/router_groups.h"
#include "daemon/server.h"
#include "daemon/topology_source.h"
#include "fabric/congestion_control.h"
#include "host/memory_file.h"

enum {
	FRAMES_PER_TURN = 4096,
	EVENTS_PER_TURN = 64,
	TURNS_PER_LOOK = 16, /* at the descriptors, while rings are busy */
	STALLED_WAIT_MS = 1,
};

/* An ephemeral fabric that nobody uses any more goes after the first; one that nobody has used yet,
 * after the second. */
#define UNUSED_BEFORE_END SECONDS(1)
#define UNUSED_AT_START	  SECONDS(10)
#define SETTLE_TIME	  SECONDS(5)
#define YIELD_LOST	  MICROSECONDS(500)
#define YIELD_PAUSE	  MILLISECONDS(100)

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

static void signal_ready(struct daemon *daemon, struct watch *watch, uint32_t events)
{
	struct signalfd_siginfo information;

	(void)watch;
	(void)events;
	if (read(daemon->signals, &information, sizeof(information)) != sizeof(information))
		return;
	log_line("ends by signal %u", information.ssi_signo);
	daemon->is_ending = true;
}

static int watch_signals(struct daemon *daemon)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	daemon->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (daemon->signals < 0)
		return -errno;
	daemon->signal_watch.ready = signal_ready;
	return daemon_watch(daemon, daemon->signals, &daemon->signal_watch);
}

static void paths_changed(void *context)
{
	((struct daemon *)context)->paths_changed = true;
}

static void refresh_counters(void *context, struct node *node)
{
	(void)node;
	flows_fold_all(context);
}

static int build_fabric(struct daemon *daemon)
{
	struct fabric_owner owner = {.deliver = bridge_deliver,
				     .gone = bridge_gone,
				     .port_changed = ports_changed,
				     .paths_changed = paths_changed,
				     .refresh_counters = refresh_counters,
				     .context = daemon};
	int error = fabric_init(&daemon->fabric, &owner);

	if (error) {
		log_line("no fabric: %s", strerror(-error));
		return error;
	}
	mad_dispatch_init(&daemon->mads, &daemon->fabric);
	cm_fabric_init(&daemon->cm, daemon);
	mad_files_init(&daemon->mad_files, daemon);
	daemon->fabric.is_paced = daemon->options.is_paced;
	error = topology_build(&daemon->options, &daemon->fabric);
	if (!error && daemon->options.controls_congestion)
		error = congestion_control_set(&daemon->fabric, CONGESTION_CONTROL_ON);
	if (!error) {
		error = host_table_build(&daemon->hosts, &daemon->fabric);
		if (error)
			log_line("no hosts: %s", strerror(-error));
	}
	if (!error && daemon->options.runs_sm) {
		/* A fabric without adapters is one to look at; it needs no manager. */
		int sm_error = sm_runner_start(&daemon->sm, &daemon->mads, &daemon->options.sm,
					       &daemon->runtime);

		if (sm_error != -ENODEV)
			error = sm_error;
	}
	if (!error && daemon->sm.sm)
		error = sa_runner_start(&daemon->sa, &daemon->mads, &daemon->sm);
	if (!error && daemon->sm.sm)
		error = other_subnets_start(&daemon->others, &daemon->mads,
					    &daemon->options.sm, daemon->sm.client.port);
	if (error) {
		mad_files_release(&daemon->mad_files);
		mad_dispatch_release(&daemon->mads);
		host_table_release(&daemon->hosts);
		fabric_release(&daemon->fabric);
	}
	return error;
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

/* One round of work. Returns whether there is more that can go on at once. */
static bool turn(struct daemon *daemon)
{
	bool is_busy = bridge_read(daemon);

	bridge_expire(daemon);
	watch_lateness(daemon);
	is_busy |= cm_fabric_run(&daemon->cm);
	is_busy |= fabric_step(&daemon->fabric, daemon->now, FRAMES_PER_TURN);
	is_busy |= sm_runner_run(&daemon->sm, daemon->now);
	is_busy |= sa_runner_run(&daemon->sa, daemon->now);
	is_busy |= router_groups_run(daemon);
	is_busy |= other_subnets_run(&daemon->others, daemon->now);
	is_busy |= mad_files_run(&daemon->mad_files);
	is_busy |= bridge_retry(daemon);
	clients_bury(daemon);
	ports_announce(daemon);
	if (daemon->paths_changed)
		flows_revoke(daemon);
	clients_publish(daemon);
	cm_fabric_publish(&daemon->cm);
	captures_publish(daemon);
	server_answer_waiters(daemon);
	if (daemon->now >= end_of_use(daemon))
		daemon->is_ending = true;
	/* What the fabric delivered to connection managers is answered before anybody waits. */
	return is_busy || !list_is_empty(&daemon->ended) || cm_fabric_deadline(&daemon->cm) == 0;
}

/* Whoever starts the embedded default wants to use it, not to watch it come up: nobody is let in
 * before its ports are Active. */
static void settle(struct daemon *daemon)
{
	time_ns end = daemon->now + SETTLE_TIME;
	struct timespec pause = {.tv_nsec = 1000000};

	while (daemon->sm.sm && daemon->now < end && !daemon->is_ending) {
		daemon->now = daemon_clock();
		if (turn(daemon))
			continue;
		if (other_subnets_not_active(daemon) == 0)
			return;
		nanosleep(&pause, NULL);
	}
}

static int open_doors(struct daemon *daemon)
{
	daemon->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (daemon->epoll < 0)
		return -errno;

	int error = watch_signals(daemon);

	if (!error)
		error = issm_start(daemon, &daemon->issm);
	if (!error)
		error = memory_file_create_published("softib-fabric", sizeof(struct fabric_page),
						     &daemon->page_file, (void **)&daemon->page);
	if (error)
		return error;
	daemon->page->generation = 1;
	if (daemon->options.is_ephemeral)
		settle(daemon);
	return server_start(daemon);
}

int daemon_start(struct daemon *daemon, const struct daemon_options *options)
{
	*daemon = (struct daemon){.options = *options, .listener = -1, .reserve = -1, .epoll = -1};
	list_init(&daemon->clients);
	list_init(&daemon->ended);
	list_init(&daemon->awake);
	list_init(&daemon->unpublished);
	list_init(&daemon->changed);
	list_init(&daemon->blocked);
	list_init(&daemon->captures);
	daemon->now = daemon_clock();
	daemon->unused_since = daemon->now;

	int error = runtime_claim(&daemon->runtime, options->fabric_name);

	if (error) {
		log_line(error == -EEXIST ? "fabric %s is up already"
					  : "no folder for fabric %s: %s",
			 options->fabric_name, strerror(-error));
		return error;
	}
	error = build_fabric(daemon);
	if (error)
		goto remove_folder;
	error = open_doors(daemon);
	if (error) {
		log_line("no control socket in %s: %s", daemon->runtime.path, strerror(-error));
		goto release_fabric;
	}
	if (options->log_path && (error = log_open(options->log_path)) != 0) {
		log_line("%s: %s", options->log_path, strerror(-error));
		goto release_fabric;
	}
	log_line("fabric %s is up: %u nodes, %u hosts", options->fabric_name,
		 daemon->fabric.node_count, daemon->hosts.host_count);
	return 0;

release_fabric:
	issm_stop(daemon->issm);
	other_subnets_stop(&daemon->others);
	sa_runner_stop(&daemon->sa);
	sm_runner_stop(&daemon->sm);
	mad_files_release(&daemon->mad_files);
	mad_dispatch_release(&daemon->mads);
	host_table_release(&daemon->hosts);
	fabric_release(&daemon->fabric);
remove_folder:
	runtime_remove(&daemon->runtime);
	return error;
}

static time_ns next_deadline(const struct daemon *daemon)
{
	time_ns deadline = fabric_deadline(&daemon->fabric);

	deadline = time_earlier(deadline, sm_runner_deadline(&daemon->sm));
	deadline = time_earlier(deadline, sa_runner_deadline(&daemon->sa));
	deadline = time_earlier(deadline, other_subnets_deadline(&daemon->others));
	deadline = time_earlier(deadline, bridge_deadline(daemon));
	deadline = time_earlier(deadline, cm_fabric_deadline(&daemon->cm));
	deadline = time_earlier(deadline, mad_files_deadline(&daemon->mad_files));
	deadline = time_earlier(deadline, server_deadline(daemon));
	return time_earlier(deadline, end_of_use(daemon));
}

/* How long epoll may sleep: not at all while a ring is watched closely, shortly while one waits for
 * the fabric. */
static int wait_ms(const struct daemon *daemon)
{
	bool is_stalled = false;

	/* A packet that a faulty link holds back: the same. */
	if (timer_queue_deadline(&daemon->fabric.fault_arrivals) < daemon->now + MILLISECONDS(1))
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
	for (int index = 0; index < count; index++) {
		struct watch *watch = events[index].data.ptr;

		watch->ready(daemon, watch, events[index].events);
	}
}

/* While it waits for the next packet, those who could send one may be waiting for its core. If
 * somebody who computes takes it instead, for a whole time slice, that is not tried again soon. */
static void let_others_run(struct daemon *daemon)
{
	if (daemon->now < daemon->yields_from)
		return;
	sched_yield();

	time_ns now = daemon_clock();

	if (now - daemon->now > YIELD_LOST)
		daemon->yields_from = now + YIELD_PAUSE;
}

void daemon_step(struct daemon *daemon, int timeout_ms_max)
{
	daemon->now = daemon_clock();

	bool is_busy = turn(daemon);
	int timeout_ms = is_busy ? 0 : wait_ms(daemon);

	if (!is_busy && timeout_ms == 0)
		let_others_run(daemon);
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

void daemon_stop(struct daemon *daemon)
{
	__atomic_store_n(&daemon->page->is_down, 1, __ATOMIC_RELEASE);
	log_line("fabric %s is down", daemon->options.fabric_name);
	log_close();
	/* Before anybody sees the end of its socket: then nothing of this fabric is left. */
	runtime_remove(&daemon->runtime);
	server_stop(daemon);
	cm_fabric_release(&daemon->cm);
	issm_stop(daemon->issm);
	other_subnets_stop(&daemon->others);
	sa_runner_stop(&daemon->sa);
	sm_runner_stop(&daemon->sm);
	mad_files_release(&daemon->mad_files);
	mad_dispatch_release(&daemon->mads);
	fault_log_release(&daemon->fault_log);
	free(daemon->fault_replay.text);
	host_table_release(&daemon->hosts);
	fabric_release(&daemon->fabric);
	munmap(daemon->page, sizeof(*daemon->page));
	close(daemon->page_file);
	close(daemon->signals);
	close(daemon->epoll);
}
