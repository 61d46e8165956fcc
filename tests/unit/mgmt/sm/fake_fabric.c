/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, links, agents and a manager. It follows directed routes itself, because the fabric's own
 * code is not under test here. */
#include "fake_fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "mgmt/mad/smp_request.h"
#include "net/link/link.h"
#include "wire/smp.h"

static void port_changed(void *context, struct port *port)
{
	struct fake_fabric *fabric = context;

	fabric->port_changed_count++;
	fabric->reregister_count += port->info.client_reregister;
	port->info.client_reregister = 0;
}

static void paths_changed(void *context)
{
	((struct fake_fabric *)context)->paths_changed_count++;
}

void fake_init(struct fake_fabric *fabric)
{
	memset(fabric, 0, sizeof(*fabric));
	agent_memory_init(&fabric->memory);
	fabric->random = random_seeded(1);
	fabric->environment = (struct agent_environment){
		.port_changed = port_changed,
		.paths_changed = paths_changed,
		.context = fabric,
		.memory = &fabric->memory,
	};
}

void fake_release(struct fake_fabric *fabric)
{
	sm_destroy(fabric->sm);
	agent_memory_release(&fabric->memory);
	for (unsigned i = 0; i < fabric->node_count; i++) {
		node_release(fabric->nodes[i]);
		free(fabric->nodes[i]);
	}
}

struct node *fake_add(struct fake_fabric *fabric, enum node_type type, unsigned port_count,
		      uint64_t guid)
{
	struct node *node = malloc(sizeof(*node));
	char description[32];

	assert_non_null(node);
	assert_true(fabric->node_count < FAKE_NODES_MAX);
	snprintf(description, sizeof(description), "node-%u", fabric->node_count);
	assert_int_equal(node_init(node, type, port_count, guid, description), 0);
	node->index = fabric->node_count;
	fabric->nodes[fabric->node_count++] = node;
	return node;
}

void fake_connect(struct node *a, unsigned a_port, struct node *b, unsigned b_port)
{
	assert_int_equal(link_connect(&a->ports[a_port], &b->ports[b_port]), 0);
	assert_true(link_train(&a->ports[a_port]));
}

static void tell(struct fake_fabric *fabric, struct port *port)
{
	port->node->switch_info.port_state_change = node_is_switch(port->node);
	if (fabric->environment.memory)
		agent_link_changed(&fabric->memory, port->node, fabric->now);
}

void fake_add_ring(struct fake_fabric *fabric, unsigned switch_count, unsigned switch_ports,
		   struct node *ret_switches[], struct node *ret_hosts[])
{
	for (unsigned i = 0; i < switch_count; i++) {
		ret_switches[i] =
			fake_add(fabric, NODE_SWITCH, switch_ports, FAKE_SWITCH_GUID + i * 16u);
		ret_hosts[i] = fake_add(fabric, NODE_CA, 1, FAKE_CA_GUID + i * 16u);
		fake_connect(ret_switches[i], 3, ret_hosts[i], 1);
	}
	for (unsigned i = 0; i < switch_count; i++)
		fake_connect(ret_switches[i], 2, ret_switches[(i + 1) % switch_count], 1);
}

void fake_cut(struct fake_fabric *fabric, struct port *port)
{
	port->cable_is_down = true;
	port->peer->cable_is_down = true;
	assert_true(link_fall(port, PHYSICAL_POLLING));
	tell(fabric, port);
	tell(fabric, port->peer);
}

void fake_mend(struct fake_fabric *fabric, struct port *port)
{
	port->cable_is_down = false;
	port->peer->cable_is_down = false;
	assert_true(link_train(port));
	tell(fabric, port);
	tell(fabric, port->peer);
}

void fake_start_sm(struct fake_fabric *fabric, struct node *node, const struct sm_options *options)
{
	struct sm_options own = *options;

	fabric->sm_port = &node->ports[node_is_switch(node) ? 0 : 1];
	fabric->sm_port->info.capability_mask |= CAPABILITY_IS_SM;
	own.port_guid = fabric->sm_port->guid;
	own.port_number = fabric->sm_port->number;
	assert_int_equal(sm_create(&own, &fabric->sm), 0);
}

static bool is_lost(struct fake_fabric *fabric)
{
	return random_below(&fabric->random, 100) < fabric->loss_percent;
}

static struct port *cross(struct port *port)
{
	return port->info.port_state >= PORT_INIT ? port->peer : NULL;
}

/* The port where a directed-route SMP of the manager ends. NULL: lost on the way. Fills in the
 * return path. */
static struct port *follow_route(struct fake_fabric *fabric, struct mad_message *message)
{
	struct port *here = fabric->sm_port;
	unsigned hop_count = message->bytes[7];

	for (unsigned hop = 1; hop <= hop_count; hop++) {
		unsigned output = smp_initial_path(message->bytes)[hop];

		if (hop == 1 && !node_is_switch(here->node))
			assert_int_equal(output, here->number);
		else if (!node_is_switch(here->node))
			return NULL;
		if (output == 0 || output > here->node->port_count)
			return NULL;
		here = cross(&here->node->ports[output]);
		if (!here)
			return NULL;
		smp_return_path(message->bytes)[hop] = here->number;
	}
	message->bytes[6] = (uint8_t)(hop_count + 1);
	return here;
}

static void assert_leads_back(struct fake_fabric *fabric, struct port *from,
			      struct mad_message *answer)
{
	struct node *node = from->node;

