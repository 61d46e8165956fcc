/* SPDX-License-Identifier: Apache-2.0 */
/* Port changes: records for programs, sysfs files, and word to the host's connection manager. */
#include "daemon/packets/port_updates.h"

#include <string.h>
#include "daemon/cm/cm_fabric.h"
#include "daemon/core/daemon_core.h"
#include "daemon/packets/packet_plane.h"
#include "daemon/sysfs/sysfs_tree.h"
#include "fabric/transport_view.h"
#include "net/node/node.h"

static bool tell(struct client *client, const struct endpoint *endpoint)
{
	struct port_update update = {.adapter_index = endpoint->adapter->index,
				     .client_reregister = endpoint->port->info.client_reregister};

	transport_view_of(endpoint->port, &update.view);
	return client_send_record(client, RECORD_PORT_UPDATE,
				  endpoint->adapter->index << 8 | endpoint->port->number, 0,
				  &update, sizeof(update));
}

static void tell_programs(const struct endpoint *endpoint)
{
	uint32_t bit = 1u << endpoint->adapter->index;

	list_for_each (link, &endpoint->adapter->host->programs) {
		struct client *client = container_of(link, struct client, host_link);

		if (!client->is_ending && (client->updates.adapters_used & bit) &&
		    !tell(client, endpoint))
			client->updates.adapters_unsent |= bit;
	}
}

void port_updates_send(struct packet_plane *plane)
{
	struct list *link;

	while ((link = list_first(&plane->core->changed_endpoints))) {
		struct endpoint *endpoint = container_of(link, struct endpoint, changed_link);

		list_remove(link);
		if (!endpoint->adapter) {
			sysfs_tree_update_port(plane->sysfs, endpoint);
			continue;
		}
		tell_programs(endpoint);
		cm_fabric_port_changed(plane->cm, endpoint->port);
		/* ClientReregister is a request, not a state: later readers must not see it. */
		endpoint->port->info.client_reregister = 0;
		sysfs_tree_update_port(plane->sysfs, endpoint);
	}
}

static void tell_adapter(struct client *client, unsigned adapter_index)
{
	const struct adapter_entry *adapter = client->host->adapters[adapter_index];

	client->updates.adapters_unsent &= ~(1u << adapter_index);
	for (unsigned number = 1; number <= adapter->node->port_count; number++) {
		if (!tell(client, &adapter->endpoints[number]))
			client->updates.adapters_unsent |= 1u << adapter_index;
	}
}

void port_updates_subscribe(struct client *client, unsigned adapter_index)
{
	client->updates.adapters_used |= 1u << adapter_index;
	tell_adapter(client, adapter_index);
}

void port_updates_retry(struct client *client)
{
	for (unsigned index = 0;
	     client->updates.adapters_unsent && index < client->host->adapter_count; index++) {
		if (client->updates.adapters_unsent & 1u << index)
			tell_adapter(client, index);
	}
}
