/* SPDX-License-Identifier: Apache-2.0 */
/* Routers among the members of multicast groups (vol 1, chapters 15 and 19). */
#include "daemon/managers/router_groups.h"

#include <errno.h>
#include <stdlib.h>
#include "daemon/core/log.h"
#include "fabric/fabric.h"
#include "fabric/router_trees.h"
#include "fabric/routers.h"
#include "mgmt/subnet/multicast_groups.h"
#include "net/router/routing.h"

enum { HOP_LIMIT_ROUTED = 64 };

/* A group that has members other than routers in the subnet with this prefix. */
struct use {
	struct mc_member_record group;
	uint64_t prefix;
};

struct uses {
	struct use *uses; /* by MGID, then by prefix */
	size_t count, capacity;
};

int router_groups_start(struct router_groups *groups, struct mad_dispatch *dispatch)
{
	*groups = (struct router_groups){.fabric = dispatch->fabric};
	return router_ports_open(&groups->ports, dispatch);
}

void router_groups_stop(struct router_groups *groups)
{
	router_ports_close(&groups->ports);
}

static uint64_t prefix_of(const struct router_port *port)
{
	return gid_prefix(&port->groups.port.gid);
}

/* Whether the group may exist in this subnet only because routers are members. */
static bool is_kept_by_routers(const struct router_groups *groups, uint64_t prefix,
			       const struct gid *mgid)
{
	for (uint32_t index = 0; index < groups->ports.count; index++) {
		const struct router_port *port = &groups->ports.ports[index];
		const struct group_membership *membership =
			prefix_of(port) == prefix ? group_client_membership(&port->groups, mgid)
						  : NULL;

		if (membership && (membership->joined & JOIN_KEEPS_ALIVE))
			return true;
	}
	return false;
}

static bool append(struct uses *uses, const struct mc_member_record *group, uint64_t prefix)
{
	if (uses->count == uses->capacity) {
		size_t capacity = uses->capacity ? uses->capacity * 2 : 16;
		struct use *more = realloc(uses->uses, capacity * sizeof(*more));

		if (!more)
			return false;
		uses->uses = more;
		uses->capacity = capacity;
	}
	uses->uses[uses->count++] = (struct use){*group, prefix};
	return true;
}

static int collect(const struct router_groups *groups, struct uses *uses)
{
	for (uint32_t index = 0; index < groups->ports.count; index++) {
		const struct router_port *port = &groups->ports.ports[index];
		const struct group_client *client = &port->groups;

		for (size_t i = 0; port->is_on_spanning_tree && i < client->group_count; i++) {
			const struct mc_member_record *group = &client->groups[i];
			struct gid mgid = gid_from(group->mgid_high, group->mgid_low);

			if (gid_multicast_is_routable(&mgid) &&
			    !is_kept_by_routers(groups, prefix_of(port), &mgid) &&
			    !append(uses, group, prefix_of(port)))
				return -ENOMEM;
		}
	}
	return 0;
}

static bool same_group(const struct use *a, const struct use *b)
{
	return a->group.mgid_high == b->group.mgid_high && a->group.mgid_low == b->group.mgid_low;
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *left = a, *right = b;

	if (left->group.mgid_high != right->group.mgid_high)
		return left->group.mgid_high < right->group.mgid_high ? -1 : 1;
	if (left->group.mgid_low != right->group.mgid_low)
		return left->group.mgid_low < right->group.mgid_low ? -1 : 1;
	return left->prefix < right->prefix ? -1 : left->prefix > right->prefix;
}

/* Joins one group, which these subnets use, wherever routers have to be members. */
static int join(struct router_groups *groups, const struct use *uses, size_t use_count)
{
	struct gid mgid = gid_from(uses->group.mgid_high, uses->group.mgid_low);
	struct mc_member_record group = uses->group;
	int error = 0;

	/* The group has no hop limit: packets of a group that routers create have to cross routers.
	 */
	if (group.hop_limit == 0)
		group.hop_limit = HOP_LIMIT_ROUTED;
	for (uint32_t index = 0; index < groups->ports.count && !error; index++) {
		struct router_port *port = &groups->ports.ports[index];
		uint8_t states = JOIN_FULL;

		if (!port->is_on_spanning_tree)
			continue;
		for (size_t i = 0; i < use_count; i++)
			if (uses[i].prefix == prefix_of(port))
				states = JOIN_NON;
		error = group_client_want(&port->groups, &group, states);
		if (!error)
			group_client_membership(&port->groups, &mgid)->mark = groups->round;
	}
	return error;
}

