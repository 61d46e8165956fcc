/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast trees and the tables they become: one spanning tree per MLID, over the switches that
 * connect its members (vol 1, chapter 14). */
#include "mgmt/sm/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wire/smp.h"
#include "wire/smp_tables.h"

enum { POSITIONS_MAX = 16 };

#define NO_SWITCH UINT32_MAX

/* The room in which one tree is made; all by switch index. */
struct tree {
	uint32_t switch_count;
	struct subnet_node **switches;
	uint32_t *distance;	 /* from where the last search began */
	struct subnet_port **up; /* the port towards there */
	uint32_t *queue;
	bool *is_on_tree;
	uint16_t (*masks)[POSITIONS_MAX];
};

static void tree_release(struct tree *tree)
{
	free(tree->switches);
	free(tree->distance);
	free(tree->up);
	free(tree->queue);
	free(tree->is_on_tree);
	free(tree->masks);
}

static int tree_init(struct tree *tree, const struct sm *sm)
{
	uint32_t count = sm->graph.switch_count;

	*tree = (struct tree){
		.switch_count = count,
		.switches = calloc(count + 1u, sizeof(*tree->switches)),
		.distance = calloc(count + 1u, sizeof(*tree->distance)),
		.up = calloc(count + 1u, sizeof(struct subnet_port *)),
		.queue = calloc(count + 1u, sizeof(*tree->queue)),
		.is_on_tree = calloc(count + 1u, sizeof(*tree->is_on_tree)),
		.masks = calloc(count + 1u, sizeof(*tree->masks)),
	};
	if (!tree->switches || !tree->distance || !tree->up || !tree->queue || !tree->is_on_tree ||
	    !tree->masks) {
		tree_release(tree);
		return -ENOMEM;
	}
	list_for_each (link, &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(link);

		if (subnet_node_is_switch(node) && node->switch_index < count)
			tree->switches[node->switch_index] = node;
	}
	return 0;
}

/* The switch port by which a member is reached; NULL when it is not here. */
static struct subnet_port *access_port(const struct sm *sm, const struct multicast_member *member)
{
	struct subnet_port *port = subnet_port_by_guid(&sm->subnet, member->port_guid);

	if (!port)
		return NULL;
	if (subnet_node_is_switch(port->node))
		return port;
	return port->peer && subnet_node_is_switch(port->peer->node) ? port->peer : NULL;
}

/* Breadth first from one switch. Where it begins among the ports differs by MLID, so that trees do
 * not all use the same links. */
static void search(struct tree *tree, uint32_t start, unsigned mlid)
{
	uint32_t queued_count = 1;

	memset(tree->distance, 0xff, tree->switch_count * sizeof(*tree->distance));
	tree->distance[start] = 0;
	tree->up[start] = NULL;
	tree->queue[0] = start;
	for (uint32_t head = 0; head < queued_count; head++) {
		struct subnet_node *node = tree->switches[tree->queue[head]];

		for (unsigned i = 0; i < node->port_count; i++) {
			struct subnet_port *port = &node->ports[1 + (i + mlid) % node->port_count];
			struct subnet_port *peer = port->peer;

			if (!peer || !subnet_node_is_switch(peer->node) || peer->node == node)
				continue;

			uint32_t index = peer->node->switch_index;

			if (index >= tree->switch_count || tree->distance[index] != NO_SWITCH)
				continue;
			tree->distance[index] = tree->distance[node->switch_index] + 1;
			tree->up[index] = peer;
			tree->queue[queued_count++] = index;
		}
	}
}

/* The switch of the member that is farthest from where the last search began. */
static uint32_t farthest(const struct tree *tree, const struct sm *sm,
			 const struct multicast_group *group)
{
	uint32_t found = NO_SWITCH;

	list_for_each (link, &group->members) {
		const struct subnet_port *port = access_port(sm, multicast_member_of(link));
		uint32_t index = port ? port->node->switch_index : NO_SWITCH;

		if (index >= tree->switch_count || tree->distance[index] == NO_SWITCH)
			continue;
		if (found == NO_SWITCH || tree->distance[index] > tree->distance[found])
			found = index;
	}
	return found;
}

static uint32_t first_switch(const struct sm *sm, const struct multicast_group *group)
{
	list_for_each (link, &group->members) {
		const struct subnet_port *port = access_port(sm, multicast_member_of(link));

		if (port && port->node->switch_index < sm->graph.switch_count)
			return port->node->switch_index;
	}
	return NO_SWITCH;
}

/* Half way between two members that are as far apart as any: the smallest greatest distance. */
static uint32_t find_root(struct tree *tree, const struct sm *sm,
			  const struct multicast_group *group)
{
	uint32_t start = first_switch(sm, group);
	uint32_t end;

	if (start == NO_SWITCH)
		return NO_SWITCH;
	search(tree, start, group->mlid);
	start = farthest(tree, sm, group);
	search(tree, start, group->mlid);
	end = farthest(tree, sm, group);
	for (uint32_t hops = tree->distance[end] / 2; hops > 0; hops--)
		end = tree->up[end]->peer->node->switch_index;
	return end;
}

