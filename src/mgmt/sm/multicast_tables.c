/* SPDX-License-Identifier: Apache-2.0 */
/* The multicast forwarding tables, one tree per MLID (management 3.4). */
#include "mgmt/sm/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/subnet/multicast_tree.h"
#include "wire/smp.h"
#include "wire/smp_tables.h"

/* New blocks are unknown, so all of them must be written. */
static bool make_room(struct subnet_node *node, unsigned mlid_index)
{
	unsigned positions = subnet_multicast_positions(node);
	uint32_t old_blocks = node->multicast_mlid_count / MULTICAST_FORWARDING_PER_BLOCK;
	uint32_t blocks = mlid_index / MULTICAST_FORWARDING_PER_BLOCK + 1;
	uint32_t count = blocks * MULTICAST_FORWARDING_PER_BLOCK;
	uint16_t *table;
	uint8_t *due;

	if (mlid_index < node->multicast_mlid_count)
		return true;
	table = realloc(node->multicast, count * positions * sizeof(*table));
	if (table)
		node->multicast = table;
	due = realloc(node->multicast_block_is_due, blocks * positions);
	if (due)
		node->multicast_block_is_due = due;
	if (!table || !due)
		return false;
	memset(table + node->multicast_mlid_count * positions, 0,
	       (count - node->multicast_mlid_count) * positions * sizeof(*table));
	memset(due + old_blocks * positions, 1, (blocks - old_blocks) * positions);
	node->multicast_due_count += (blocks - old_blocks) * positions;
	node->multicast_mlid_count = count;
	return true;
}

static void mark_due(struct subnet_node *node, unsigned block_index)
{
	node->multicast_due_count += !node->multicast_block_is_due[block_index];
	node->multicast_block_is_due[block_index] = 1;
}

static void store_row(struct sm *sm, struct subnet_node *node, unsigned mlid_index,
		      const uint16_t masks[static MULTICAST_POSITIONS_MAX])
{
	unsigned positions = subnet_multicast_positions(node);

	if (mlid_index >= node->switch_info.multicast_fdb_cap || !make_room(node, mlid_index)) {
		for (unsigned i = 0; i < positions; i++)
			sm->sweep.is_incomplete |= masks[i] != 0;
		return;
	}
	for (unsigned i = 0; i < positions; i++) {
		uint16_t *mask = &node->multicast[mlid_index * positions + i];

		if (*mask == masks[i])
			continue;
		*mask = masks[i];
		mark_due(node, mlid_index / MULTICAST_FORWARDING_PER_BLOCK * positions + i);
	}
}

static void store_tree(struct sm *sm, const struct multicast_tree *tree, unsigned mlid_index)
{
	for (uint32_t i = 0; i < tree->switch_count; i++) {
		if (tree->switches[i])
			store_row(sm, tree->switches[i], mlid_index, tree->masks[i]);
	}
}

static bool is_changed(const struct sm *sm, unsigned mlid_index)
{
	return sm->multicast.all_changed ||
	       (sm->multicast.changed[mlid_index / 64] >> (mlid_index % 64) & 1);
}

/* No table has an entry from this index on. */
static unsigned mlid_index_end(const struct sm *sm)
{
	unsigned end = 0;

	list_for_each (link, &sm->subnet.multicast_groups.groups) {
		unsigned index = multicast_group_of(link)->mlid - LID_MULTICAST_FIRST;

		end = index >= end ? index + 1 : end;
	}
	list_for_each (link, &sm->subnet.nodes) {
		const struct subnet_node *node = sweep_node(link);

		end = node->multicast_mlid_count > end ? node->multicast_mlid_count : end;
	}
	return end;
}

bool multicast_has_changes(const struct sm *sm)
{
	bool any = sm->multicast.all_changed;

	for (unsigned i = 0; i < ARRAY_COUNT(sm->multicast.changed); i++)
		any |= sm->multicast.changed[i] != 0;
	return any;
}

/* Reports the change once. */
static void note_tree(struct sm *sm, struct multicast_group *group, bool is_fit)
{
	if (!is_fit && !group->tree_is_unfit)
		sm_note(sm, SM_EVENT_WARNING,
			"MLID 0x%04x: no tree with the group's MTU and rate leads to all members",
			group->mlid);
	group->tree_is_unfit = !is_fit;
}

