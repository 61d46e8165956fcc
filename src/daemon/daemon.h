/* SPDX-License-Identifier: Apache-2.0 */
/* softibd as a whole: one fabric, the services that run on it, and the loop that runs them all. */
#ifndef SOFTIB_DAEMON_DAEMON_H
#define SOFTIB_DAEMON_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/cm/cm_fabric.h"
#include "daemon/core/daemon_core.h"
#include "daemon/core/runtime_folder.h"
#include "daemon/mad/mad_dispatch.h"
#include "daemon/mad/mad_files.h"
#include "daemon/managers/managers.h"
#include "daemon/managers/sm_policy.h"
#include "daemon/packets/packet_plane.h"
#include "daemon/server.h"
#include "daemon/sysfs/counter_files.h"
#include "daemon/snmp/snmp_service.h"
#include "daemon/sysfs/sysfs_tree.h"

struct daemon_options {
	const char *fabric_name;
	const char *topology; /* a file or a generator; NULL: a star of host_count */
	unsigned host_count;
	unsigned tca_count;   /* target channel adapters, besides those of a topology file */
	const char *log_path; /* NULL: <runtime>/<fabric>/log, or stderr in the foreground */
	bool runs_sm;
	struct sm_settings sm;
	time_ns perf_interval; /* of the performance manager; 0: it sweeps when it is asked */
	bool offloads;
	bool isolates;		/* no shared pages, no RMA */
	unsigned data_vl_count; /* of every port; 0: the default of nodes */
	bool is_paced;		/* packets take the time that their links' width and speed allow */
	bool controls_congestion;	    /* congestion control is on from the start */
	bool programs_are_privileged;	    /* programs may set controlled Q_Keys */
	const char *gateways[GATEWAYS_MAX]; /* in the syntax of launch/gateway_option.h */
	unsigned gateway_count;
	const char *snmp_config; /* path of a file; NULL: the default communities */
	bool is_ephemeral;
	bool is_foreground;
};

/* How the loop polls while rings are busy or expected to be. */
struct loop_polling {
	unsigned turns_without_epoll;
	time_ns yields_from;	  /* the earliest time of the next yield */
	unsigned polls_per_yield; /* of the rings, while there is nothing else to do */
};

/* When the managers run next, if nothing arrives for them before. */
struct managers_schedule {
	time_ns due_at;
	unsigned turns_without;
};

/* How late a paced fabric is. */
struct lateness {
	time_ns since;	   /* start of the present second, which fabric.late_ns_max is of */
	time_ns before_ns; /* the latest in the second before */
};

struct daemon {
	struct daemon_options options;
	struct runtime_folder folder;
	struct daemon_core core;
	struct mad_dispatch mads;
	struct mad_files mad_files;
	struct sysfs_tree sysfs;
	struct counter_files counter_files;
	struct cm_fabric cm;
	struct packet_plane packets;
	struct managers managers;
	struct snmp_service snmp;
	struct server server;
	int signals;
	struct watch signal_watch;
	struct loop_polling polling;
	struct managers_schedule schedule;
	struct lateness lateness;
	bool is_ending;
};

/* The softibd that a client is connected to. */
static inline struct daemon *client_daemon(const struct client *client)
{
	return container_of(client->core, struct daemon, core);
}

/* Builds the fabric, claims its folder, listens. Reports its own errors. */
MUST_USE int daemon_start(struct daemon *daemon, const struct daemon_options *options);
/* One round of work. Returns whether there is more that can go on at once. */
bool daemon_turn(struct daemon *daemon);
/* One round of work, then one poll of the descriptors that waits at most so long; negative: without
 * a limit. */
void daemon_step(struct daemon *daemon, int timeout_ms_max);
/* Serves until a signal, "softib down" or the last user of an ephemeral fabric ends it. */
void daemon_run(struct daemon *daemon);
void daemon_stop(struct daemon *daemon);

#endif
