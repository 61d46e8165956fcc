/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole fabric in virtual time: nodes and links, an adapter per host, a manager per subnet, and
 * faults that one seed decides.
 *
 * Packets take no time unless the fabric is paced; the clock jumps from one deadline to the next.
 * The same seed and the same calls give the same run.
 */
#ifndef SOFTIB_SIM_SIM_H
#define SOFTIB_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/random.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "fabric/fabric.h"
#include "fabric/topology/topology.h"
#include "mgmt/sm/sm.h"
#include "net/hca/hca.h"
#include "sim/time_watchdog.h"

struct sim_host;

/* Chances in 1000 for each data packet on each link. */
struct sim_faults {
	uint16_t drop;
	uint16_t corrupt;
	uint16_t duplicate;
	uint16_t reorder;
};

/* The programs on the hosts (sim/traffic.h). Each function may be NULL. */
struct sim_programs {
	/* A data packet arrived. True: the programs consumed it. The frame stays the
	 * simulator's. */
	bool (*receive)(void *context, struct port *port, const struct frame *frame);
	/* The host's adapter received packets or ran its timers: there may be completions. */
	void (*host_ran)(void *context, struct sim_host *host);
	/* fabric_inject() found no room before; there may be room now. */
	void (*port_has_room)(void *context, struct port *port);
	/* A frame with a source left the fabric without being delivered. */
	void (*gone)(void *context, struct frame *frame, enum drop_reason reason);
	/* Runs the programs' own timers. */
	void (*run)(void *context, time_ns now);
	time_ns (*deadline)(const void *context);
	void *context;
};

/* One adapter and the one process that uses it. */
struct sim_host {
	struct sim *sim;
	struct list awake_link;
	struct timer timer; /* the next deadline of the adapter */
	struct node *node;
	struct hca hca;
	struct frame *held; /* waits because the port's queue was full */
	bool is_starved;    /* the fabric had no free frame for it */
	/* The port discards a packet until then: as long as the packet would take on the wire; 0:
	 * none. */
	time_ns discards_until;
	struct port *discards_at;
	uint8_t held_port_number;
	unsigned event_counts[HCA_EVENT_GID_CHANGE + 1];
};

/* The manager of one subnet. */
struct sim_manager {
	struct sm *sm;
	struct port *port;
	bool has_received; /* received a packet since its last turn */
};

struct sim {
	struct fabric fabric;
	time_ns now;
	struct random random;
	struct sim_host *hosts; /* in the order of the topology */
	uint32_t host_count;
	struct sim_manager *managers; /* in the order in which they were started */
	uint32_t manager_count;
	uint32_t path_changes;
	struct list awake; /* hosts that may have work */
	struct timer_queue host_timers;
	struct sim_programs programs;
	struct time_watchdog watchdog;
};

/* Topology: a generator ("ring:5"), or a topology text if it has more than one line. */
MUST_USE int sim_init(struct sim *sim, const char *topology, uint64_t seed,
		      struct topology_error *ret_error);
/* sim_init() with this many data VLs at every port, unless the topology says otherwise; 0: the
 * default. */
MUST_USE int sim_init_with_lanes(struct sim *sim, const char *topology, uint64_t seed,
				 unsigned data_vl_count, struct topology_error *ret_error);
void sim_release(struct sim *sim);

/* Starts a manager on port 1 of this adapter. */
MUST_USE int sim_start_sm(struct sim *sim, struct sim_host *host, uint8_t priority,
			  time_ns sweep_interval);
/* sim_start_sm() with all options; those of the port are filled in. */
MUST_USE int sim_start_sm_with(struct sim *sim, struct sim_host *host,
			       const struct sm_options *options);
/* Starts one manager per subnet, on the first adapter port with a cable there, all with these
 * options. With routers, each subnet gets a prefix of its own. */
MUST_USE int sim_start_sms(struct sim *sim, const struct sm_options *options);
/* The manager that gave the port its LID; NULL: none did. */
struct sm *sim_manager_of(const struct sim *sim, const struct port *port);

/* Sets these faults on every link from now on; the simulator's seed decides. */
MUST_USE int sim_set_faults(struct sim *sim, const struct sim_faults *faults);
/* The number of packets that a fault changed, delayed or lost. */
uint64_t sim_fault_count(const struct sim *sim);

/* The host has new work, a posted request for example. sim_run_until() and its kind run only hosts
 * that were woken. */
void sim_wake_host(struct sim_host *host);

/* Sends a packet of the host's adapter, or of a program without one, by this port. It is
 * fabric_inject(), except that a packet which the port discards takes as long as on the wire.
 * Without that, a program that always has a next packet would stop the clock. False: try again when
 * sim_programs.port_has_room() is called. */
MUST_USE bool sim_inject(struct sim_host *host, struct port *port, struct frame *frame);

/* Does all work that needs no time to pass. */
void sim_settle(struct sim *sim);
/* Lets time pass up to and including end. When virtual time stands still (sim->watchdog), this
 * function and the others that let time pass return at once. */
void sim_run_until(struct sim *sim, time_ns end);
/* Lets time pass until there is no deadline left. False: end came first. */
MUST_USE bool sim_run_until_quiet(struct sim *sim, time_ns end);
time_ns sim_deadline(const struct sim *sim);

/* Runs until every manager reports that its subnet is up. False: end came first. */
MUST_USE bool sim_bring_up(struct sim *sim, time_ns end);

struct sim_host *sim_find_host(struct sim *sim, const char *name);

#endif
