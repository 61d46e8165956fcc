/* SPDX-License-Identifier: Apache-2.0 */
/* Tells programs, and the files they read, how the ports of their host are. */
#include "daemon/ports.h"

#include <stdlib.h>
#include <string.h>
#include "daemon/client.h"
#include "daemon/tree.h"
#include "fabric/transport_view.h"
#include "net/node/node.h"

void ports_changed(void *context, struct port *port)
{
	struct daemon *daemon = context;
	struct endpoint *endpoint = port->endpoint;

	if (endpoint && !list_is_linked(&endpoint->changed_link))
		list_append(&daemon->changed, &endpoint->changed_link);
}

static bool tell(struct client *client, const struct endpoint *endpoint)
{
	struct ring_record *record = client_reserve(client, sizeof(struct port_update));
	struct port_update update = {.adapter_index = endpoint->adapter->index,
				     .client_reregister = endpoint->port->info.client_reregister};

	if (!record)
		return false;
	transport_view_of(endpoint->port, &update.view);
	record->byte_count = sizeof(update);
	record->kind = RECORD_PORT_UPDATE;
	record->port = (uint16_t)(endpoint->adapter->index << 8 | endpoint->port->number);
	record->packet_count = 0;
	record->word = 0;
	memcpy(record->body, &update, sizeof(update));
	client_commit(client, record);
	return true;
}

static void tell_programs(const struct endpoint *endpoint)
{
	uint32_t bit = 1u << endpoint->adapter->index;

	list_for_each (link, &endpoint->adapter->host->programs) {
		struct client *client = container_of(link, struct client, host_link);

		if (!client->is_ending && (client->adapters_used & bit) && !tell(client, endpoint))
			client->adapters_untold |= bit;
	}
}

void ports_announce(struct daemon *daemon)
{
	struct list *link;

	while ((link = list_first(&daemon->changed))) {
		struct endpoint *endpoint = container_of(link, struct endpoint, changed_link);

		list_remove(link);
		if (!endpoint->adapter) {
			tree_update_port(daemon, endpoint);
			continue;
		}
		tell_programs(endpoint);
		cm_fabric_port_changed(&daemon->cm, endpoint->port);
		/* ClientReregister asks once; it is not a state that later readers should see. */
		endpoint->port->info.client_reregister = 0;
		tree_update_port(daemon, endpoint);
	}
}

static void tell_adapter(struct client *client, unsigned adapter_index)
{
	const struct adapter_entry *adapter = client->host->adapters[adapter_index];

	client->adapters_untold &= ~(1u << adapter_index);
	for (unsigned number = 1; number <= adapter->node->port_count; number++) {
		if (!tell(client, &adapter->endpoints[number]))
			client->adapters_untold |= 1u << adapter_index;
	}
}

void ports_subscribe(struct client *client, unsigned adapter_index)
{
	client->adapters_used |= 1u << adapter_index;
	tell_adapter(client, adapter_index);
}

void ports_catch_up(struct client *client)
{
	for (unsigned index = 0; client->adapters_untold && index < client->host->adapter_count;
	     index++) {
		if (client->adapters_untold & 1u << index)
			tell_adapter(client, index);
	}
}

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
		/* Packets don't cross an adapter from one port to another, but discovery does not
		 * start there either. */
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

uint32_t ports_not_active(const struct daemon *daemon, const struct port *from)
{
	uint32_t node_count = daemon->fabric.node_count;
	const struct node **queue = from ? calloc(node_count, sizeof(struct node *)) : NULL;
	bool *was_seen = from ? calloc(node_count, sizeof(bool)) : NULL;
	uint32_t count = 0;

	if (queue && was_seen) {
		count = count_reachable(from->node, queue, was_seen);
	} else {
		for (uint32_t index = 0; index < node_count; index++)
			count += count_not_active(daemon->fabric.by_index[index]);
	}
	free(queue);
	free(was_seen);
	return count;
}
