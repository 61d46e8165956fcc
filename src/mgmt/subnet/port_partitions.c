/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of each port's P_Key table (management 3.5). */
#include "mgmt/subnet/subnet.h"

#include <stdlib.h>
#include <string.h>

enum { PKEYS_MAX = 4096 };

/* Work space for one port. */
struct keys {
	uint16_t wanted[PKEYS_MAX];
	uint32_t wanted_count;
	uint16_t table[PKEYS_MAX];
	uint32_t table_count;
};

static bool has_key(const uint16_t keys[], uint32_t key_count, uint16_t key)
{
	for (uint32_t i = 0; i < key_count; i++) {
		if (keys[i] == key)
			return true;
	}
	return false;
}

static uint16_t key_before(const struct subnet_port *port, uint32_t index)
{
	if (index < port->pkey_count)
		return port->pkeys[index];
	return index < port->pkeys_present_count ? port->pkeys_present[index] : 0;
}

/* Programs cache indexes, so a key keeps its index (management 3.5). Index 0 is for the first key.
 */
static void keep_places(struct keys *keys, const struct subnet_port *port, uint32_t capacity)
{
	uint32_t before_count = port->pkey_count > port->pkeys_present_count
					? port->pkey_count
					: port->pkeys_present_count;

	memset(keys->table, 0, capacity * sizeof(*keys->table));
	keys->table[0] = keys->wanted_count ? keys->wanted[0] : 0;
	keys->table_count = 1;
	for (uint32_t i = 1; i < before_count && i < capacity; i++) {
		uint16_t key = key_before(port, i);

		if (key && has_key(keys->wanted + 1, keys->wanted_count - 1, key) &&
		    !has_key(keys->table, i, key)) {
			keys->table[i] = key;
			keys->table_count = i + 1;
		}
	}
}

/* false: not all keys fit. */
static bool place_new(struct keys *keys, uint32_t capacity)
{
	uint32_t index = 1;

	for (uint32_t i = 1; i < keys->wanted_count; i++) {
		if (has_key(keys->table, keys->table_count, keys->wanted[i]))
			continue;
		while (index < capacity && keys->table[index])
			index++;
		if (index == capacity)
			return false;
		keys->table[index] = keys->wanted[i];
		if (index >= keys->table_count)
			keys->table_count = index + 1;
	}
	return true;
}

static bool store(struct subnet_port *port, const uint16_t table[], uint32_t table_count)
{
	if (port->pkey_count != table_count) {
		uint16_t *pkeys = realloc(port->pkeys, (table_count + 1) * sizeof(*pkeys));

		if (!pkeys)
			return false;
		port->pkeys = pkeys;
	}
	port->pkey_count = (uint16_t)table_count;
	memcpy(port->pkeys, table, table_count * sizeof(*table));
	return true;
}

static bool assign(struct subnet *subnet, struct subnet_port *port, bool is_self, struct keys *keys)
{
	const struct partition_subject subject = {
		.port_guid = port->guid,
		.node_type = (enum node_type)port->node->info.node_type,
		.is_self = is_self};
	uint32_t capacity = port->node->info.partition_cap;

	if (capacity == 0 || capacity > PKEYS_MAX)
		capacity = capacity ? PKEYS_MAX : 1;
	keys->wanted_count =
		partitions_keys(&subnet->partitions, &subject, PKEYS_MAX, keys->wanted);
	if (keys->wanted_count > PKEYS_MAX)
		keys->wanted_count = PKEYS_MAX;
	/* A port in no partition gets an empty table. */
	if (keys->wanted_count == 0)
		return store(port, keys->wanted, 0);
	keep_places(keys, port, capacity);

	bool all_fit = place_new(keys, capacity);

	return store(port, keys->table, keys->table_count) && all_fit;
}

/* The switch port at the other end enforces the same keys if its table can hold them (management
 * 3.5). */
static bool copy_to_switch(const struct subnet_port *port, struct subnet_port *facing)
{
	if (port->pkey_count > facing->node->switch_info.partition_enforcement_cap)
		return false;
	return store(facing, port->pkeys, port->pkey_count);
}

uint32_t subnet_assign_pkeys(struct subnet *subnet, const struct subnet_port *own_port)
{
	bool is_enforced = !partitions_are_trivial(&subnet->partitions);
	struct keys *keys = malloc(sizeof(*keys));
	uint32_t failed_count = 0;

	if (!keys)
		return subnet->node_count;
	list_for_each (link, &subnet->nodes) {
		struct subnet_node *node = container_of(link, struct subnet_node, link);

		for (unsigned i = 0; !node->is_settled && i <= node->port_count; i++) {
			struct subnet_port *port = &node->ports[i];

			if (!subnet_port_is_end_port(port))
				continue;
			failed_count += !assign(subnet, port, port == own_port, keys);
			if (is_enforced && port->peer && subnet_node_is_switch(port->peer->node))
				failed_count += !copy_to_switch(port, port->peer);
		}
	}
	free(keys);
	return failed_count;
}
