/* SPDX-License-Identifier: Apache-2.0 */
/* Routes, and the forwarding tables of the switches: LinearFDBTop first, then the blocks that
 * changed (vol 1, chapter 14). */
#include "mgmt/sm/sweep.h"

#include <errno.h>
#include <string.h>
#include "mgmt/routing/minhop.h"
#include "wire/smp.h"
#include "wire/smp_tables.h"

static bool block_is_known(const struct subnet_node *node, unsigned block)
{
	return node->table_blocks_known[block / 64] >> (block % 64) & 1;
}

static void set_block_known(struct subnet_node *node, unsigned block)
{
	node->table_blocks_known[block / 64] |= 1ull << (block % 64);
}

static void forget_block(struct subnet_node *node, unsigned block)
{
	node->table_blocks_known[block / 64] &= ~(1ull << (block % 64));
}

/* Present routes go into the graph, so that those that are still good stay. */
static int add_switches(struct sm *sm)
{
	uint32_t switch_index = 0;

	list_for_each (link, &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(link);

		if (!subnet_node_is_switch(node))
			continue;
		node->switch_index = switch_index;
		if (routing_graph_set_ports(&sm->graph, switch_index, node->port_count) != 0)
			return -ENOMEM;
		for (unsigned lid = 1; lid <= sm->subnet.lid_max; lid++) {
			if (block_is_known(node, lid / LINEAR_FORWARDING_PER_BLOCK))
				sm->graph.switches[switch_index].table[lid] = node->table[lid];
		}
		switch_index++;
	}
	return 0;
}

static void add_links(struct sm *sm)
{
	struct subnet_port *port;

	sweep_cursor_reset(sm);
	while ((port = sweep_next_port(sm))) {
		if (port->peer && subnet_node_is_switch(port->node) &&
		    subnet_node_is_switch(port->peer->node))
			routing_graph_link(&sm->graph, port->node->switch_index, port->number,
					   port->peer->node->switch_index, port->peer->number);
	}
}

/* LIDs that hang on no switch (two adapters back to back) need no table. Returns how many the graph
 * has. */
static uint32_t add_destinations(struct sm *sm)
{
	uint32_t destination_count = 0;

	for (unsigned lid = 1; lid <= sm->subnet.lid_max; lid++) {
		const struct subnet_port *port = sm->subnet.by_lid[lid];
		struct routing_destination *destination =
			&sm->graph.destinations[destination_count];

		if (!port)
			continue;
		if (subnet_node_is_switch(port->node)) {
			*destination = (struct routing_destination){
				.lid = (uint16_t)lid, .switch_index = port->node->switch_index};
		} else if (port->peer && subnet_node_is_switch(port->peer->node)) {
			*destination = (struct routing_destination){
				.lid = (uint16_t)lid,
				.switch_index = port->peer->node->switch_index,
				.port_number = port->peer->number};
		} else {
			continue;
		}
		destination_count++;
	}
	return destination_count;
}

/* Entries of LIDs that nobody has any more are not in any destination, so they are taken out here.
 */
static void remove_unused_lids(struct sm *sm)
{
	for (unsigned lid = 0; lid <= sm->subnet.lid_max; lid++) {
		if (sm->subnet.by_lid[lid])
			continue;
		for (uint32_t i = 0; i < sm->graph.switch_count; i++)
			sm->graph.switches[i].table[lid] = ROUTING_NO_PORT;
	}
}

static int switches_begin(struct sm *sm)
{
	uint16_t lid_max = sm->subnet.lid_max;
	int error;

	routing_graph_release(&sm->graph);
	error = routing_graph_init(&sm->graph, sm->subnet.switch_count, lid_max, lid_max);
	if (!error)
		error = add_switches(sm);
	if (error)
		return error;
	add_links(sm);
	sm->graph.destination_count = add_destinations(sm);
	remove_unused_lids(sm);
	error = minhop_route(&sm->graph);
	sweep_cursor_reset(sm);
	return error;
}

static bool switches_next(struct sm *sm, struct mad_message *ret_request,
			  struct mad_purpose *ret_purpose)
{
	while (sm->cursor_node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor_node);
		struct switch_info info = node->switch_info;