/* Leaves groups that have no users any more, and every group on ports that are no longer on the
 * spanning tree. */
static void leave_others(struct router_groups *groups)
{
	for (uint32_t index = 0; index < groups->ports.count; index++) {
		struct group_client *client = &groups->ports.ports[index].groups;

		list_for_each (link, &client->memberships.all) {
			struct group_membership *membership = group_membership_of(link);

			/* Leaving an existing membership needs no memory, so it can't fail. */
			if (membership->mark != groups->round)
				(void)!group_client_want(client, &membership->group, 0);
		}
	}
}

static void decide(struct router_groups *groups)
{
	struct uses uses = {0};
	int error = collect(groups, &uses);
	size_t first = 0;

	groups->round++;
	if (uses.count)
		qsort(uses.uses, uses.count, sizeof(uses.uses[0]), compare_uses);
	while (first < uses.count && !error) {
		size_t end = first + 1;

		while (end < uses.count && same_group(&uses.uses[first], &uses.uses[end]))
			end++;
		error = join(groups, &uses.uses[first], end - first);
		first = end;
	}
	if (error)
		log_line("routers could not join every multicast group: %d", -error);
	else
		leave_others(groups);
	free(uses.uses);
}

/* Routers forward a group's packets to ports where they are members, along the spanning tree only.
 */
static void update_tables(struct router_groups *groups)
{
	for (uint32_t index = 0; index < groups->ports.count; index++) {
		struct router_port *port = &groups->ports.ports[index];

		list_for_each (link, &port->groups.memberships.all) {
			struct group_membership *membership = group_membership_of(link);
			uint16_t mlid = port->is_on_spanning_tree && membership->joined
						? membership->mlid
						: 0;

			if (membership->shown_mlid != mlid &&
			    routers_set_group(groups->fabric, port->port, &membership->mgid,
					      mlid) == 0)
				membership->shown_mlid = mlid;
		}
	}
}

static void find_tree(struct router_groups *groups)
{
	struct router_tree tree;

	if (router_tree_make(groups->fabric, &tree) != 0)
		return;
	for (uint32_t index = 0; index < groups->ports.count; index++) {
		struct router_port *port = &groups->ports.ports[index];

		port->is_on_spanning_tree = false;
		for (uint32_t i = 0; i < tree.port_count; i++)
			port->is_on_spanning_tree |= tree.ports[i] == port->port;
	}
	router_tree_release(&tree);
}

static bool collect_news(struct router_groups *groups)
{
	bool has_news = false;

	for (uint32_t index = 0; index < groups->ports.count; index++) {
		struct group_client *client = &groups->ports.ports[index].groups;

		has_news |= client->has_news;
		client->has_news = false;
	}
	return has_news;
}

static bool all_are_settled(const struct router_groups *groups)
{
	for (uint32_t index = 0; index < groups->ports.count; index++)
		if (!group_client_is_settled(&groups->ports.ports[index].groups))
			return false;
	return true;
}

bool router_groups_run(struct router_groups *groups, time_ns now)
{
	bool is_busy;

	if (!groups->ports.count)
		return false;
	if (groups->fabric->routers.groups_are_stale) {
		groups->fabric->routers.groups_are_stale = false;
		router_ports_refresh(&groups->ports);
		find_tree(groups);
		groups->has_news = true;
		update_tables(groups);
	}
	is_busy = router_ports_run(&groups->ports, now);
	if (collect_news(groups)) {
		groups->has_news = true;
		update_tables(groups);
	}
	if (!groups->has_news || !all_are_settled(groups))
		return is_busy;
	groups->has_news = false;
	decide(groups);
	return true;
}

time_ns router_groups_deadline(const struct router_groups *groups)
{
	return router_ports_deadline(&groups->ports);
}
