/* SPDX-License-Identifier: Apache-2.0 */
/* VL arbitration (vol 1, chapter 7; transport 8.2). */
#include "net/link/arbitration.h"
#include "net/link/lane_credits.h"
#include "net/link/port_queues.h"

enum { HIGH_LIMIT_BYTES = 4096, HIGH_UNLIMITED = 255 };

static uint8_t entry_cap(const struct port *port, enum arbitration_table table)
{
	return table == TABLE_HIGH ? port->info.vl_arbitration_high_cap
				   : port->info.vl_arbitration_low_cap;
}

static unsigned table_entries(const struct port *port, enum arbitration_table table)
{
	unsigned cap = entry_cap(port, table);

	return cap < VL_ARBITRATION_ENTRIES ? cap : VL_ARBITRATION_ENTRIES;
}

static bool has_weight(const uint8_t row[2])
{
	return row[1] != 0 && row[0] < VL_MANAGEMENT;
}

/* Caches which VLs have weight, so that most decisions need not read the table. */
static void read_table(struct port *port, enum arbitration_table table)
{
	struct vl_arbiter *arbiter = &port->queues->arbiter;
	unsigned entry_count = table_entries(port, table);
	unsigned lanes = 0, repeated = 0;

	for (unsigned entry = 0; entry < entry_count; entry++) {
		const uint8_t *row = port->vl_arbitration[table][entry];

		if (!has_weight(row))
			continue;
		repeated |= lanes & 1u << row[0];
		lanes |= 1u << row[0];
	}
	arbiter->entry_caps[table] = entry_cap(port, table);
	arbiter->lane[table] = VL_MANAGEMENT;
	arbiter->lanes[table] = (uint16_t)lanes;
	arbiter->lone_lanes[table] = (uint16_t)(lanes & ~repeated);
}

void port_arbitration_set(struct port *port, enum arbitration_table table, unsigned entry,
			  uint8_t vl, uint8_t weight)
{
	port->vl_arbitration[table][entry][0] = vl;
	port->vl_arbitration[table][entry][1] = weight;
	if (port->queues)
		port->queues->arbiter.has_read_tables = false;
}

static bool tables_are_read(const struct port *port)
{
	const struct vl_arbiter *arbiter = &port->queues->arbiter;

	return arbiter->has_read_tables &&
	       arbiter->entry_caps[TABLE_LOW] == entry_cap(port, TABLE_LOW) &&
	       arbiter->entry_caps[TABLE_HIGH] == entry_cap(port, TABLE_HIGH);
}

/* The VL of the first entry, from the present one on, that can send; -1: none. */
static int search(struct port *port, enum arbitration_table table, uint16_t ready)
{
	struct vl_arbiter *arbiter = &port->queues->arbiter;
	unsigned entry_count = table_entries(port, table);
	unsigned entry = arbiter->entry[table] % entry_count;

	/* The present entry is tried twice: with its remaining weight, and last with its full
	 * weight. */
	for (unsigned tried = 0; tried <= entry_count; tried++) {
		const uint8_t *row = port->vl_arbitration[table][entry];

		if (has_weight(row) && (ready >> row[0] & 1) &&
		    (tried != 0 || arbiter->left[table] > 0)) {
			if (tried != 0) {
				arbiter->entry[table] = (uint8_t)entry;
				arbiter->left[table] = row[1] * CREDIT_BLOCK_BYTES;
			}
			arbiter->lane[table] = row[0];
			arbiter->weight[table] = row[1];
			return row[0];
		}
		if (++entry == entry_count)
			entry = 0;
	}
	return -1;
}

static int pick(struct port *port, enum arbitration_table table, uint16_t ready)
{
	struct vl_arbiter *arbiter = &port->queues->arbiter;
	unsigned lane = arbiter->lane[table];

	if (!(arbiter->lanes[table] & ready))
		return -1;
	if ((ready >> lane & 1) && arbiter->left[table] > 0)
		return (int)lane;
	/* A search would go once around the table, back to the only entry that can send. */
	if ((ready & arbiter->lone_lanes[table]) == 1u << lane && ready == 1u << lane) {
		arbiter->left[table] = arbiter->weight[table] * CREDIT_BLOCK_BYTES;
		return (int)lane;
	}
	return search(port, table, ready);
}

/* Limit 0 lets one packet go, whatever its size (transport 8.2). */
static int32_t high_limit(const struct port *port)
{
	return port->info.vl_high_limit ? port->info.vl_high_limit * HIGH_LIMIT_BYTES : 1;
}

struct arbitration port_arbitrate(struct port *port, uint16_t ready)
{
	struct vl_arbiter *arbiter = &port->queues->arbiter;

	if (unlikely(!tables_are_read(port))) {
		read_table(port, TABLE_LOW);
		read_table(port, TABLE_HIGH);
		arbiter->has_read_tables = true;
	}

	bool low_is_due = port->info.vl_high_limit != HIGH_UNLIMITED && arbiter->high_left <= 0;
	int vl;

	if (low_is_due) {
		vl = pick(port, TABLE_LOW, ready);
		if (vl >= 0)
			return (struct arbitration){.vl = vl, .table = TABLE_LOW};
		arbiter->high_left = high_limit(port);
	}
	vl = pick(port, TABLE_HIGH, ready);
	if (vl >= 0)
		return (struct arbitration){.vl = vl, .table = TABLE_HIGH};
	return (struct arbitration){.vl = pick(port, TABLE_LOW, ready), .table = TABLE_LOW};
}

void port_arbitration_charge(struct port *port, enum arbitration_table table, uint32_t blocks)
{
	struct vl_arbiter *arbiter = &port->queues->arbiter;
	int32_t bytes = (int32_t)blocks * CREDIT_BLOCK_BYTES;

	/* An entry may overdraw by part of one packet (transport 8.2). */
	arbiter->left[table] -= bytes;
	if (table == TABLE_LOW)
		arbiter->high_left = high_limit(port);
	else if (port->info.vl_high_limit != HIGH_UNLIMITED)
		arbiter->high_left -= bytes;
}