/* A switch without a multicast table does not limit groups elsewhere. */
static void update_mlid_count_max(struct sm *sm)
{
	uint32_t count_max = MLID_COUNT;

	list_for_each (link, &sm->subnet.nodes) {
		const struct subnet_node *node = sweep_node(link);
		uint16_t capacity = node->switch_info.multicast_fdb_cap;

		if (subnet_node_is_switch(node) && capacity && capacity < count_max)
			count_max = capacity;
	}
	sm->subnet.multicast_groups.mlid_count_max = count_max;
}

static int multicast_begin(struct sm *sm)
{
	unsigned end = mlid_index_end(sm);
	struct multicast_tree tree;
	int error;

	sweep_cursor_reset(sm);
	update_mlid_count_max(sm);
	if (!multicast_has_changes(sm))
		return 0;
	error = multicast_tree_init(&tree, &sm->subnet);
	if (error)
		return error;
	for (unsigned i = 0; i < end; i++) {
		if (!is_changed(sm, i))
			continue;

		struct multicast_group *group = sm->subnet.multicast_groups.by_mlid[i];
		bool is_fit = multicast_tree_make(&tree, &sm->subnet, group);

		if (group)
			note_tree(sm, group, is_fit);
		store_tree(sm, &tree, i);
	}
	multicast_tree_release(&tree);
	memset(sm->multicast.changed, 0, sizeof(sm->multicast.changed));
	sm->multicast.all_changed = false;
	return 0;
}

static bool next_due(struct sm *sm, struct subnet_node *node, unsigned *ret_block_index)
{
	unsigned positions = subnet_multicast_positions(node);
	unsigned end = node->multicast_mlid_count / MULTICAST_FORWARDING_PER_BLOCK * positions;

	while (node->multicast_due_count && sm->cursor.index < end) {
		unsigned index = sm->cursor.index++;

		if (!node->multicast_block_is_due[index])
			continue;
		node->multicast_block_is_due[index] = 0;
		node->multicast_due_count--;
		*ret_block_index = index;
		return true;
	}
	return false;
}

static void make_block(const struct subnet_node *node, unsigned block_index,
		       struct mad_message *ret_request)
{
	unsigned positions = subnet_multicast_positions(node);
	unsigned block = block_index / positions;
	unsigned position = block_index % positions;
	uint16_t masks[MULTICAST_FORWARDING_PER_BLOCK];

	for (unsigned i = 0; i < MULTICAST_FORWARDING_PER_BLOCK; i++)
		masks[i] =
			node->multicast[(block * MULTICAST_FORWARDING_PER_BLOCK + i) * positions +
					position];
	sweep_request(node, MAD_SET, ATTRIBUTE_MULTICAST_FORWARDING,
		      multicast_forwarding_modifier((uint16_t)block, (uint8_t)position),
		      ret_request);
	multicast_forwarding_block_encode(masks, smp_data(ret_request->bytes));
}

static bool multicast_next(struct sm *sm, struct mad_message *ret_request,
			   struct mad_purpose *ret_purpose)
{
	while (sm->cursor.node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor.node);
		unsigned block_index;

		if (subnet_node_is_switch(node) && next_due(sm, node, &block_index)) {
			make_block(node, block_index, ret_request);
			*ret_purpose = (struct mad_purpose){.subject = node, .detail = block_index};
			return true;
		}
		sm->cursor.node = sm->cursor.node->next;
		sm->cursor.index = 0;
	}
	return false;
}

static void multicast_failed(struct sm *sm, struct mad_purpose purpose)
{
	struct subnet_node *node = purpose.subject;

	mark_due(node, purpose.detail);
	sm->sweep.is_incomplete = true;
}

static enum sweep_phase multicast_following(struct sm *sm)
{
	return sm->sweep.scope == SCOPE_TREES ? PHASE_REREGISTER : PHASE_PORTS;
}

const struct phase_operations sweep_multicast = {
	.name = "multicast",
	.begin = multicast_begin,
	.next = multicast_next,
	.failed = multicast_failed,
	.choose_following = multicast_following,
};
