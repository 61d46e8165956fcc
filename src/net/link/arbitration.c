/* SPDX-License-Identifier: Apache-2.0 */
/* VL arbitration (vol 1, chapter 7). */
#include "net/link/arbitration.h"

#include <string.h>
#include "net/link/port_queues.h"

enum { HIGH_LIMIT_BYTES = 4096, HIGH_UNLIMITED = 255 };

static unsigned table_entries(const struct port *port, enum arbitration_table table)
{
	unsigned cap = table == TABLE_HIGH ? port->info.vl_arbitration_high_cap
					   : port->info.vl_arbitration_low_cap;

	return cap < VL_ARBITRATION_ENTRIES ? cap : VL_ARBITRATION_ENTRIES;
}

/* Most tables for high priority have no weight at all; four entries are looked at in one go. */
static bool has_weight(const uint8_t rows[][2], unsigned entry_count)
{
	static const uint8_t weights[8] = {0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff};
	uint64_t mask, any = 0;

	memcpy(&mask, weights, sizeof(mask));
	for (unsigned entry = 0; entry < entry_count; entry += 4) {
		uint64_t four;

		memcpy(&four, rows[entry], sizeof(four));
		any |= four & mask;
	}
	return any != 0;
}

/* The VL of the first entry, from the present one on, whose lane can send; -1: none. */
static int pick(struct port *port, enum arbitration_table table, uint16_t ready)
{
	struct vl_arbiter *arbiter = &port->queues->arbiter;
	unsigned entry_count = table_entries(port, table);

	/* Entries beyond the cap that are looked at too have no weight, or cost a round. */
	if (!entry_count || !has_weight(port->vl_arbitration[table], entry_count))
		return -1;

	unsigned entry = arbiter->entry[table] % entry_count;

	/* The present entry comes up twice: with what it has left, and last with its full weight.
	 */
	for (unsigned tried = 0; tried <= entry_count; tried++) {
		const uint8_t *row = port->vl_arbitration[table][entry];
		bool may = row[1] != 0 && row[0] < VL_MANAGEMENT && (ready >> row[0] & 1) &&
			   (tried != 0 || arbiter->left[table] > 0);

		if (may && tried != 0) {
			arbiter->entry[table] = (uint8_t)entry;
			arbiter->left[table] = row[1] * CREDIT_BLOCK_BYTES;
		}
		if (may)
			return row[0];
		if (++entry == entry_count)
			entry = 0;
	}
	return -1;
}

/* Limit 0 lets one packet go, whatever its size. */
static int32_t high_limit(const struct port *port)
{
	return port->info.vl_high_limit ? port->info.vl_high_limit * HIGH_LIMIT_BYTES : 1;
}

struct arbitration port_arbitrate(struct port *port, uint16_t ready)
{
	struct vl_arbiter *arbiter = &port->queues->arbiter;
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

	/* An entry may overdraw by part of one packet. */
	arbiter->left[table] -= bytes;
	if (table == TABLE_LOW)
		arbiter->high_left = high_limit(port);
	else if (port->info.vl_high_limit != HIGH_UNLIMITED)
		arbiter->high_left -= bytes;
}
