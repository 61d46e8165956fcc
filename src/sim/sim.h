/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole fabric in virtual time: nodes and links, an adapter per host, a manager per subnet, and
 * faults that one seed decides.
 *
 * Packets take no time; the clock jumps from one deadline to the next. The same seed and the same
 * calls give the same run.
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

/* Whoever runs programs on the hosts (sim/traffic.h). Each function may be NULL. */
struct sim_programs {
	/* A data packet arrived. True: it was theirs; the frame stays the simulator's. */
	bool (*receive)(void *context, struct port *port, const struct frame *frame);
	/* The host's adapter took packets or time: completions may be there. */
	void (*host_ran)(void *context, struct sim_host *host);
	/* fabric_inject() found no room before; it may now. */
	void (*port_has_room)(void *context, struct port *port);
	/* A frame with a source is gone without having arrived. */
	void (*gone)(void *context, struct frame *frame, enum drop_reason reason);
	/* Programs' own timers. */
	void (*run)(void *context, time_ns now);
	time_ns (*deadline)(const void *context);
	void *context;
};

/* One adapter and the one process that uses it. */
struct sim_host {
	struct sim *sim;
	struct list awake_link;
	struct timer timer; /* what its adapter waits for */
	struct node *node;
	struct hca hca;
	struct frame *held; /* its port's queue was full */
	bool is_starved;    /* the fabric had no frame for it */
	/* Its port discarded a packet, which took as long as on the wire; 0: none. */
	time_ns discards_until;
	struct port *discards_at;
	uint8_t held_port_number;
	unsigned event_counts[HCA_EVENT_GID_CHANGE + 1];
};

/* Of one subnet. */
struct sim_manager {
	struct sm *sm;
	struct port *port;
	bool has_mail; /* it has not had its turn since */
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
	struct list awake; /* hosts that may have something to do now */
	struct timer_queue host_timers;
	struct sim_programs programs;
	struct time_watchdog watchdog;
};

/* From a generator ("ring:5"), or from a topology text if it has more than one line. */
MUST_USE int sim_init(struct sim *sim, const char *topology, uint64_t seed,
		      struct topology_error *ret_error);
/* The same where every port has so many data VLs, unless the text says otherwise of it; 0: as ports
 * are made. */
MUST_USE int sim_init_with_lanes(struct sim *sim, const char *topology, uint64_t seed,
				 unsigned data_vl_count, struct topology_error *ret_error);
void sim_release(struct sim *sim);

/* A manager on port 1 of this adapter. */
MUST_USE int sim_start_sm(struct sim *sim, struct sim_host *host, uint8_t priority,
			  time_ns sweep_interval);
/* The same with all options; those of the port are filled in. */
MUST_USE int sim_start_sm_with(struct sim *sim, struct sim_host *host,
			       const struct sm_options *options);
/* One per subnet, each on the first adapter port with a cable there, all with these options; with
 * routers, each subnet has a prefix of its own. */
MUST_USE int sim_start_sms(struct sim *sim, const struct sm_options *options);
/* The manager that gave the port its LID; NULL: none did. */
struct sm *sim_manager_of(const struct sim *sim, const struct port *port);

/* On every link, from now on, decided by the simulator's seed. */
MUST_USE int sim_set_faults(struct sim *sim, const struct sim_faults *faults);
/* Packets that something was done to. */
uint64_t sim_fault_count(const struct sim *sim);

/* The host was given something to do: a posted request, say. Where time passes in sim_run_until()
 * and the like, only hosts that were woken are looked at. */
void sim_wake_host(struct sim_host *host);

/* What the host's adapter or a program without one sends by this port: fabric_inject(), but a packet
 * that the port itself discards takes the time that it would have taken on the wire. Without that, a
 * program that always has a next packet would stop the clock. False: try again when
 * sim_programs.port_has_room() is called. */
MUST_USE bool sim_inject(struct sim_host *host, struct port *port, struct frame *frame);

/* Does everything that can be done without time passing. */
void sim_settle(struct sim *sim);
/* Lets time pass up to and including end. When time stands still, which sim->watchdog knows, this
 * and all others that let time pass return at once. */
void sim_run_until(struct sim *sim, time_ns end);
/* Lets time pass until nothing will ever happen by itself, or until end: then false. */
MUST_USE bool sim_run_until_quiet(struct sim *sim, time_ns end);
time_ns sim_deadline(const struct sim *sim);

/* Runs until every manager says that its subnet is up, or until end: then false. */
MUST_USE bool sim_bring_up(struct sim *sim, time_ns end);

struct sim_host *sim_find_host(struct sim *sim, const char *name);

#endif
