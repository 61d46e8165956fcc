/* SPDX-License-Identifier: Apache-2.0 */
/* A fat tree with its manager, subnet administration, and an SA client on every host, in virtual
 * time. MADs cross the fabric as packets and may be lost. */
#ifndef SOFTIB_TESTS_SIM_SA_RIG_H
#define SOFTIB_TESTS_SIM_SA_RIG_H

#include "mgmt/sa/sa.h"
#include "mgmt/sa/sa_client.h"
#include "sim/sim.h"

enum { SA_RIG_HOSTS_MAX = 16 };

struct sa_rig;

/* What the programs of the hosts do; any may be NULL. */
struct sa_rig_programs {
	void (*run)(unsigned host);	 /* before the host's client sends */
	void (*answered)(unsigned host); /* a request of its client has succeeded */
	/* A Report has come. The rig answers it afterwards. */
	void (*reported)(unsigned host, const struct mad_message *message);
	/* Any MAD for QP1 of the host. True: the program consumed it. */
	bool (*received)(unsigned host, const struct mad_message *message);
	time_ns (*deadline)(void); /* of all programs */
};

struct sa_rig_host {
	struct sim_host *host;
	struct sa_client client;
};

struct sa_rig {
	struct sim sim;
	struct sa *sa;
	const struct sa_rig_programs *programs;
	struct sa_rig_host hosts[SA_RIG_HOSTS_MAX];
	unsigned host_count;
	uint32_t psn;
};

/* The subnet is up afterwards. prune_interval 0: members of groups stay. */
void sa_rig_begin(struct sa_rig *rig, uint64_t seed, time_ns prune_interval,
		  const struct sa_rig_programs *programs);
void sa_rig_end(struct sa_rig *rig);

struct port *sa_rig_port(const struct sa_rig *rig, unsigned host);
/* The host's client, which asks the SA that its port knows. */
struct sa_client *sa_rig_client(struct sa_rig *rig, unsigned host);
/* Sends a MAD from QP1 of the port; it may be lost. False: the port has no room, and it is lost. */
bool sa_rig_send(struct sa_rig *rig, struct port *port, const struct mad_message *message);
/* The MAD of a packet to QP1. False: it is none. */
bool sa_rig_decode(const struct frame *frame, struct mad_message *ret_message);
void sa_rig_run_for(struct sa_rig *rig, time_ns duration);

#endif