	assert_true(get_be16(answer->bytes + 4) & 0x8000);
	for (unsigned hop = answer->bytes[7]; hop >= 1; hop--)
		node = node->ports[smp_return_path(answer->bytes)[hop]].peer->node;
	assert_ptr_equal(node, fabric->sm_port->node);
}

static void answer_for_other_sm(struct fake_fabric *fabric, const struct mad_message *message)
{
	struct mad_message answer;

	smp_answer_make(message, MAD_STATUS_OK, &answer);
	sm_info_encode(&fabric->other_sm, smp_data(answer.bytes));
	sm_receive(fabric->sm, fabric->now, &answer);
}

static struct port *follow_lid(const struct fake_fabric *fabric, const struct port *source,
			       uint16_t lid)
{
	const struct port *end;

	(void)fabric;
	return fake_walk(source, lid, &end) < 0 ? NULL : (struct port *)end;
}

static void deliver_from_sm(struct fake_fabric *fabric, struct mad_message *message)
{
	bool is_directed = message->bytes[1] == MAD_CLASS_SUBNET_DIRECTED;
	struct mad_message answer;

	fabric->smp_count++;
	fabric->set_count += message->bytes[3] == MAD_SET;

	struct port *end = is_directed ? follow_route(fabric, message)
				       : follow_lid(fabric, fabric->sm_port, message->address.lid);

	if (!end || end->node == fabric->silent || is_lost(fabric))
		return;
	switch (sma_receive(&fabric->environment, end->node, end->number, fabric->now, message,
			    &answer)) {
	case AGENT_ANSWERED:
		assert_leads_back(fabric, end, &answer);
		if (!is_lost(fabric))
			sm_receive(fabric->sm, fabric->now, &answer);
		break;
	case AGENT_FOR_SM:
		if (end != fabric->sm_port)
			answer_for_other_sm(fabric, message);
		break;
	case AGENT_CONSUMED:
		break;
	}
}

static void deliver_traps(struct fake_fabric *fabric)
{
	struct agent_trap traps[8];

	agent_run(&fabric->environment, fabric->now);

	unsigned trap_count = agent_take_traps(&fabric->memory, fabric->now, 8, traps);

	for (unsigned i = 0; i < trap_count; i++) {
		struct mad_message message = traps[i].message;

		fabric->trap_count++;
		if (follow_lid(fabric, traps[i].port, message.address.lid) != fabric->sm_port ||
		    is_lost(fabric))
			continue;
		message.address.lid = traps[i].port->info.lid;
		sm_receive(fabric->sm, fabric->now, &message);
	}
}

void fake_run(struct fake_fabric *fabric, time_ns until, unsigned messages_max)
{
	struct mad_message messages[64];

	assert_true(messages_max <= 64);
	for (;;) {
		time_ns next =
			time_earlier(sm_deadline(fabric->sm), agent_deadline(&fabric->memory));

		if (next > until)
			break;
		if (next > fabric->now)
			fabric->now = next;
		deliver_traps(fabric);

		unsigned message_count =
			sm_transmit(fabric->sm, fabric->now, messages_max, messages);

		for (unsigned i = 0; i < message_count; i++)
			deliver_from_sm(fabric, &messages[i]);
	}
	fabric->now = until;
}

void fake_run_for(struct fake_fabric *fabric, time_ns duration)
{
	fake_run(fabric, fabric->now + duration, 64);
}

int fake_walk(const struct port *source, uint16_t lid, const struct port **ret_end)
{
	const struct port *here = source;

	if (here->info.lid == lid) {
		*ret_end = here;
		return 0;
	}
	/* The path ends at an adapter, or at the switch's own port. */
	if (!node_is_switch(here->node))
		here = cross((struct port *)here);
	for (int hops = 1; here && hops < 64; hops++) {
		struct node *node = here->node;

		if (!node_is_switch(node) || node->ports[0].info.lid == lid) {
			const struct port *end = node_is_switch(node) ? &node->ports[0] : here;

			*ret_end = end;
			return end->info.lid == lid ? hops : -1;
		}
		if (lid > node->switch_info.linear_fdb_top || node->lft[lid] == 0 ||
		    node->lft[lid] > node->port_count)
			return -1;
		here = cross(&node->ports[node->lft[lid]]);
	}
	return -1;
}

static const struct port *end_port(const struct fake_fabric *fabric, unsigned index)
{
	const struct node *node = fabric->nodes[index];

	return &node->ports[node_is_switch(node) ? 0 : 1];
}

void fake_assert_all_reachable(const struct fake_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->node_count; i++) {
		for (unsigned k = 0; k < fabric->node_count; k++) {
			const struct port *source = end_port(fabric, i);
			const struct port *target = end_port(fabric, k);
			const struct port *end = NULL;

			if (target->info.lid == 0)
				fail_msg("node %u has no LID", k);
			if (fake_walk(source, target->info.lid, &end) < 0)
				fail_msg("no route from node %u to node %u", i, k);
			assert_ptr_equal(end, target);
		}
	}
}

void fake_assert_all_active(const struct fake_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->node_count; i++) {
		for (unsigned k = 1; k <= fabric->nodes[i]->port_count; k++) {
			const struct port *port = &fabric->nodes[i]->ports[k];

			if (port->peer && !port->cable_is_down)
				assert_int_equal(port->info.port_state, PORT_ACTIVE);
		}
	}
}
