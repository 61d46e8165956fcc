/* SPDX-License-Identifier: Apache-2.0 */
/* A manager's model of its subnet: nodes and links. */
#include "mgmt/subnet/subnet.h"

#include <stdlib.h>
#include <string.h>

static struct subnet_node *node_of(struct list *link)
{
	return container_of(link, struct subnet_node, link);
}

void subnet_init(struct subnet *subnet)
{
	memset(subnet, 0, sizeof(*subnet));
	list_init(&subnet->nodes);
	hash_table_init(&subnet->by_guid);
	hash_table_init(&subnet->lid_by_port_guid);
}

static void destroy_node(struct subnet_node *node)
{
	free(node->ports);
	free(node->table);
	free(node);
}

void subnet_release(struct subnet *subnet)
{
	for (struct list *link; (link = list_pop(&subnet->nodes));)
		destroy_node(node_of(link));
	hash_table_release(&subnet->by_guid);
	hash_table_release(&subnet->lid_by_port_guid);
}

void subnet_begin_sweep(struct subnet *subnet)
{
	subnet->sweep++;
}

struct subnet_node *subnet_find(const struct subnet *subnet, uint64_t node_guid)
{
	struct subnet_node *node = hash_table_get(&subnet->by_guid, node_guid);

	return node && node->seen_in_sweep == subnet->sweep ? node : NULL;
}

static void remove_node(struct subnet *subnet, struct subnet_node *node)
{
	for (unsigned i = 0; i <= node->port_count; i++) {
		struct subnet_port *port = &node->ports[i];

		if (port->lid && subnet->by_lid[port->lid] == port)
			subnet->by_lid[port->lid] = NULL;
	}
	list_remove(&node->link);
	hash_table_remove(&subnet->by_guid, node->info.node_guid);
	subnet->node_count--;
	if (subnet_node_is_switch(node))
		subnet->switch_count--;
	destroy_node(node);
}

static struct subnet_node *make_node(const struct node_info *info)
{
	struct subnet_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->info = *info;
	node->port_count = info->port_count;
	node->ports = calloc(node->port_count + 1u, sizeof(*node->ports));
	if (info->node_type == NODE_SWITCH) {
		node->table = malloc(LID_UNICAST_LAST + 1);
		if (node->table)
			memset(node->table, 0xff, LID_UNICAST_LAST + 1);
	}
	if (!node->ports || (info->node_type == NODE_SWITCH && !node->table)) {
		destroy_node(node);
		return NULL;
	}
	for (unsigned i = 0; i <= node->port_count; i++) {
		node->ports[i].node = node;
		node->ports[i].number = (uint8_t)i;
	}
	return node;
}

static struct subnet_node *add_node(struct subnet *subnet, const struct node_info *info)
{
	struct subnet_node *node = make_node(info);

	if (!node)
		return NULL;
	if (hash_table_put(&subnet->by_guid, info->node_guid, node) != 0) {
		destroy_node(node);
		return NULL;
	}
	list_append(&subnet->nodes, &node->link);
	subnet->node_count++;
	if (subnet_node_is_switch(node))
		subnet->switch_count++;
	return node;
}

static bool is_plausible(const struct node_info *info, const struct subnet_port *via)
{
	/* Port 0 is a switch talking to itself: no cable leads there, and nobody else has one. */
	bool may_be_port_0 = !via && info->node_type == NODE_SWITCH;

	return info->node_guid && info->node_type >= NODE_CA && info->node_type <= NODE_ROUTER &&
	       info->port_count && info->port_count <= SUBNET_PORTS_MAX &&
	       info->local_port_number <= info->port_count &&
	       (info->local_port_number || may_be_port_0);
}

static bool is_same_hardware(const struct node_info *a, const struct node_info *b)
{
	return a->node_type == b->node_type && a->port_count == b->port_count;
}

/* Known from an earlier sweep: keeps what it knows of tables and LIDs, forgets links and routes. */
static void meet_again(struct subnet *subnet, struct subnet_node *node,
		       const struct node_info *info)
{
	node->seen_in_sweep = subnet->sweep;
	node->info = *info;
	for (unsigned i = 0; i <= node->port_count; i++) {
		node->ports[i].peer = NULL;
		node->ports[i].is_known = false;
	}
}

/* The cable that led here; it can be found from both of its ends, and then agrees. */
static bool can_link(const struct subnet_port *via, const struct subnet_port *port)
{
	return via == port ||
	       ((!port->peer || port->peer == via) && (!via->peer || via->peer == port));
}

enum subnet_meeting subnet_meet(struct subnet *subnet, const struct node_info *info,
				const struct directed_route *route, struct subnet_port *via,
				struct subnet_node **ret_node)
{
	struct subnet_node *node = hash_table_get(&subnet->by_guid, info->node_guid);
	bool is_known = node && node->seen_in_sweep == subnet->sweep;

	if (!is_plausible(info, via))
		return SUBNET_NONSENSE;
	if (is_known && !is_same_hardware(&node->info, info))
		return SUBNET_DUPLICATE;
	if (is_known && via && !can_link(via, &node->ports[info->local_port_number]))
		return SUBNET_DUPLICATE;
	if (node && !is_same_hardware(&node->info, info)) {
		remove_node(subnet, node);
		node = NULL;
	}
	if (!node)
		node = add_node(subnet, info);
	if (!node)
		return SUBNET_OUT_OF_MEMORY;
	if (!is_known) {
		meet_again(subnet, node, info);
		node->route = *route;
	}

	struct subnet_port *port = &node->ports[info->local_port_number];

	if (via && via != port) {
		via->peer = port;
		port->peer = via;
	}
	node->ports[subnet_node_is_switch(node) ? 0 : info->local_port_number].guid =
		info->port_guid;
	*ret_node = node;
	return is_known ? SUBNET_KNOWN : SUBNET_NEW;
}

uint32_t subnet_drop_unseen(struct subnet *subnet)
{
	uint32_t dropped_count = 0;

	list_for_each_safe (link, &subnet->nodes) {
		if (node_of(link)->seen_in_sweep == subnet->sweep)
			continue;
		remove_node(subnet, node_of(link));
		dropped_count++;
	}
	return dropped_count;
}
