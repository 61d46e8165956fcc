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
#include "daemon/core/flow_table.h"
#include "daemon/core/log.h"
#include "daemon/mad/issm.h"
#include "daemon/packets/delivery.h"
#include "daemon/packets/ingress.h"
#include "daemon/server.h"
#include "daemon/topology_source.h"
#include "fabric/congestion_control.h"
#include "ipc/memory_file.h"
#include "net/link/lane_tables.h"

#define SETTLE_TIME SECONDS(5)

static void signal_ready(struct watch *watch, uint32_t events)
{
	struct daemon *daemon = container_of(watch, struct daemon, signal_watch);
	struct signalfd_siginfo information;

	(void)events;
	if (read(daemon->signals, &information, sizeof(information)) != sizeof(information))
		return;
	log_line("ending on signal %u", information.ssi_signo);
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
	return event_loop_watch(&daemon->core.loop, daemon->signals, &daemon->signal_watch);
}

static void port_changed(void *context, struct port *port)
{
	daemon_core_port_changed(((struct packet_plane *)context)->core, port);
}

static void paths_changed(void *context)
{
	((struct packet_plane *)context)->core->paths_changed = true;
}

static void refresh_counters(void *context, struct node *node)
{
	flows_fold_at(((struct packet_plane *)context)->core, node);
}

static void snmp_received(void *context, struct port *port, const struct mad_message *message)
{
	struct daemon *daemon = container_of(context, struct daemon, packets);

	snmp_service_receive(&daemon->snmp, port, message);
}

/* Stops in the reverse order of build_fabric(). */
static void release_fabric(struct daemon *daemon)
{
	issm_stop(daemon->sysfs.issm);
	snmp_service_release(&daemon->snmp);
	managers_stop_subnets(&daemon->managers);
	/* Programs may have ports of routers open. */
	mad_files_release(&daemon->mad_files);
	managers_stop_routers(&daemon->managers);
	mad_dispatch_release(&daemon->mads);
	host_table_release(&daemon->core.hosts);
	fabric_release(&daemon->core.fabric);
}

/* A fabric without adapters has no port for a manager. */
static int start_performance_manager(struct daemon *daemon)
{
	int error = 0;

	if (daemon->options.perf_interval)
		error = managers_start_perf(&daemon->managers, &daemon->mads,
					    daemon->options.perf_interval);
	return error == -ENODEV ? 0 : error;
}

static int build_fabric(struct daemon *daemon)
{
	struct fabric_owner owner = {.deliver = delivery_make,
				     .gone = delivery_gone,
				     .port_has_room = ingress_refill,
				     .port_changed = port_changed,
				     .paths_changed = paths_changed,
				     .refresh_counters = refresh_counters,
				     .snmp_received = snmp_received,
				     .context = &daemon->packets};
	int error = fabric_init(&daemon->core.fabric, &owner);

	if (error) {
		log_line("can't create the fabric: %s", strerror(-error));
		return error;
	}
	mad_dispatch_init(&daemon->mads, &daemon->core.fabric);
	cm_fabric_init(&daemon->cm, &daemon->core, &daemon->mads);
	mad_files_init(&daemon->mad_files, &daemon->core, &daemon->mads);
	snmp_service_init(&daemon->snmp, &daemon->core, &daemon->mads, daemon->options.snmp_config);
	packet_plane_init(&daemon->packets, &daemon->core, &daemon->mads, &daemon->cm,
			  &daemon->sysfs);
	daemon->core.fabric.is_paced = daemon->options.is_paced;
	daemon->core.fabric.vl_cap = vl_code_of(daemon->options.data_vl_count);
	error = topology_build(&daemon->options, &daemon->core.fabric);
	if (!error)
		snmp_service_show_capability(&daemon->snmp);
	if (!error && daemon->options.controls_congestion)
		error = congestion_control_set(&daemon->core.fabric, CONGESTION_CONTROL_ON);
	if (!error) {
		error = host_table_build(&daemon->core.hosts, &daemon->core.fabric);
		if (error)
			log_line("can't create the hosts: %s", strerror(-error));
	}
	if (!error)
		error = managers_start(&daemon->managers, &daemon->mads,
				       daemon->options.runs_sm ? &daemon->options.sm : NULL,
				       &daemon->folder);
	if (!error)
		error = start_performance_manager(daemon);
	if (error)
		release_fabric(daemon);
	return error;
}

