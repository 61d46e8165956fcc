/* SPDX-License-Identifier: Apache-2.0 */
/* The manager's model of its subnet: nodes and links. */
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
	hash_table_init(&subnet->by_port_guid);
	hash_table_init(&subnet->lid_by_port_guid);
	neighbors_init(&subnet->neighbors);
	multicast_groups_init(&subnet->multicast_groups);
	subnet->gid_prefix = GID_PREFIX_LINK_LOCAL;
}

static void destroy_node(struct subnet_node *node)
{
	for (unsigned i = 0; node->ports && i <= node->port_count; i++) {
		free(node->ports[i].pkeys);
		free(node->ports[i].pkeys_present);
	}
	free(node->multicast);
	free(node->multicast_block_is_due);
	free(node->ports);
	free(node->table);
	free(node);
}

void subnet_release(struct subnet *subnet)
{
	for (struct list *link; (link = list_pop(&subnet->nodes));)
		destroy_node(node_of(link));
	hash_table_release(&subnet->by_guid);
	hash_table_release(&subnet->by_port_guid);
	hash_table_release(&subnet->lid_by_port_guid);
	neighbors_release(&subnet->neighbors);
	multicast_groups_release(&subnet->multicast_groups);
	partitions_release(&subnet->partitions);
	free(subnet->service_levels);
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

static void part(struct subnet_port *port)
{
	if (port->peer) {
		port->peer->peer = NULL;
		port->peer->node->is_settled = false;
	}
	port->peer = NULL;
}

static void forget_lost_port(struct subnet_port *port)
{
	port->info.port_state = PORT_DOWN;
	port->is_known = false;
}

void subnet_unlink(struct subnet_port *port)
{
	port->node->is_settled = false;
	if (port->peer)
		forget_lost_port(port->peer);
	forget_lost_port(port);
	part(port);
}

void subnet_forget_lanes(struct subnet_node *node)
{
	for (unsigned i = 0; i <= node->port_count; i++)
		node->ports[i].maps_vls = node->ports[i].arbitration_vls = 0;
}

void subnet_forget_tables(struct subnet_node *node)
{
	memset(node->table_blocks_known, 0, sizeof(node->table_blocks_known));
	node->multicast_mlid_count = 0;
	node->multicast_due_count = 0;
	subnet_forget_lanes(node);
	node->is_settled = false;
}

void subnet_unsettle(struct subnet *subnet)
{
	list_for_each (link, &subnet->nodes)
		node_of(link)->is_settled = false;
}

static void remove_node(struct subnet *subnet, struct subnet_node *node)
{
	for (unsigned i = 0; i <= node->port_count; i++) {
		struct subnet_port *port = &node->ports[i];

		part(port);
		for (unsigned lid = port->lid; lid && lid < port->lid + (1u << port->lmc); lid++) {
			if (subnet->by_lid[lid] == port)
				subnet->by_lid[lid] = NULL;
		}
		if (port->lid && subnet_port_by_guid(subnet, port->guid) == port)
			hash_table_remove(&subnet->by_port_guid, port->guid);
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
	/* Only the manager's own node can be entered by port 0: no link leads there. */
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

/* The node is known from an earlier sweep. It keeps its tables and LIDs; links and routes are found
 * anew. */
static void refresh_node(struct subnet *subnet, struct subnet_node *node,
			 const struct node_info *info)
{
	node->seen_in_sweep = subnet->sweep;
	node->is_settled = false;
	node->info = *info;
	for (unsigned i = 0; i <= node->port_count; i++) {
		part(&node->ports[i]);
		node->ports[i].is_known = false;
	}
}

/* The link by which the node was found. It can be found from both ends; then both must agree. */
static bool can_link(const struct subnet_port *via, const struct subnet_port *port)
{
	return via == port ||
	       ((!port->peer || port->peer == via) && (!via->peer || via->peer == port));
}

enum subnet_add_result subnet_add_node(struct subnet *subnet, const struct node_info *info,
				       const struct directed_route *route, struct subnet_port *via,
				       struct subnet_node **ret_node)
{
	struct subnet_node *node = hash_table_get(&subnet->by_guid, info->node_guid);
	bool is_known = node && node->seen_in_sweep == subnet->sweep;

	if (!is_plausible(info, via))
		return SUBNET_INVALID;
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
		refresh_node(subnet, node, info);
		node->route = *route;
		node->route_port = info->local_port_number;
	}

	struct subnet_port *port = &node->ports[info->local_port_number];

	if (via && via != port) {
		via->peer = port;
		port->peer = via;
		via->node->is_settled = false;
		node->is_settled = false;
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

/* Visits the nodes at the other ends of this node's links. Only switches and the manager's own
 * adapter are passed through. */
static void visit_neighbors(struct subnet *subnet, struct subnet_node *node,
			    struct subnet_port *own_port, struct list *met)
{
	for (unsigned i = 1; i <= node->port_count; i++) {
		struct subnet_port *port = &node->ports[i];
		struct subnet_node *neighbor = port->peer ? port->peer->node : NULL;

		if (!neighbor || neighbor->seen_in_sweep == subnet->sweep)
			continue;
		if (!subnet_node_is_switch(node) && port != own_port)
			continue;
		if (!directed_route_extend(&node->route, (uint8_t)i, &neighbor->route))
			continue;
		neighbor->route_port = port->peer->number;
		neighbor->seen_in_sweep = subnet->sweep;
		list_remove(&neighbor->link);
		list_append(met, &neighbor->link);
	}
}

void subnet_begin_linked_sweep(struct subnet *subnet, struct subnet_port *own_port)
{
	struct subnet_node *own = own_port->node;
	struct list met;

	list_init(&met);
	subnet->sweep++;
	own->seen_in_sweep = subnet->sweep;
	own->route = (struct directed_route){0};
	list_remove(&own->link);
	list_append(&met, &own->link);
	/* Nodes are appended as they are visited, so the list is the queue of the breadth-first
	 * search. */
	list_for_each (link, &met)
		visit_neighbors(subnet, node_of(link), own_port, &met);
	for (struct list *link; (link = list_pop(&subnet->nodes));)
		list_append(&met, link);
	for (struct list *link; (link = list_pop(&met));)
		list_append(&subnet->nodes, link);
}
