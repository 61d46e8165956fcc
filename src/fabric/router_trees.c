/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of router ports for multicast between subnets. */
#include "fabric/router_trees.h"

#include <errno.h>
#include <stdlib.h>
#include "fabric/fabric.h"
#include "net/router/routing.h"

struct walk {
	const struct fabric *fabric;
	uint64_t *prefixes; /* of the subnets found so far, in that order */
	uint32_t prefix_count;
	bool *router_is_used;
	struct router_tree tree;
};

static bool is_in_a_subnet(const struct port *port)
{
	return port_is_active(port) && port->info.lid != 0 &&
	       gid_prefix_is_routable(port->info.gid_prefix);
}

static bool is_reached(const struct walk *walk, uint64_t prefix)
{
	for (uint32_t index = 0; index < walk->prefix_count; index++)
		if (walk->prefixes[index] == prefix)
			return true;
	return false;
}

static struct port *port_in(struct node *router, uint64_t prefix)
{
	for (unsigned number = 1; number <= router->port_count; number++)
		if (is_in_a_subnet(&router->ports[number]) &&
		    router->ports[number].info.gid_prefix == prefix)
			return &router->ports[number];
	return NULL;
}

/* From the subnet of this port into all subnets that were not found yet. */
static void pass(struct walk *walk, struct port *from)
{
	struct node *router = from->node;
	uint32_t before = walk->tree.port_count;

	for (unsigned number = 1; number <= router->port_count; number++) {
		struct port *port = &router->ports[number];

		if (!is_in_a_subnet(port) || is_reached(walk, port->info.gid_prefix))
			continue;
		walk->prefixes[walk->prefix_count++] = port->info.gid_prefix;
		walk->tree.ports[walk->tree.port_count++] = port;
	}
	if (walk->tree.port_count != before)
		walk->tree.ports[walk->tree.port_count++] = from;
}

/* All subnets that are connected with this one. */
static void spread(struct walk *walk, uint64_t prefix)
{
	uint32_t next = walk->prefix_count;

	walk->prefixes[walk->prefix_count++] = prefix;
	for (; next < walk->prefix_count; next++) {
		for (uint32_t index = 0; index < walk->fabric->routers.count; index++) {
			struct port *from =
				port_in(walk->fabric->routers.nodes[index], walk->prefixes[next]);

			if (!from || walk->router_is_used[index])
				continue;
			walk->router_is_used[index] = true;
			pass(walk, from);
		}
	}
}

int router_tree_make(struct fabric *fabric, struct router_tree *ret_tree)
{
	struct walk walk = {.fabric = fabric};
	size_t port_count = 0;

	for (uint32_t index = 0; index < fabric->routers.count; index++)
		port_count += fabric->routers.nodes[index]->port_count;
	walk.prefixes = malloc((port_count + 1) * sizeof(*walk.prefixes));
	walk.router_is_used = calloc(fabric->routers.count + 1, sizeof(*walk.router_is_used));
	walk.tree.ports = malloc((port_count + 1) * sizeof(struct port *));
	if (!walk.prefixes || !walk.router_is_used || !walk.tree.ports) {
		free(walk.prefixes);
		free(walk.router_is_used);
		free(walk.tree.ports);
		return -ENOMEM;
	}
	for (uint32_t index = 0; index < fabric->routers.count; index++) {
		const struct node *router = fabric->routers.nodes[index];

		for (unsigned number = 1; number <= router->port_count; number++)
			if (is_in_a_subnet(&router->ports[number]) &&
			    !is_reached(&walk, router->ports[number].info.gid_prefix))
				spread(&walk, router->ports[number].info.gid_prefix);
	}
	free(walk.prefixes);
	free(walk.router_is_used);
	*ret_tree = walk.tree;
	return 0;
}

void router_tree_release(struct router_tree *tree)
{
	free(tree->ports);
	*tree = (struct router_tree){0};
}
