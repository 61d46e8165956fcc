/* SPDX-License-Identifier: Apache-2.0 */
/* The data VLs of a port, and its tables at power-on (vol 1, chapters 7 and 14; transport 8.1). */
#include "net/link/lane_tables.h"

#include <string.h>
#include "net/link/arbitration.h"

enum {
	ARBITRATION_CAP = 8,	    /* entries per table */
	ARBITRATION_CAP_LARGE = 16, /* one for each of 15 VLs */
	ARBITRATION_WEIGHT = 64,    /* 4 KiB */
};

uint8_t vl_code_of(unsigned data_vl_count)
{
	for (uint8_t code = 1; code <= VL_CODE_MAX; code++)
		if (data_vl_count_of(code) == data_vl_count)
			return code;
	return 0;
}

/* A port with one data VL has nothing to arbitrate; others have at least one entry per VL. */
static uint8_t arbitration_cap(unsigned data_vl_count)
{
	if (data_vl_count == 1)
		return 0;
	return data_vl_count > ARBITRATION_CAP ? ARBITRATION_CAP_LARGE : ARBITRATION_CAP;
}

/* Low priority, round robin over all VLs of the port; the ones that the link does not use never
 * have packets. */
static void reset_arbitration(struct port *port)
{
	unsigned lane_count = data_vl_count_of(port->info.vl_cap);

	for (unsigned entry = 0; entry < VL_ARBITRATION_ENTRIES; entry++) {
		bool is_lane = lane_count > 1 && entry < lane_count;

		port_arbitration_set(port, TABLE_HIGH, entry, 0, 0);
		port_arbitration_set(port, TABLE_LOW, entry, is_lane ? (uint8_t)entry : 0,
				     is_lane ? ARBITRATION_WEIGHT : 0);
	}
}

void port_set_vl_cap(struct port *port, uint8_t vl_cap)
{
	struct port_info *info = &port->info;

	info->vl_cap = vl_cap;
	info->operational_vls = vl_cap;
	info->vl_arbitration_high_cap = arbitration_cap(data_vl_count_of(vl_cap));
	info->vl_arbitration_low_cap = info->vl_arbitration_high_cap;
	for (unsigned row = 0; row < port->sl_to_vl_row_count; row++)
		memset(port->sl_to_vl[row], 0, sizeof(port->sl_to_vl[row]));
	reset_arbitration(port);
}

/* VL15 in the table drops the packets of the SL. */
static bool row_fits(const uint8_t row[static SL_COUNT], unsigned lane_count)
{
	for (unsigned sl = 0; sl < SL_COUNT; sl++)
		if (row[sl] >= lane_count && row[sl] != VL_MANAGEMENT)
			return false;
	return true;
}

void port_lanes_trained(struct port *port)
{
	unsigned lane_count = data_vl_count_of(port->info.operational_vls);
	bool all_fit = true;

	for (unsigned row = 0; row < port->sl_to_vl_row_count; row++) {
		if (row_fits(port->sl_to_vl[row], lane_count))
			continue;
		memset(port->sl_to_vl[row], 0, sizeof(port->sl_to_vl[row]));
		all_fit = false;
	}
	/* The weights were for VLs that are gone, and VL0 may have had none. */
	if (!all_fit)
		reset_arbitration(port);
}
