/* SPDX-License-Identifier: Apache-2.0 */
/* An adapter with two ports, a switch with four, a router with two, and a sender of MADs to them.
 */
#ifndef SOFTIB_TESTS_UNIT_MGMT_AGENTS_AGENT_FIXTURE_H
#define SOFTIB_TESTS_UNIT_MGMT_AGENTS_AGENT_FIXTURE_H

#include "mgmt/agents/agents.h"
#include "net/node/node.h"
#include "wire/smp.h"

struct agent_fixture {
	struct node adapter;
	struct node hub;
	struct node router;
	struct agent_memory memory;
	struct agent_environment environment;
	time_ns now;
	uint64_t mkey;	  /* of the requests */
	unsigned arrival; /* the port by which requests arrive */
	unsigned port_changed_count, paths_changed_count, refresh_count, reregister_count;
	struct port *link_set; /* the last port whose link was to change */
	enum physical_state link_set_to;
	struct mad_message answer;
	enum agent_verdict verdict;
};

extern struct agent_fixture fixture;

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Sends a LID-routed SMP. Returns the status of the response; -1: no response. data may be NULL. */
int fixture_ask(struct node *node, enum mad_method method, uint16_t attribute_id, uint32_t modifier,
		const uint8_t *data);
/* The data of the last response. */
uint8_t *fixture_data(void);

/* PortInfo as the agent shows it, and a Set of it. */
struct port_info fixture_port_info(struct node *node, uint32_t modifier);
int fixture_set_port_info(struct node *node, uint32_t modifier, const struct port_info *info);
/* PortInfo as shown, with the "no change" value in the fields that have one. */
struct port_info fixture_unchanged_port_info(struct node *node, uint32_t modifier);

#endif
