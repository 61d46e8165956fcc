/* SPDX-License-Identifier: Apache-2.0 */
/* The spanning tree of a multicast group (management 3.4). */
#include "mgmt/subnet/multicast_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/subnet/subnet_path.h"
#include "wire/rate.h"
#include "wire/smp_tables.h"

#define NO_SWITCH UINT32_MAX

static struct subnet_node *node_of(struct list *link)
{
	return container_of(link, struct subnet_node, link);
}

void multicast_tree_release(struct multicast_tree *tree)
{
	free(tree->switches);
	free(tree->distance);
	free(tree->up);
	free(tree->queue);
	free(tree->is_on_tree);
	free(tree->masks);
}

static uint32_t switch_index_end(const struct subnet *subnet)
{
	uint32_t end = 0;

	list_for_each (link, &subnet->nodes) {
		const struct subnet_node *node = node_of(link);

		if (subnet_node_is_switch(node) && node->switch_index >= end)
			end = node->switch_index + 1;
	}
	return end;
}

int multicast_tree_init(struct multicast_tree *tree, const struct subnet *subnet)
{
	uint32_t count = switch_index_end(subnet);

	*tree = (struct multicast_tree){
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
		multicast_tree_release(tree);
		return -ENOMEM;
	}
	list_for_each (link, &subnet->nodes) {
		struct subnet_node *node = node_of(link);

		if (subnet_node_is_switch(node))
			tree->switches[node->switch_index] = node;
	}
	return 0;
}

/* The switch port that leads to an end port. NULL: none. */
static const struct subnet_port *access_port(const struct subnet_port *port)
{
	if (!port || subnet_node_is_switch(port->node))
		return port;
	return port->peer && subnet_node_is_switch(port->peer->node) ? port->peer : NULL;
}

static const struct subnet_port *member_access(const struct subnet *subnet,
					       const struct multicast_member *member)
{
	return access_port(subnet_port_by_guid(subnet, member->port_guid));
}

static bool switch_can_carry(const struct subnet_node *node, const struct multicast_demand *demand)
{
	return demand->mlid - LID_MULTICAST_FIRST < node->switch_info.multicast_fdb_cap;
}

static bool link_can_carry(const struct subnet_port *port, const struct multicast_demand *demand)
{
	uint8_t rate = subnet_port_rate(port);

	/* A link without a rate is not up yet. */
	return subnet_link_mtu(port) >= demand->mtu &&
	       (!demand->rate || !rate || rate_compare(rate, demand->rate) >= 0);
}

/* Breadth-first search from one switch. The first port to visit depends on the MLID, so that the
 * trees use different links. */
static void search(struct multicast_tree *tree, uint32_t start,
		   const struct multicast_demand *demand)
{
	uint32_t queued_count = 0;

	memset(tree->distance, 0xff, tree->switch_count * sizeof(*tree->distance));
	tree->up[start] = NULL;
	if (switch_can_carry(tree->switches[start], demand)) {
		tree->distance[start] = 0;
		tree->queue[queued_count++] = start;
	}
	for (uint32_t head = 0; head < queued_count; head++) {
		struct subnet_node *node = tree->switches[tree->queue[head]];

		for (unsigned i = 0; i < node->port_count; i++) {
			unsigned number = 1 + (i + demand->mlid) % node->port_count;
			struct subnet_port *port = &node->ports[number];
			struct subnet_port *peer = port->peer;

			if (!peer || !subnet_node_is_switch(peer->node) || peer->node == node)
				continue;

			uint32_t index = peer->node->switch_index;

			if (index >= tree->switch_count || tree->distance[index] != NO_SWITCH ||
			    !switch_can_carry(peer->node, demand) || !link_can_carry(port, demand))
				continue;
			tree->distance[index] = tree->distance[node->switch_index] + 1;
			tree->up[index] = peer;
			tree->queue[queued_count++] = index;
		}
	}
}

/* The switch of the member that is farthest from the start of the last search. NO_SWITCH: the
 * search found no member. */
static uint32_t farthest(const struct multicast_tree *tree, const struct subnet *subnet,
			 const struct multicast_group *group)
{
	uint32_t found = NO_SWITCH;

	list_for_each (link, &group->members) {
		const struct subnet_port *port = member_access(subnet, multicast_member_of(link));
		uint32_t index = port ? port->node->switch_index : NO_SWITCH;

		if (index >= tree->switch_count || tree->distance[index] == NO_SWITCH)
			continue;
		if (found == NO_SWITCH || tree->distance[index] > tree->distance[found])
			found = index;
	}
	return found;
}

