/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot of a subnet. */
#include "mgmt/subnet/subnet_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct subnet_node *node_of(struct list *link)
{
	return container_of(link, struct subnet_node, link);
}

static int copy_array(const void *array, size_t byte_count, void *ret_pointer)
{
	void *copied = malloc(byte_count ? byte_count : 1);

	if (!copied)
		return -ENOMEM;
	if (byte_count)
		memcpy(copied, array, byte_count);
	memcpy(ret_pointer, &copied, sizeof(copied));
	return 0;
}

static int copy_default_pkey(struct subnet_port *port)
{
	static const uint16_t pkey = PKEY_DEFAULT_FULL;

	port->pkey_count = 1;
	return copy_array(&pkey, sizeof(pkey), &port->pkeys);
}

/* Copies what the node owns. Links still point to nodes of the original. */
static int copy_ports(const struct subnet_node *node, struct subnet_node *copied)
{
	int error = copy_array(node->ports, (node->port_count + 1u) * sizeof(*node->ports),
			       &copied->ports);

	if (error)
		return error;
	for (unsigned i = 0; i <= node->port_count; i++) {
		copied->ports[i].node = copied;
		copied->ports[i].pkeys = NULL;
		copied->ports[i].pkeys_present = NULL;
		copied->ports[i].pkeys_present_count = 0;
	}
	for (unsigned i = 0; i <= node->port_count && !error; i++) {
		const struct subnet_port *port = &node->ports[i];

		/* A table that nobody wrote holds the power-up key. */
		if (port->pkeys)
			error = copy_array(port->pkeys, port->pkey_count * sizeof(*port->pkeys),
					   &copied->ports[i].pkeys);
		else if (subnet_port_is_end_port(port))
			error = copy_default_pkey(&copied->ports[i]);
	}
	return error;
}

static int copy_node(const struct subnet *subnet, const struct subnet_node *node,
		     struct subnet *copy)
{
	struct subnet_node *copied = malloc(sizeof(*copied));
	int error;

	if (!copied)
		return -ENOMEM;
	*copied = *node;
	copied->ports = NULL;
	copied->table = NULL;
	copied->multicast = NULL;
	copied->multicast_block_is_due = NULL;
	copied->multicast = NULL;
	copied->multicast_block_is_due = NULL;
	list_append(&copy->nodes, &copied->link);
	error = copy_ports(node, copied);
	/* Entries beyond the last LID are not used. */
	if (!error && node->table)
		error = copy_array(node->table, subnet->lid_max + 1u, &copied->table);
	if (!error)
		error = hash_table_put(&copy->by_guid, node->info.node_guid, copied);
	copy->node_count++;
	if (subnet_node_is_switch(node))
		copy->switch_count++;
	return error;
}

static struct subnet_port *same_port(const struct subnet *copy, const struct subnet_port *port)
{
	struct subnet_node *node = subnet_find(copy, port->node->info.node_guid);

	return node ? &node->ports[port->number] : NULL;
}

static void relink(struct subnet *copy, struct subnet_node *copied)
{
	for (unsigned i = 0; i <= copied->port_count; i++) {
		struct subnet_port *port = &copied->ports[i];

		if (port->peer)
			port->peer = same_port(copy, port->peer);
	}
}

static int index_ports(const struct subnet *subnet, struct subnet *copy)
{
	for (unsigned lid = LID_UNICAST_FIRST; lid <= subnet->lid_max; lid++) {
		const struct subnet_port *port = subnet->by_lid[lid];

		if (!port || port->node->seen_in_sweep != subnet->sweep)
			continue;

		struct subnet_port *copied = same_port(copy, port);

		copy->by_lid[lid] = copied;
		if (lid != port->lid || subnet_port_by_guid(subnet, port->guid) != port)
			continue;

		int error = hash_table_put(&copy->by_port_guid, port->guid, copied);

		if (error)
			return error;
	}
	return 0;
}

static int copy_service_levels(const struct subnet *subnet, struct subnet *copy)
{
	if (!subnet->service_levels)
		return 0;
	copy->service_levels_switch_count = subnet->service_levels_switch_count;
	copy->service_levels_lid_max = subnet->service_levels_lid_max;
	copy->policy_sl_bits = subnet->policy_sl_bits;
	return copy_array(subnet->service_levels,
			  (size_t)subnet->service_levels_switch_count *
				  (subnet->service_levels_lid_max + 1u),
			  &copy->service_levels);
}

struct subnet *subnet_copy(const struct subnet *subnet)
{
	struct subnet *copy = malloc(sizeof(*copy));
	int error = 0;

	if (!copy)
		return NULL;
	subnet_init(copy);
	copy->gid_prefix = subnet->gid_prefix;
	copy->lmc = subnet->lmc;
	copy->sweep = subnet->sweep;
	copy->lid_max = subnet->lid_max;
	list_for_each (link, &subnet->nodes) {
		if (!error && node_of(link)->seen_in_sweep == subnet->sweep)
			error = copy_node(subnet, node_of(link), copy);
	}
	list_for_each (link, &copy->nodes) {
		if (!error)
			relink(copy, node_of(link));
	}
	if (!error)
		error = index_ports(subnet, copy);
	if (!error)
		error = copy_service_levels(subnet, copy);
	if (error) {
		subnet_copy_destroy(copy);
		return NULL;
	}
	return copy;
}

void subnet_copy_destroy(struct subnet *copy)
{
	if (!copy)
		return;
	subnet_release(copy);
	free(copy);
}
