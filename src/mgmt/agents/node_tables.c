/* SPDX-License-Identifier: Apache-2.0 */
/* A node's attributes that are tables of numbers, by name and index (management 2.5). */
#include "mgmt/agents/node_fields.h"

#include <string.h>
#include "net/link/arbitration.h"
#include "net/node/node.h"

enum { MASK_POSITIONS = 4, WEIGHT_BITS = 8 };

static uint32_t pkey_count(const struct port *port)
{
	return port->pkey_count;
}

static uint64_t pkey_get(const struct port *port, uint32_t index)
{
	return port->pkeys[index];
}

static void pkey_set(struct port *port, uint32_t index, uint64_t value)
{
	port->pkeys[index] = (uint16_t)value;
}

static uint32_t guid_count(const struct port *port)
{
	return port->guids ? port->info.guid_cap : 0;
}

static uint64_t guid_get(const struct port *port, uint32_t index)
{
	return port->guids[index];
}

static void guid_set(struct port *port, uint32_t index, uint64_t value)
{
	port->guids[index] = value;
}

/* A switch has a row of 16 SLs per input port, other nodes have one row. */
static uint32_t sl_to_vl_count(const struct port *port)
{
	return SL_COUNT * (node_is_switch(port->node) ? port->node->port_count + 1 : 1);
}

static uint64_t sl_to_vl_get(const struct port *port, uint32_t index)
{
	return port->sl_to_vl[index / SL_COUNT][index % SL_COUNT];
}

static void sl_to_vl_set(struct port *port, uint32_t index, uint64_t value)
{
	port->sl_to_vl[index / SL_COUNT][index % SL_COUNT] = (uint8_t)value;
}

/* An arbitration entry as one number: the VL and the weight. */
static uint64_t arbitration_get(const struct port *port, bool is_high, uint32_t index)
{
	const uint8_t *entry = port->vl_arbitration[is_high][index];

	return (uint64_t)entry[0] << WEIGHT_BITS | entry[1];
}

static void arbitration_set(struct port *port, bool is_high, uint32_t index, uint64_t value)
{
	port_arbitration_set(port, is_high ? TABLE_HIGH : TABLE_LOW, index,
			     (uint8_t)(value >> WEIGHT_BITS), (uint8_t)value);
}

static uint32_t low_count(const struct port *port)
{
	return port->info.vl_arbitration_low_cap;
}

static uint64_t low_get(const struct port *port, uint32_t index)
{
	return arbitration_get(port, false, index);
}

static void low_set(struct port *port, uint32_t index, uint64_t value)
{
	arbitration_set(port, false, index, value);
}

static uint32_t high_count(const struct port *port)
{
	return port->info.vl_arbitration_high_cap;
}

static uint64_t high_get(const struct port *port, uint32_t index)
{
	return arbitration_get(port, true, index);
}

static void high_set(struct port *port, uint32_t index, uint64_t value)
{
	arbitration_set(port, true, index, value);
}

static uint32_t lft_count(const struct port *port)
{
	return node_is_switch(port->node) ? port->node->switch_info.linear_fdb_cap : 0;
}

static uint64_t lft_get(const struct port *port, uint32_t index)
{
	return port->node->lft[index];
}

static void lft_set(struct port *port, uint32_t index, uint64_t value)
{
	port->node->lft[index] = (uint8_t)value;
}

/* The index is MLID - 0xc000. The value has a bit for each of the first 64 ports. */
static uint32_t mft_count(const struct port *port)
{
	return node_is_switch(port->node) ? port->node->switch_info.multicast_fdb_cap : 0;
}

static uint64_t mft_get(const struct port *port, uint32_t index)
{
	uint64_t mask = 0;

	for (unsigned position = 0; position < MASK_POSITIONS; position++)
		mask |= (uint64_t)port->node->mft[index][position] << 16 * position;
	return mask;
}

static void mft_set(struct port *port, uint32_t index, uint64_t value)
{
	for (unsigned position = 0; position < MASK_POSITIONS; position++)
		port->node->mft[index][position] = (uint16_t)(value >> 16 * position);
}

const struct node_table node_tables[] = {
	{"pkeys", pkey_count, pkey_get, pkey_set, UINT16_MAX, 0, true},
	/* Entry 0 is the port GUID. */
	{"guids", guid_count, guid_get, guid_set, UINT64_MAX, 1, true},
	{"sl_to_vl", sl_to_vl_count, sl_to_vl_get, sl_to_vl_set, VL_MANAGEMENT, 0, false},
	{"vl_low", low_count, low_get, low_set, 0x0fff, 0, true},
	{"vl_high", high_count, high_get, high_set, 0x0fff, 0, true},
	{"lft", lft_count, lft_get, lft_set, UINT8_MAX, 0, false},
	{"mft", mft_count, mft_get, mft_set, UINT64_MAX, 0, true},
	{NULL, NULL, NULL, NULL, 0, 0, false},
};

const struct node_table *node_table_find(const char *name)
{
	for (const struct node_table *table = node_tables; table->name; table++) {
		if (strcmp(table->name, name) == 0)
			return table;
	}
	return NULL;
}
