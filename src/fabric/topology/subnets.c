/* SPDX-License-Identifier: Apache-2.0 */
/* Which subnet each port is in: the parts of the fabric that are connected without routers. */
#include "fabric/topology/subnets.h"

#include <errno.h>
#include <stdlib.h>
#include "fabric/fabric.h"

enum { NO_SUBNET = UINT32_MAX };

struct walk {
	const struct fabric *fabric;
	uint32_t *node_subnets;
	uint32_t *queue; /* of node indices */
	uint32_t head, tail;
};

/* The port at the other end joins the subnet, unless it is a router's. */
static void reach(struct walk *walk, const struct port *port, uint32_t subnet)
{
	const struct node *remote = port->peer ? port->peer->node : NULL;

	if (!remote || node_is_router(remote) || walk->node_subnets[remote->index] != NO_SUBNET)
		return;
	walk->node_subnets[remote->index] = subnet;
	walk->queue[walk->tail++] = remote->index;
}

/* Only switches forward from port to port; adapters do not. */
static void spread(struct walk *walk, uint32_t start, uint32_t subnet)
{
	walk->node_subnets[start] = subnet;
	walk->head = 0;
	walk->tail = 0;
	walk->queue[walk->tail++] = start;
	while (walk->head < walk->tail) {
		const struct node *node = walk->fabric->by_index[walk->queue[walk->head++]];

		if (!node_is_switch(node) && node->index != start)
			continue;
		for (unsigned number = 1; number <= node->port_count; number++) {
			reach(walk, &node->ports[number], subnet);
			/* An adapter belongs to the subnet of its first cable. */
			if (!node_is_switch(node) && node->ports[number].peer)
				break;
		}
	}
}

static struct port *first_port_in(const struct fabric *fabric, const uint32_t *node_subnets,
				  uint32_t subnet)
{
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];

		for (unsigned number = 1; node_is_adapter(node) && number <= node->port_count;
		     number++) {
			const struct port *peer = node->ports[number].peer;
			uint32_t where = node_subnets[index];

			if (!peer)
				continue;
			if (node_is_switch(peer->node))
				where = node_subnets[peer->node->index];
			if (where == subnet)
				return &node->ports[number];
		}
	}
	return NULL;
}

int subnet_map_make(const struct fabric *fabric, struct subnet_map *ret_map)
{
	uint32_t room = fabric->node_count + 1;
	struct subnet_map map = {.node_subnets = malloc(room * sizeof(uint32_t))};
	struct walk walk = {.fabric = fabric,
			    .node_subnets = map.node_subnets,
			    .queue = malloc(room * sizeof(uint32_t))};

	if (!map.node_subnets || !walk.queue) {
		free(map.node_subnets);
		free(walk.queue);
		return -ENOMEM;
	}
	for (uint32_t index = 0; index < fabric->node_count; index++)
		map.node_subnets[index] = NO_SUBNET;
	/* Switches first: an adapter belongs to the subnet of its switch. */
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t index = 0; index < fabric->node_count; index++) {
			const struct node *node = fabric->by_index[index];

			if (map.node_subnets[index] == NO_SUBNET && !node_is_router(node) &&
			    (pass == 1 || node_is_switch(node)))
				spread(&walk, index, map.subnet_count++);
		}
	free(walk.queue);
	map.first_ports = calloc(map.subnet_count + 1, sizeof(struct port *));
	if (!map.first_ports) {
		free(map.node_subnets);
		return -ENOMEM;
	}
	for (uint32_t subnet = 0; subnet < map.subnet_count; subnet++)
		map.first_ports[subnet] = first_port_in(fabric, map.node_subnets, subnet);
	*ret_map = map;
	return 0;
}

void subnet_map_release(struct subnet_map *map)
{
	free(map->first_ports);
	free(map->node_subnets);
	*map = (struct subnet_map){0};
}
