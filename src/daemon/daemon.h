/* SPDX-License-Identifier: Apache-2.0 */
/* softibd as a whole: one fabric, its hosts, its subnet manager, its clients, and the loop that
 * serves them. */
#ifndef SOFTIB_DAEMON_DAEMON_H
#define SOFTIB_DAEMON_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "daemon/packets/fault_log.h"
#include "daemon/cm/cm_fabric.h"
#include "daemon/packets/gateway_sockets.h"
#include "daemon/core/host_table.h"
#include "daemon/mad/mad_dispatch.h"
#include "daemon/mad/mad_files.h"
#include "daemon/managers/other_subnets.h"
#include "daemon/managers/router_groups.h"
#include "daemon/core/runtime_folder.h"
#include "daemon/managers/sa_runner.h"
#include "daemon/managers/sm_policy.h"
#include "daemon/managers/sm_runner.h"
#include "fabric/fabric.h"

struct daemon;
struct fabric_page;
struct issm_watches;

struct daemon_options {
	const char *fabric_name;
	const char *topology; /* a file or a generator; NULL: a star of host_count */
	unsigned host_count;
	const char *log_path; /* NULL: <runtime>/<fabric>/log, or stderr in the foreground */
	bool runs_sm;
	struct sm_settings sm; /* what is wanted of it */
	bool offloads;
	unsigned data_vl_count; /* of every port; 0: as nodes are made */
	bool is_paced; /* links take the time of their width and speed */
	bool controls_congestion; /* from the start, as congestion_control_set() does it */
	bool programs_are_privileged; /* they may give queue pairs controlled Q_Keys */
	const char *gateways[GATEWAYS_MAX]; /* as host/gateway_option.h reads them */
	unsigned gateway_count;
	bool is_ephemeral;
	bool is_foreground;
};

/* Something that epoll watches; it lies inside what it wakes. */
struct watch {
	void (*ready)(struct daemon *daemon, struct watch *watch, uint32_t events);
};

struct daemon {
	struct daemon_options options;
	struct runtime_folder folder;
	struct fabric fabric;
	struct host_table hosts;
	struct mad_dispatch mads;
	struct cm_fabric cm;
	struct mad_files mad_files;
	struct issm_watches *issm; /* NULL: managers of hosts go unnoticed */
	struct sm_runner sm;
	struct other_subnets others;
	struct router_groups router_groups;
	struct sa_runner sa;
	struct gateway_sockets gateways;
	int epoll;
	int listener;
	int reserve; /* a descriptor to give up when there are no others */
	int signals;
	struct watch listener_watch;
	struct watch signal_watch;
	int page_file; /* of the fabric page */
	struct fabric_page *page;
	time_ns now; /* of this turn of the loop */
	time_ns lateness_since; /* paced: start of the present second of fabric.late_ns_max */
	time_ns late_ns_before; /* ... and what it was in the second before */
	struct list clients;
	struct list ended;	 /* clients to take down at the end of the turn */
	struct list awake;	 /* clients whose up rings are looked at without a doorbell */
	struct list unpublished; /* clients with records they have not been shown */
	struct list changed;	 /* endpoints whose ports changed */
	struct list captures;
	struct fault_log fault_log;
	struct fault_replay fault_replay;
	uint32_t capture_count;
	struct list blocked;	 /* endpoints that hold a packet for a full down ring */
	uint32_t client_count;
	uint32_t user_count;   /* clients that keep an ephemeral fabric alive */
	uint32_t waiter_count; /* clients that wait until all ports are active */
	time_ns waiters_checked_at;
	uint32_t next_client_id;
	uint32_t next_ring_id;
	uint32_t next_domain_id;
	unsigned turns_without_epoll;
	time_ns yields_from; /* not before */
	unsigned polls_per_yield; /* at the rings, while there is nothing else to do */
	bool managers_have_news;  /* something came that may be for a manager or an agent */
	time_ns managers_due_at;
	unsigned turns_without_managers;
	time_ns unused_since;
	bool was_used;
	bool paths_changed; /* the generation word is due */
	bool is_ending;
};

/* Time as softibd's loop reads it. */
time_ns daemon_clock(void);

MUST_USE int daemon_watch(struct daemon *daemon, int descriptor, struct watch *watch);
void daemon_unwatch(struct daemon *daemon, int descriptor);

/* Builds the fabric, claims its folder, listens. Reports its own errors. */
MUST_USE int daemon_start(struct daemon *daemon, const struct daemon_options *options);
/* One round of work. Returns whether there is more that can go on at once. */
bool daemon_turn(struct daemon *daemon);
/* One round of work, then one look at the descriptors that waits at most so long; negative: as long
 * as it likes. */
void daemon_step(struct daemon *daemon, int timeout_ms_max);
/* Serves until it is told to end. */
void daemon_run(struct daemon *daemon);
void daemon_stop(struct daemon *daemon);

#endif
