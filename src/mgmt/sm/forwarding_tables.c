/* SPDX-License-Identifier: Apache-2.0 */
/* The linear forwarding tables of the switches: LinearFDBTop first, then the blocks that changed
 * (management 3.4). */
#include "mgmt/sm/sweep.h"

#include <string.h>
#include "wire/smp.h"
#include "wire/smp_tables.h"

static void set_block_known(struct subnet_node *node, unsigned block)
{
	node->table_blocks_known[block / 64] |= 1ull << (block % 64);
}

static void forget_block(struct subnet_node *node, unsigned block)
{
	node->table_blocks_known[block / 64] &= ~(1ull << (block % 64));
}

static int switches_begin(struct sm *sm)
{
	int error = routes_update(sm);

	sweep_cursor_reset(sm);
	return error;
}

enum { LIFE_TIME_VALUE = 0x12 };

static bool switches_next(struct sm *sm, struct mad_message *ret_request,
			  struct mad_purpose *ret_purpose)
{
	while (sm->cursor.node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor.node);
		struct switch_info info = node->switch_info;

		sm->cursor.node = sm->cursor.node->next;
		if (!subnet_node_is_switch(node) || (info.linear_fdb_top == sm->subnet.lid_max &&
						     info.life_time_value == LIFE_TIME_VALUE))
			continue;
		info.linear_fdb_top = sm->subnet.lid_max;
		info.life_time_value = LIFE_TIME_VALUE;
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

const struct phase_operations sweep_switches = {
	.name = "switches",
	.begin = switches_begin,
	.next = switches_next,
	.answered = switches_answered,
	.failed = sweep_mark_incomplete,
	.following = PHASE_PARTITIONS,
};

static int forwarding_begin(struct sm *sm)
{
	sweep_cursor_reset(sm);
	return 0;
}

/* The block as it should be. LIDs above the highest one are not routed. */
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
	uint64_t *moved = sm->graph.switches[node->switch_index].moved_blocks;

	while (sm->cursor.index * LINEAR_FORWARDING_PER_BLOCK <= sm->graph.lid_max) {
		unsigned block = sm->cursor.index++;
		uint64_t bit = UINT64_C(1) << (block % 64);

		if (!(moved[block / 64] & bit) && subnet_table_block_is_known(node, block))
			continue;
		moved[block / 64] &= ~bit;
		wanted_block(sm, node, block, ret_ports);
		if (subnet_table_block_is_known(node, block) &&
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

	while (sm->cursor.node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor.node);
		unsigned block;

		if (subnet_node_is_switch(node) && next_changed_block(sm, node, &block, ports)) {
			sweep_request(node, MAD_SET, ATTRIBUTE_LINEAR_FORWARDING, block,
				      ret_request);
			linear_forwarding_block_encode(ports, smp_data(ret_request->bytes));
			/* Until the response comes, the contents of the block are unknown. */
			forget_block(node, block);
			*ret_purpose = (struct mad_purpose){.subject = node, .detail = block};
			return true;
		}
		sm->cursor.node = sm->cursor.node->next;
		sm->cursor.index = 0;
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
		sm->sweep.is_incomplete = true;
	memcpy(node->table + purpose.detail * LINEAR_FORWARDING_PER_BLOCK, ports, sizeof(ports));
	set_block_known(node, purpose.detail);
}

const struct phase_operations sweep_forwarding = {
	.name = "forwarding",
	.begin = forwarding_begin,
	.next = forwarding_next,
	.answered = forwarding_answered,
	.failed = sweep_mark_incomplete,
	.following = PHASE_LANES,
};
