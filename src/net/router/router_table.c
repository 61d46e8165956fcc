/* SPDX-License-Identifier: Apache-2.0 */
/* A router's tables: prefixes of subnets, and groups that span several (vol 1, chapter 19). */
#include "net/router/routing.h"

#include <errno.h>
#include <stdlib.h>
#include "net/router/gateway.h"

int router_table_create(struct router_table **ret_table)
{
	struct router_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	*ret_table = table;
	return 0;
}

void router_table_destroy(struct router_table *table)
{
	if (!table)
		return;
	router_table_clear_groups(table);
	free(table->groups);
	free(table->routes);
	gateway_destroy(table->gateway);
	free(table);
}

void router_table_clear_routes(struct router_table *table)
{
	table->route_count = 0;
}

void router_table_clear_groups(struct router_table *table)
{
	for (unsigned index = 0; index < table->group_count; index++)
		free(table->groups[index].mlids);
	table->group_count = 0;
}

const struct router_route *router_table_find(const struct router_table *table, uint64_t prefix)
{
	for (unsigned index = 0; index < table->route_count; index++)
		if (table->routes[index].prefix == prefix)
			return &table->routes[index];
	return NULL;
}

int router_table_add(struct router_table *table, const struct router_route *route)
{
	if (router_table_find(table, route->prefix))
		return 0;
	if (table->route_count == table->route_capacity) {
		unsigned capacity = table->route_capacity ? table->route_capacity * 2 : 8;
		struct router_route *routes = realloc(table->routes, capacity * sizeof(*routes));

		if (!routes)
			return -ENOMEM;
		table->routes = routes;
		table->route_capacity = capacity;
	}
	table->routes[table->route_count++] = *route;
	return 0;
}

const struct router_group *router_table_find_group(const struct router_table *table,
						   const struct gid *mgid)
{
	for (unsigned index = 0; index < table->group_count; index++)
		if (gid_equal(&table->groups[index].mgid, mgid))
			return &table->groups[index];
	return NULL;
}

static int append_group(struct router_table *table, const struct gid *mgid, unsigned port_count)
{
	if (table->group_count == table->group_capacity) {
		unsigned capacity = table->group_capacity ? table->group_capacity * 2 : 4;
		struct router_group *groups = realloc(table->groups, capacity * sizeof(*groups));

		if (!groups)
			return -ENOMEM;
		table->groups = groups;
		table->group_capacity = capacity;
	}

	uint16_t *mlids = calloc(port_count + 1, sizeof(*mlids));

	if (!mlids)
		return -ENOMEM;
	table->groups[table->group_count++] = (struct router_group){*mgid, mlids};
	return 0;
}

static bool goes_nowhere(const struct router_group *group, unsigned port_count)
{
	for (unsigned number = 0; number <= port_count; number++)
		if (group->mlids[number])
			return false;
	return true;
}

static void remove_group(struct router_table *table, unsigned index)
{
	free(table->groups[index].mlids);
	table->groups[index] = table->groups[--table->group_count];
}

int router_table_set_group(struct router_table *table, const struct gid *mgid, unsigned port_count,
			   unsigned port_number, uint16_t mlid)
{
	if (!router_table_find_group(table, mgid)) {
		int error = mlid ? append_group(table, mgid, port_count) : 0;

		if (error || !mlid)
			return error;
	}
	for (unsigned index = 0; index < table->group_count; index++) {
		if (!gid_equal(&table->groups[index].mgid, mgid))
			continue;
		table->groups[index].mlids[port_number] = mlid;
		if (!mlid && goes_nowhere(&table->groups[index], port_count))
			remove_group(table, index);
		break;
	}
	return 0;
}
