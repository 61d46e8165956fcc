/* SPDX-License-Identifier: Apache-2.0 */
/* Alias GUIDs of ports (management 4.8). */
#include "mgmt/sa/alias_guids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* EUI-64 with the local bit set, in a range that neither hardware nor softib's nodes use. */
#define CHOSEN_FIRST UINT64_C(0x02a11a5000000001)

struct alias_port {
	struct list link;
	uint64_t port_guid;
	uint64_t guids[ALIAS_GUIDS_PER_PORT];
};

static struct alias_port *port_of(struct list *link)
{
	return container_of(link, struct alias_port, link);
}

void alias_guids_init(struct alias_guids *aliases)
{
	list_init(&aliases->ports);
	hash_table_init(&aliases->by_port_guid);
	hash_table_init(&aliases->by_guid);
	aliases->unique_next = CHOSEN_FIRST;
}

static void destroy_port(struct alias_guids *aliases, struct alias_port *port)
{
	for (unsigned i = 0; i < ALIAS_GUIDS_PER_PORT; i++)
		if (port->guids[i])
			hash_table_remove(&aliases->by_guid, port->guids[i]);
	hash_table_remove(&aliases->by_port_guid, port->port_guid);
	list_remove(&port->link);
	free(port);
}

void alias_guids_release(struct alias_guids *aliases)
{
	while (!list_is_empty(&aliases->ports))
		destroy_port(aliases, port_of(list_first(&aliases->ports)));
	hash_table_release(&aliases->by_port_guid);
	hash_table_release(&aliases->by_guid);
}

uint64_t alias_guids_owner(const struct alias_guids *aliases, uint64_t guid)
{
	const struct alias_port *port = hash_table_get(&aliases->by_guid, guid);

	return port ? port->port_guid : 0;
}

void alias_guids_block(const struct alias_guids *aliases, uint64_t port_guid, unsigned block,
		       uint64_t ret_guids[static GUIDS_PER_BLOCK])
{
	const struct alias_port *port = hash_table_get(&aliases->by_port_guid, port_guid);

	for (unsigned i = 0; i < GUIDS_PER_BLOCK; i++)
		ret_guids[i] = port ? port->guids[block * GUIDS_PER_BLOCK + i] : 0;
	if (block == 0)
		ret_guids[0] = port_guid;
}

static struct alias_port *find_or_add(struct alias_guids *aliases, uint64_t port_guid)
{
	struct alias_port *port = hash_table_get(&aliases->by_port_guid, port_guid);

	if (port)
		return port;
	port = calloc(1, sizeof(*port));
	if (!port || hash_table_put(&aliases->by_port_guid, port_guid, port) != 0) {
		free(port);
		return NULL;
	}
	port->port_guid = port_guid;
	list_append(&aliases->ports, &port->link);
	return port;
}

static int set_one(struct alias_guids *aliases, struct alias_port *port, unsigned index,
		   uint64_t guid)
{
	uint64_t before = port->guids[index];
	int error = 0;

	if (before == guid)
		return 0;
	if (before)
		hash_table_remove(&aliases->by_guid, before);
	port->guids[index] = 0;
	if (guid)
		error = hash_table_put(&aliases->by_guid, guid, port);
	if (!error)
		port->guids[index] = guid;
	return error;
}

int alias_guids_set_block(struct alias_guids *aliases, uint64_t port_guid, unsigned block,
			  const uint64_t guids[static GUIDS_PER_BLOCK])
{
	struct alias_port *port = find_or_add(aliases, port_guid);
	int error = port ? 0 : -ENOMEM;

	for (unsigned i = block == 0; i < GUIDS_PER_BLOCK && !error; i++)
		error = set_one(aliases, port, block * GUIDS_PER_BLOCK + i, guids[i]);
	return error;
}

void alias_guids_drop_port(struct alias_guids *aliases, uint64_t port_guid)
{
	struct alias_port *port = hash_table_get(&aliases->by_port_guid, port_guid);

	if (port)
		destroy_port(aliases, port);
}

uint64_t alias_guids_choose(struct alias_guids *aliases)
{
	while (alias_guids_owner(aliases, aliases->unique_next))
		aliases->unique_next++;
	return aliases->unique_next++;
}