		sm->cursor_node = sm->cursor_node->next;
		if (!subnet_node_is_switch(node) || info.linear_fdb_top == sm->subnet.lid_max)
			continue;
		info.linear_fdb_top = sm->subnet.lid_max;
		info.port_state_change = 0;
		sweep_request(node, MAD_SET, ATTRIBUTE_SWITCH_INFO, 0, ret_request);
		switch_info_encode(&info, smp_data(ret_request->bytes));
		*ret_purpose = (struct mad_purpose){.subject = node};
		return true;
	}
	return false;
}

static void switches_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;

	(void)sm;
	switch_info_decode(data, &node->switch_info);
}

static void mark_incomplete(struct sm *sm, struct mad_purpose purpose)
{
	(void)purpose;
	sm->is_incomplete = true;
}

static enum sweep_phase switches_following(struct sm *sm)
{
	(void)sm;
	return PHASE_FORWARDING;
}

const struct phase_operations sweep_switches = {
	.name = "switches",
	.begin = switches_begin,
	.next = switches_next,
	.answered = switches_answered,
	.failed = mark_incomplete,
	.following = switches_following,
};

static int forwarding_begin(struct sm *sm)
{
	sweep_cursor_reset(sm);
	return 0;
}

/* The block as it should be; LIDs above the highest lead nowhere. */
static void wanted_block(const struct sm *sm, const struct subnet_node *node, unsigned block,
			 uint8_t ret_ports[static LINEAR_FORWARDING_PER_BLOCK])
{
	unsigned start = block * LINEAR_FORWARDING_PER_BLOCK;
	unsigned entry_count = sm->graph.lid_max + 1u - start;

	if (entry_count > LINEAR_FORWARDING_PER_BLOCK)
		entry_count = LINEAR_FORWARDING_PER_BLOCK;
	memset(ret_ports, LINEAR_FORWARDING_DROP, LINEAR_FORWARDING_PER_BLOCK);
	memcpy(ret_ports, sm->graph.switches[node->switch_index].table + start, entry_count);
}

static bool next_changed_block(struct sm *sm, struct subnet_node *node, unsigned *ret_block,
			       uint8_t ret_ports[static LINEAR_FORWARDING_PER_BLOCK])
{
	while (sm->cursor_index * LINEAR_FORWARDING_PER_BLOCK <= sm->graph.lid_max) {
		unsigned block = sm->cursor_index++;

		wanted_block(sm, node, block, ret_ports);
		if (block_is_known(node, block) &&
		    memcmp(node->table + block * LINEAR_FORWARDING_PER_BLOCK, ret_ports,
			   LINEAR_FORWARDING_PER_BLOCK) == 0)
			continue;
		*ret_block = block;
		return true;
	}
	return false;
}

static bool forwarding_next(struct sm *sm, struct mad_message *ret_request,
			    struct mad_purpose *ret_purpose)
{
	uint8_t ports[LINEAR_FORWARDING_PER_BLOCK];

	while (sm->cursor_node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor_node);
		unsigned block;

		if (subnet_node_is_switch(node) && next_changed_block(sm, node, &block, ports)) {
			sweep_request(node, MAD_SET, ATTRIBUTE_LINEAR_FORWARDING, block,
				      ret_request);
			linear_forwarding_block_encode(ports, smp_data(ret_request->bytes));
			/* Until the answer we do not know what is there. */
			forget_block(node, block);
			*ret_purpose = (struct mad_purpose){.subject = node, .detail = block};
			return true;
		}
		sm->cursor_node = sm->cursor_node->next;
		sm->cursor_index = 0;
	}
	return false;
}

static void forwarding_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;
	uint8_t ports[LINEAR_FORWARDING_PER_BLOCK];
	uint8_t wanted[LINEAR_FORWARDING_PER_BLOCK];

	linear_forwarding_block_decode(data, ports);
	wanted_block(sm, node, purpose.detail, wanted);
	if (memcmp(ports, wanted, sizeof(ports)) != 0)
		sm->is_incomplete = true;
	memcpy(node->table + purpose.detail * LINEAR_FORWARDING_PER_BLOCK, ports, sizeof(ports));
	set_block_known(node, purpose.detail);
}

static enum sweep_phase forwarding_following(struct sm *sm)
{
	routing_graph_release(&sm->graph);
	return PHASE_PORTS;
}

const struct phase_operations sweep_forwarding = {
	.name = "forwarding",
	.begin = forwarding_begin,
	.next = forwarding_next,
	.answered = forwarding_answered,
	.failed = mark_incomplete,
	.following = forwarding_following,
};
