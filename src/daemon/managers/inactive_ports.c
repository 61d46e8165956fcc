/* SPDX-License-Identifier: Apache-2.0 */
/* Links that a subnet manager has still to bring up. */
#include "daemon/managers/inactive_ports.h"

#include <stdbool.h>
#include <stdlib.h>
#include "fabric/fabric.h"
#include "net/node/node.h"

static bool link_should_be_up(const struct port *port)
{
	return port->peer && !port->cable_is_down && !port->peer->cable_is_down &&
	       port->info.physical_state == PHYSICAL_LINK_UP;
}

static uint32_t count_not_active(const struct node *node)
{
	uint32_t count = 0;

	for (unsigned number = 1; number <= node->port_count; number++) {
		if (link_should_be_up(&node->ports[number]) &&
		    !port_is_active(&node->ports[number]))
			count++;
	}
	return count;
}

/* Breadth first over cables that work; `queue` has room for every node, `was_seen` is all false. */
static uint32_t count_reachable(const struct node *start, const struct node **queue, bool *was_seen)
{
	uint32_t count = 0;
	uint32_t head = 0;
	uint32_t tail = 0;

	queue[tail++] = start;
	was_seen[start->index] = true;
	while (head < tail) {
		const struct node *node = queue[head++];

		count += count_not_active(node);
		/* Discovery does not cross an adapter from one port to another, except the one that
		 * it starts at. */
		if (node != start && !node_is_switch(node))
			continue;
		for (unsigned number = 1; number <= node->port_count; number++) {
			const struct port *port = &node->ports[number];

			if (!link_should_be_up(port) || was_seen[port->peer->node->index])
				continue;
			was_seen[port->peer->node->index] = true;
			queue[tail++] = port->peer->node;
		}
	}
	return count;
}

uint32_t inactive_ports_count(const struct fabric *fabric, const struct port *from)
{
	uint32_t node_count = fabric->node_count;
	const struct node **queue = from ? calloc(node_count, sizeof(struct node *)) : NULL;
	bool *was_seen = from ? calloc(node_count, sizeof(bool)) : NULL;
	uint32_t count = 0;

	if (queue && was_seen) {
		count = count_reachable(from->node, queue, was_seen);
	} else {
		for (uint32_t index = 0; index < node_count; index++)
			count += count_not_active(fabric->by_index[index]);
	}
	free(queue);
	free(was_seen);
	return count;
}
