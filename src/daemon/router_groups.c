/* SPDX-License-Identifier: Apache-2.0 */
/* Routers among the members of multicast groups (vol 1, chapters 15 and 19). */
#include "daemon/router_groups.h"

#include <errno.h>
#include <stdlib.h>
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "fabric/router_trees.h"
#include "fabric/routers.h"
#include "mgmt/sm/sm.h"
#include "mgmt/subnet/multicast_groups.h"
#include "net/router/routing.h"

/* The first subnet's manager, then those of the others. NULL: none runs, or it is not the master.
 */
static struct sm_runner *manager_at(struct daemon *daemon, uint32_t index)
{
	struct sm_runner *runner = index == 0 ? &daemon->sm : &daemon->others.subnets[index - 1].sm;
	struct sm_status status;

	if (!runner->sm)
		return NULL;
	sm_status(runner->sm, &status);
	return status.state == SM_MASTER ? runner : NULL;
}

static uint32_t manager_count(const struct daemon *daemon)
{
	return 1 + daemon->others.count;
}

static bool is_routers(const struct fabric *fabric, uint64_t port_guid)
{
	for (uint32_t index = 0; index < fabric->router_count; index++) {
		const struct node *router = fabric->routers[index];

		for (unsigned number = 1; number <= router->port_count; number++)
			if (router->ports[number].guid == port_guid)
				return true;
	}
	return false;
}

/* Whether somebody else than routers is in the group. */
static bool has_users(const struct fabric *fabric, const struct multicast_group *group)
{
	list_for_each (link, &group->members)
		if (!is_routers(fabric, multicast_member_of(link)->port_guid))
			return true;
	return false;
}

/* The group in the first subnet where it is used; NULL: nowhere. */
static const struct multicast_group *used_group(struct daemon *daemon, const struct gid *mgid)
{
	for (uint32_t index = 0; index < manager_count(daemon); index++) {
		struct sm_runner *runner = manager_at(daemon, index);
		const struct multicast_group *group =
			runner ? multicast_groups_find(sm_multicast_groups(runner->sm), mgid)
			       : NULL;

		if (group && has_users(&daemon->fabric, group))
			return group;
	}
	return NULL;
}

static int join(struct daemon *daemon, struct port *port, const struct multicast_group *used)
{
	struct sm_runner *runner = other_subnets_manager_of(daemon, port->info.gid_prefix);
	struct multicast_groups *groups = runner ? sm_multicast_groups(runner->sm) : NULL;
	struct multicast_group *group = groups ? multicast_groups_find(groups, &used->mgid) : NULL;
	struct multicast_member *member;
	int error = 0;

	if (!runner)
		return 0;
	if (!group) {
		error = multicast_groups_create(groups, &used->mgid, &used->characteristics,
						&group);
		if (!error)
			group->creator_guid = port->guid;
	}
	/* The group lives as long as its users want, not as long as routers do. */
	if (!error && !multicast_group_member(group, port->guid)) {
		error = multicast_group_join(group, port->guid, JOIN_NON, &member);
		if (!error)
			sm_multicast_changed(runner->sm, group->mlid);
	}
	return error ? error : routers_set_group(&daemon->fabric, port, &used->mgid, group->mlid);
}

/* Every group that goes beyond a subnet, once for each subnet that has it: the others find nothing
 * left to do. */
static int join_groups(struct daemon *daemon, const struct router_tree *tree,
		       const struct multicast_groups *groups)
{
	int error = 0;

	list_for_each (link, &groups->groups) {
		const struct multicast_group *group = multicast_group_of(link);
		const struct multicast_group *used = gid_multicast_is_routable(&group->mgid)
							     ? used_group(daemon, &group->mgid)
							     : NULL;

		for (uint32_t index = 0; used && index < tree->port_count && !error; index++)
			error = join(daemon, tree->ports[index], used);
	}
	return error;
}

static void leave(struct sm *sm, struct multicast_group *group, uint64_t port_guid)
{
	struct multicast_member *member = multicast_group_member(group, port_guid);
	uint16_t mlid = group->mlid;

	if (!member)
		return;
	(void)multicast_group_leave(group, member, JOIN_ALL);
	if (!multicast_group_is_alive(group) && group->member_count == 0)
		multicast_groups_delete(sm_multicast_groups(sm), group);
	sm_multicast_changed(sm, mlid);
}

static bool is_on(const struct router_tree *tree, const struct port *port)
{
	for (uint32_t index = 0; index < tree->port_count; index++)
		if (tree->ports[index] == port)
			return true;
	return false;
}

/* Groups that nobody uses any more, and ports that are no longer on the way. */
static void leave_groups(struct daemon *daemon, struct port *port, const struct router_tree *tree)
{
	struct sm_runner *runner = other_subnets_manager_of(daemon, port->info.gid_prefix);

	if (!runner)
		return;
	list_for_each_safe (link, &sm_multicast_groups(runner->sm)->groups) {
		struct multicast_group *group = multicast_group_of(link);

		if (multicast_group_member(group, port->guid) &&
		    (!is_on(tree, port) || !used_group(daemon, &group->mgid)))
			leave(runner->sm, group, port->guid);
	}
}

static void update(struct daemon *daemon, const struct router_tree *tree)
{
	struct fabric *fabric = &daemon->fabric;
	int error = 0;

	for (uint32_t index = 0; index < fabric->router_count; index++) {
		struct node *router = fabric->routers[index];

		router_table_clear_groups(router->router);
		for (unsigned number = 1; number <= router->port_count; number++)
			leave_groups(daemon, &router->ports[number], tree);
	}
	for (uint32_t index = 0; index < manager_count(daemon) && !error; index++) {
		struct sm_runner *runner = manager_at(daemon, index);

		if (runner)
			error = join_groups(daemon, tree, sm_multicast_groups(runner->sm));
	}
	if (error)
		log_line("routers could not join every multicast group: %d", -error);
}

bool router_groups_run(struct daemon *daemon)
{
	struct router_tree tree;

	if (!daemon->fabric.groups_are_stale || daemon->fabric.router_count == 0)
		return false;
	daemon->fabric.groups_are_stale = false;
	if (router_tree_make(&daemon->fabric, &tree) != 0)
		return false;
	update(daemon, &tree);
	router_tree_release(&tree);
	return true;
}
