/* SPDX-License-Identifier: Apache-2.0 */
/* The end ports that a baseboard manager knows. */
#include "mgmt/baseboard/managed_ports.h"

#include <stdlib.h>
#include <string.h>
#include "wire/sa_records.h"
#include "wire/pkey.h"

enum { PORTS_MAX = 0xc000 }; /* as many as there are unicast LIDs */

void managed_ports_init(struct managed_ports *ports)
{
	*ports = (struct managed_ports){0};
	list_init(&ports->ports);
	hash_table_init(&ports->by_guid);
	hash_table_init(&ports->by_lid);
}

static struct managed_port *port_of(struct list *link)
{
	return container_of(link, struct managed_port, link);
}

static void forget_lid(struct managed_ports *ports, struct managed_port *port)
{
	if (hash_table_get(&ports->by_lid, port->lid) == port)
		hash_table_remove(&ports->by_lid, port->lid);
}

static void destroy(struct managed_ports *ports, struct managed_port *port)
{
	forget_lid(ports, port);
	hash_table_remove(&ports->by_guid, port->guid);
	list_remove(&port->ready_link);
	list_remove(&port->link);
	ports->count--;
	free(port);
}

void managed_ports_release(struct managed_ports *ports)
{
	while (!list_is_empty(&ports->ports))
		destroy(ports, port_of(list_first(&ports->ports)));
	hash_table_release(&ports->by_guid);
	hash_table_release(&ports->by_lid);
}

struct managed_port *managed_ports_by_guid(const struct managed_ports *ports, uint64_t guid)
{
	return hash_table_get(&ports->by_guid, guid);
}

struct managed_port *managed_ports_by_lid(const struct managed_ports *ports, uint16_t lid)
{
	return hash_table_get(&ports->by_lid, lid);
}

static struct managed_port *find_or_make(struct managed_ports *ports, uint64_t guid)
{
	struct managed_port *port = hash_table_get(&ports->by_guid, guid);

	if (port || ports->count >= PORTS_MAX)
		return port;
	port = calloc(1, sizeof(*port));
	if (!port)
		return NULL;
	port->guid = guid;
	list_init(&port->ready_link);
	if (hash_table_put(&ports->by_guid, guid, port)) {
		free(port);
		return NULL;
	}
	list_append(&ports->ports, &port->link);
	ports->count++;
	return port;
}

/* Without memory the port is unknown until the next sweep. */
static void take_record(struct managed_ports *ports, const uint8_t *record)
{
	struct record_lid id;
	struct node_info info;
	struct managed_port *port, *former;

	record_lid_decode(record, &id);
	node_info_decode(record + NODE_RECORD_INFO_OFFSET, &info);
	if (!lid_is_unicast(id.lid) || !info.port_guid)
		return;
	port = find_or_make(ports, info.port_guid);
	if (!port)
		return;
	port->seen_in_sweep = ports->sweep;
	memcpy(port->description, record + NODE_RECORD_DESCRIPTION_OFFSET, NODE_DESCRIPTION_BYTES);
	former = hash_table_get(&ports->by_lid, id.lid);
	if (former == port)
		return;
	if (former)
		hash_table_remove(&ports->by_lid, id.lid);
	forget_lid(ports, port);
	port->lid = id.lid;
	if (hash_table_put(&ports->by_lid, id.lid, port))
		port->lid = 0;
}

void managed_ports_update(struct managed_ports *ports, const uint8_t *node_records,
			  size_t record_count, size_t record_bytes,
			  void (*leave)(void *context, struct managed_port *port), void *context)
{
	ports->sweep++;
	for (size_t i = 0; record_bytes >= NODE_RECORD_BYTES && i < record_count; i++)
		take_record(ports, node_records + i * record_bytes);
	list_for_each_safe (link, &ports->ports) {
		struct managed_port *port = port_of(link);

		/* A port with a request under way stays until the request has ended. */
		if (port->seen_in_sweep == ports->sweep || port->is_asked)
			continue;
		leave(context, port);
		destroy(ports, port);
	}
}

bool managed_port_knows_trap(struct managed_port *port, uint64_t transaction_id)
{
	for (unsigned i = 0; i < TRAPS_REMEMBERED; i++)
		if (port->traps[i] == transaction_id)
			return true;
	port->traps[port->trap_index++ % TRAPS_REMEMBERED] = transaction_id;
	return false;
}