static void add_port(struct tree *tree, const struct subnet_port *port)
{
	tree->masks[port->node->switch_index][port->number / MULTICAST_PORTS_PER_POSITION] |=
		(uint16_t)(1u << port->number % MULTICAST_PORTS_PER_POSITION);
}

/* The way from a member's switch up to what is on the tree already. */
static void add_branch(struct tree *tree, uint32_t index)
{
	while (!tree->is_on_tree[index]) {
		tree->is_on_tree[index] = true;

		struct subnet_port *up = tree->up[index];

		if (!up)
			return;
		add_port(tree, up);
		add_port(tree, up->peer);
		index = up->peer->node->switch_index;
	}
}

static void make_tree(struct tree *tree, const struct sm *sm, const struct multicast_group *group)
{
	uint32_t root;

	memset(tree->masks, 0, tree->switch_count * sizeof(*tree->masks));
	root = group ? find_root(tree, sm, group) : NO_SWITCH;
	if (root == NO_SWITCH)
		return;
	memset(tree->is_on_tree, 0, tree->switch_count * sizeof(*tree->is_on_tree));
	search(tree, root, group->mlid);
	list_for_each (link, &group->members) {
		const struct multicast_member *member = multicast_member_of(link);
		const struct subnet_port *port = access_port(sm, member);

		if (!port || port->node->switch_index >= tree->switch_count ||
		    tree->distance[port->node->switch_index] == NO_SWITCH)
			continue;
		add_branch(tree, port->node->switch_index);
		/* One that only sends is connected, and gets nothing. */
		if (multicast_member_receives(member))
			add_port(tree, port);
	}
}

/* Blocks that were not there before are unknown, so all of them are due. */
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
		      const uint16_t masks[static POSITIONS_MAX])
{
	unsigned positions = subnet_multicast_positions(node);

	if (mlid_index >= node->switch_info.multicast_fdb_cap || !make_room(node, mlid_index)) {
		for (unsigned i = 0; i < positions; i++)
			sm->is_incomplete |= masks[i] != 0;
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

static void store_tree(struct sm *sm, const struct tree *tree, unsigned mlid_index)
{
	for (uint32_t i = 0; i < tree->switch_count; i++) {
		if (tree->switches[i])
			store_row(sm, tree->switches[i], mlid_index, tree->masks[i]);
	}
}

static bool is_changed(const struct sm *sm, unsigned mlid_index)
{
	return sm->all_mlids_changed ||
	       (sm->changed_mlids[mlid_index / 64] >> (mlid_index % 64) & 1);
}

/* Above this one no table has anything. */
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
	bool any = sm->all_mlids_changed;

	for (unsigned i = 0; i < ARRAY_COUNT(sm->changed_mlids); i++)
		any |= sm->changed_mlids[i] != 0;
	return any;
}

static int multicast_begin(struct sm *sm)
{
	unsigned end = mlid_index_end(sm);
	struct tree tree;
	int error;

	sweep_cursor_reset(sm);
	if (!multicast_has_changes(sm))
		return 0;
	error = tree_init(&tree, sm);
	if (error)
		return error;
	for (unsigned i = 0; i < end; i++) {
		if (!is_changed(sm, i))
			continue;
		make_tree(&tree, sm, sm->subnet.multicast_groups.by_mlid[i]);
		store_tree(sm, &tree, i);
	}
	tree_release(&tree);
	memset(sm->changed_mlids, 0, sizeof(sm->changed_mlids));
	sm->all_mlids_changed = false;
	return 0;
}

static bool next_due(struct sm *sm, struct subnet_node *node, unsigned *ret_block_index)
{
	unsigned positions = subnet_multicast_positions(node);
	unsigned end = node->multicast_mlid_count / MULTICAST_FORWARDING_PER_BLOCK * positions;

	while (node->multicast_due_count && sm->cursor_index < end) {
		unsigned index = sm->cursor_index++;

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
	while (sm->cursor_node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor_node);
		unsigned block_index;

		if (subnet_node_is_switch(node) && next_due(sm, node, &block_index)) {
			make_block(node, block_index, ret_request);
			*ret_purpose = (struct mad_purpose){.subject = node, .detail = block_index};
			return true;
		}
		sm->cursor_node = sm->cursor_node->next;
		sm->cursor_index = 0;
	}
	return false;
}

static void multicast_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	(void)sm;
	(void)purpose;
	(void)data;
}

static void multicast_failed(struct sm *sm, struct mad_purpose purpose)
{
	struct subnet_node *node = purpose.subject;

	mark_due(node, purpose.detail);
	sm->is_incomplete = true;
}

static enum sweep_phase multicast_following(struct sm *sm)
{
	return sm->scope == SCOPE_TREES ? PHASE_IDLE : PHASE_PORTS;
}

const struct phase_operations sweep_multicast = {
	.name = "multicast",
	.begin = multicast_begin,
	.next = multicast_next,
	.answered = multicast_answered,
	.failed = multicast_failed,
	.following = multicast_following,
};
