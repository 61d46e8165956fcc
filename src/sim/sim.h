/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole fabric in virtual time: nodes and links, an adapter per host, a subnet manager, and
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
#include "base/random.h"
#include "base/time.h"
#include "fabric/fabric.h"
#include "fabric/topology.h"
#include "mgmt/sm/sm.h"
#include "net/hca/hca.h"

/* Chances in 1000 for each data packet on each link. */
struct sim_faults {
	uint16_t drop;
	uint16_t corrupt;
	uint16_t duplicate;
	uint16_t reorder;
};

/* One adapter and the one process that uses it. */
struct sim_host {
	struct sim *sim;
	struct node *node;
	struct hca hca;
	struct frame *held; /* its port's queue was full */
	uint8_t held_port_number;
	unsigned event_counts[HCA_EVENT_GID_CHANGE + 1];
};

struct sim {
	struct fabric fabric;
	time_ns now;
	struct random random;
	struct sim_faults faults;
	struct sim_host *hosts; /* in the order of the topology */
	uint32_t host_count;
	struct sm *sm; /* NULL: none yet */
	struct port *sm_port;
	uint32_t path_changes;
	uint64_t fault_count;
};

/* From a generator ("ring:5"), or from a topology text if it has more than one line. */
MUST_USE int sim_init(struct sim *sim, const char *topology, uint64_t seed,
		      struct topology_error *ret_error);
void sim_release(struct sim *sim);

/* A manager on port 1 of this adapter. */
MUST_USE int sim_start_sm(struct sim *sim, struct sim_host *host, uint8_t priority,
			  time_ns sweep_interval);

/* Does everything that can be done without time passing. */
void sim_settle(struct sim *sim);
/* Lets time pass up to and including end. */
void sim_run_until(struct sim *sim, time_ns end);
/* Lets time pass until nothing will ever happen by itself, or until end: then false. */
MUST_USE bool sim_run_until_quiet(struct sim *sim, time_ns end);
time_ns sim_deadline(const struct sim *sim);

/* Runs until the manager says that the subnet is up, or until end: then false. */
MUST_USE bool sim_bring_up(struct sim *sim, time_ns end);

struct sim_host *sim_find_host(struct sim *sim, const char *name);

#endif