/* A program that starts an ephemeral fabric wants to use it at once, so softibd lets no client in
 * before the ports are Active. */
static void settle(struct daemon *daemon)
{
	time_ns end = daemon->core.loop.now + SETTLE_TIME;
	struct timespec pause = {.tv_nsec = 1000000};

	while (daemon->managers.sm.sm && daemon->core.loop.now < end && !daemon->is_ending) {
		daemon->core.loop.now = event_loop_clock();
		if (daemon_turn(daemon))
			continue;
		if (managers_inactive_ports(&daemon->managers, &daemon->core.fabric) == 0)
			return;
		nanosleep(&pause, NULL);
	}
}

static int open_sockets(struct daemon *daemon)
{
	int error = event_loop_open(&daemon->core.loop);

	if (!error)
		error = file_closers_open(&daemon->core.closers, &daemon->core.loop);
	if (!error)
		error = watch_signals(daemon);
	if (!error)
		error = issm_start(&daemon->core, &daemon->sysfs.issm);
	if (!error)
		error = memory_file_create_published("softib-fabric", sizeof(struct fabric_page),
						     &daemon->core.page_file,
						     (void **)&daemon->core.page);
	if (error)
		return error;
	daemon->core.page->generation = 1;
	daemon->core.page->is_paced = daemon->options.is_paced;
	if (daemon->options.is_ephemeral)
		settle(daemon);
	return server_start(daemon);
}

int daemon_start(struct daemon *daemon, const struct daemon_options *options)
{
	*daemon = (struct daemon){.options = *options};
	server_init(&daemon->server);
	daemon_core_init(&daemon->core);
	daemon->core.fabric_name = options->fabric_name;
	daemon->core.offloads = options->offloads;
	daemon->core.isolates = options->isolates;
	daemon->sysfs.folder = daemon->folder.path;
	daemon->core.loop.now = event_loop_clock();
	daemon->core.clients.unused_since = daemon->core.loop.now;

	int error = runtime_folder_claim(&daemon->folder, options->fabric_name);

	if (error) {
		log_line(error == -EEXIST ? "fabric %s is up already"
					  : "can't create the folder of fabric %s: %s",
			 options->fabric_name, strerror(-error));
		return error;
	}
	error = build_fabric(daemon);
	if (error)
		goto remove_folder;
	error = open_sockets(daemon);
	if (error) {
		log_line("can't open the control socket in %s: %s", daemon->folder.path,
			 strerror(-error));
		goto release_fabric;
	}
	error = gateway_sockets_open(&daemon->packets.gateways, &daemon->core, options->gateways,
				     options->gateway_count);
	if (error)
		goto release_fabric;
	if (options->log_path && (error = log_open(options->log_path)) != 0) {
		log_line("%s: %s", options->log_path, strerror(-error));
		goto release_fabric;
	}
	log_line("fabric %s is up: %u nodes, %u hosts", options->fabric_name,
		 daemon->core.fabric.node_count, daemon->core.hosts.host_count);
	return 0;

release_fabric:
	release_fabric(daemon);
remove_folder:
	runtime_folder_remove(&daemon->folder);
	return error;
}

void daemon_stop(struct daemon *daemon)
{
	__atomic_store_n(&daemon->core.page->is_down, 1, __ATOMIC_RELEASE);
	log_line("fabric %s is down", daemon->options.fabric_name);
	log_close();
	/* The folder and the gateways' addresses go before clients see their sockets close: then
	 * nothing of this fabric is left. */
	runtime_folder_remove(&daemon->folder);
	gateway_sockets_close(&daemon->packets.gateways);
	server_stop(daemon);
	cm_fabric_release(&daemon->cm);
	packet_plane_release(&daemon->packets);
	release_fabric(daemon);
	fair_shares_release(&daemon->core.shares);
	file_closers_release(&daemon->core.closers);
	accounts_release(&daemon->core.accounts);
	munmap(daemon->core.page, sizeof(*daemon->core.page));
	close(daemon->core.page_file);
	close(daemon->signals);
	close(daemon->core.loop.epoll);
}
