/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes connected by links, with their real agents and one manager, on a virtual clock. SMPs arrive
 * at once or are lost. */
#ifndef SOFTIB_TESTS_UNIT_MGMT_SM_FAKE_FABRIC_H
#define SOFTIB_TESTS_UNIT_MGMT_SM_FAKE_FABRIC_H

#include "base/random.h"
#include "base/time.h"
#include "mgmt/agents/agents.h"
#include "mgmt/sm/sm.h"
#include "net/node/node.h"

enum { FAKE_NODES_MAX = 2048, FAKE_CA_GUID = 0x1000, FAKE_SWITCH_GUID = 0x9000 };

struct fake_fabric {
	struct node *nodes[FAKE_NODES_MAX];
	unsigned node_count;
	struct agent_memory memory;
	struct agent_environment environment;
	struct sm *sm;
	struct port *sm_port;
	time_ns now;
	struct random random;
	unsigned loss_percent;
	const struct node *silent; /* answers nothing */
	struct sm_info other_sm;   /* the response of another manager */
	uint64_t smp_count, set_count, trap_count, reregister_count, paths_changed_count,
		port_changed_count;
};

void fake_init(struct fake_fabric *fabric);
void fake_release(struct fake_fabric *fabric);

struct node *fake_add(struct fake_fabric *fabric, enum node_type type, unsigned port_count,
		      uint64_t guid);
void fake_connect(struct node *a, unsigned a_port, struct node *b, unsigned b_port);
/* Switches in a ring by ports 1 and 2, a host on port 3 of each. */
void fake_add_ring(struct fake_fabric *fabric, unsigned switch_count, unsigned switch_ports,
		   struct node *ret_switches[], struct node *ret_hosts[]);
/* Removes or restores the link, and lets the switches notice. */
void fake_cut(struct fake_fabric *fabric, struct port *port);
void fake_mend(struct fake_fabric *fabric, struct port *port);

/* Starts a manager on port 1 of this adapter, or on port 0 of this switch. */
void fake_start_sm(struct fake_fabric *fabric, struct node *node, const struct sm_options *options);

/* Runs until this time. The manager may send this many messages at once. */
void fake_run(struct fake_fabric *fabric, time_ns until, unsigned messages_max);

/* The usual number of messages at once. */
void fake_run_for(struct fake_fabric *fabric, time_ns duration);

/* Hops of a packet from the port to this LID by the forwarding tables. -1: it does not arrive. */
int fake_walk(const struct port *source, uint16_t lid, const struct port **ret_end);

/* Every end port with a link reaches every other. */
void fake_assert_all_reachable(const struct fake_fabric *fabric);
void fake_assert_all_active(const struct fake_fabric *fabric);

#endif
