/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and ending softibd: the fabric and all that runs on it, its signals, its socket. */
#include "daemon/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "daemon/packets/ingress.h"
#include "daemon/packets/delivery.h"
#include "daemon/packets/flow_resolver.h"
#include "daemon/mad/issm.h"
#include "daemon/core/log.h"
#include "daemon/packets/port_updates.h"
#include "daemon/server.h"
#include "daemon/topology_source.h"
#include "fabric/congestion_control.h"
#include "host/memory_file.h"
#include "net/link/lane_tables.h"

#define SETTLE_TIME SECONDS(5)

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

/* What was started, in the order that is the other way round. */
static void release_fabric(struct daemon *daemon)
{
	issm_stop(daemon->issm);
	other_subnets_stop(&daemon->others);
	sa_runner_stop(&daemon->sa);
	sm_runner_stop(&daemon->sm);
	/* Programs may have ports of routers open. */
	mad_files_release(&daemon->mad_files);
	router_groups_stop(&daemon->router_groups);
	mad_dispatch_release(&daemon->mads);
	host_table_release(&daemon->hosts);
	fabric_release(&daemon->fabric);
}

static int build_fabric(struct daemon *daemon)
{
	struct fabric_owner owner = {.deliver = delivery_make,
				     .gone = delivery_gone,
				     .port_has_room = ingress_refill,
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
	daemon->fabric.vl_cap = vl_code_of(daemon->options.data_vl_count);
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
					       &daemon->folder);

		if (sm_error != -ENODEV)
			error = sm_error;
	}
	if (!error && daemon->sm.sm)
		error = sa_runner_start(&daemon->sa, &daemon->mads, &daemon->sm);
	if (!error && daemon->sm.sm)
		error = other_subnets_start(&daemon->others, &daemon->mads, &daemon->options.sm,
					    daemon->sm.client.port);
	if (!error)
		error = router_groups_start(&daemon->router_groups, &daemon->mads);
	if (error)
		release_fabric(daemon);
	return error;
}

/* Whoever starts the embedded default wants to use it, not to watch it come up: nobody is let in
 * before its ports are Active. */
static void settle(struct daemon *daemon)
{
	time_ns end = daemon->now + SETTLE_TIME;
	struct timespec pause = {.tv_nsec = 1000000};

	while (daemon->sm.sm && daemon->now < end && !daemon->is_ending) {
		daemon->now = daemon_clock();
		if (daemon_turn(daemon))
			continue;
		if (other_subnets_not_active(daemon) == 0)
			return;
		nanosleep(&pause, NULL);
	}
}

static int open_sockets(struct daemon *daemon)
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
	daemon->page->is_paced = daemon->options.is_paced;
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

	int error = runtime_folder_claim(&daemon->folder, options->fabric_name);

	if (error) {
		log_line(error == -EEXIST ? "fabric %s is up already"
					  : "no folder for fabric %s: %s",
			 options->fabric_name, strerror(-error));
		return error;
	}
	error = build_fabric(daemon);
	if (error)
		goto remove_folder;
	error = open_sockets(daemon);
	if (error) {
		log_line("no control socket in %s: %s", daemon->folder.path, strerror(-error));
		goto release_fabric;
	}
	error = gateway_sockets_open(daemon);
	if (error)
		goto release_fabric;
	if (options->log_path && (error = log_open(options->log_path)) != 0) {
		log_line("%s: %s", options->log_path, strerror(-error));
		goto release_fabric;
	}
	log_line("fabric %s is up: %u nodes, %u hosts", options->fabric_name,
		 daemon->fabric.node_count, daemon->hosts.host_count);
	return 0;

release_fabric:
	release_fabric(daemon);
remove_folder:
	runtime_folder_remove(&daemon->folder);
	return error;
}

void daemon_stop(struct daemon *daemon)
{
	__atomic_store_n(&daemon->page->is_down, 1, __ATOMIC_RELEASE);
	log_line("fabric %s is down", daemon->options.fabric_name);
	log_close();
	/* Before anybody sees the end of its socket: then nothing of this fabric is left. */
	runtime_folder_remove(&daemon->folder);
	server_stop(daemon);
	gateway_sockets_close(daemon);
	cm_fabric_release(&daemon->cm);
	fault_log_release(&daemon->fault_log);
	free(daemon->fault_replay.text);
	release_fabric(daemon);
	munmap(daemon->page, sizeof(*daemon->page));
	close(daemon->page_file);
	close(daemon->signals);
	close(daemon->epoll);
}