static uint32_t first_switch(const struct multicast_tree *tree, const struct subnet *subnet,
			     const struct multicast_group *group,
			     const struct multicast_demand *demand)
{
	list_for_each (link, &group->members) {
		const struct subnet_port *port = member_access(subnet, multicast_member_of(link));

		if (port && port->node->switch_index < tree->switch_count &&
		    switch_can_carry(port->node, demand))
			return port->node->switch_index;
	}
	return NO_SWITCH;
}

/* The root lies half way between two members with the greatest distance, which minimizes the
 * maximum distance (management 3.4). */
static uint32_t find_root(struct multicast_tree *tree, const struct subnet *subnet,
			  const struct multicast_group *group,
			  const struct multicast_demand *demand)
{
	uint32_t start = first_switch(tree, subnet, group, demand);
	uint32_t end;

	if (start == NO_SWITCH)
		return NO_SWITCH;
	search(tree, start, demand);
	start = farthest(tree, subnet, group);
	search(tree, start, demand);
	end = farthest(tree, subnet, group);
	for (uint32_t hops = tree->distance[end] / 2; hops > 0; hops--)
		end = tree->up[end]->peer->node->switch_index;
	return end;
}

static void add_port(struct multicast_tree *tree, const struct subnet_port *port)
{
	tree->masks[port->node->switch_index][port->number / MULTICAST_PORTS_PER_POSITION] |=
		(uint16_t)(1u << port->number % MULTICAST_PORTS_PER_POSITION);
}

/* Adds the path from a member's switch to the tree. */
static void add_branch(struct multicast_tree *tree, uint32_t index)
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

/* false: the tree does not connect all present members. */
static bool connect_members(struct multicast_tree *tree, const struct subnet *subnet,
			    const struct multicast_group *group,
			    const struct multicast_demand *demand)
{
	uint32_t root = find_root(tree, subnet, group, demand);
	bool all_are_on_it = true;

	memset(tree->masks, 0, tree->switch_count * sizeof(*tree->masks));
	if (root == NO_SWITCH)
		return list_is_empty(&group->members);
	memset(tree->is_on_tree, 0, tree->switch_count * sizeof(*tree->is_on_tree));
	search(tree, root, demand);
	list_for_each (link, &group->members) {
		const struct multicast_member *member = multicast_member_of(link);
		const struct subnet_port *port = member_access(subnet, member);

		if (!port || port->node->switch_index >= tree->switch_count)
			continue;
		if (tree->distance[port->node->switch_index] == NO_SWITCH) {
			all_are_on_it = false;
			continue;
		}
		add_branch(tree, port->node->switch_index);
		/* A send-only member is connected but gets no packets (o15-0.1.12, management 3.4).
		 */
		if (multicast_member_receives(member))
			add_port(tree, port);
	}
	return all_are_on_it;
}

bool multicast_tree_make(struct multicast_tree *tree, const struct subnet *subnet,
			 const struct multicast_group *group)
{
	memset(tree->masks, 0, tree->switch_count * sizeof(*tree->masks));
	if (!group)
		return true;

	struct multicast_demand demand = {.mlid = group->mlid,
					  .mtu = group->characteristics.mtu,
					  .rate = group->characteristics.rate};

	if (connect_members(tree, subnet, group, &demand))
		return true;
	demand.mtu = 0;
	demand.rate = 0;
	connect_members(tree, subnet, group, &demand);
	return false;
}

bool multicast_tree_can_include(struct multicast_tree *tree, const struct subnet *subnet,
				const struct multicast_group *group,
				const struct subnet_port *joiner,
				const struct multicast_demand *demand)
{
	const struct subnet_port *access = access_port(joiner);

	/* Two adapters on one link have no switch with tables. */
	if (!access)
		return true;
	search(tree, access->node->switch_index, demand);
	if (tree->distance[access->node->switch_index] == NO_SWITCH)
		return false;
	if (!group)
		return true;
	list_for_each (link, &group->members) {
		const struct subnet_port *port = member_access(subnet, multicast_member_of(link));

		if (port && port->node->switch_index < tree->switch_count &&
		    tree->distance[port->node->switch_index] == NO_SWITCH)
			return false;
	}
	return true;
}
