/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data VLs of a port: how many it has (VLCap), how many the link uses (OperationalVLs), and the
 * SL to VL and arbitration tables before a manager writes them (vol 1, chapters 7 and 14; transport
 * 8.1, 8.2).
 *
 * At power-on every SL maps to VL0. If a link comes up with fewer VLs than the tables name, the
 * tables are reset to that, so that no SL is dropped before a manager has seen the link.
 */
#ifndef SOFTIB_NET_LINK_LANE_TABLES_H
#define SOFTIB_NET_LINK_LANE_TABLES_H

#include <stdint.h>
#include "net/link/port.h"

enum { VL_CODE_8 = 4, VL_CODE_MAX = 5, DATA_VLS_MAX = 15 };

/* The number of data VLs for a code of VLCap or OperationalVLs (transport 8.1). */
static inline unsigned data_vl_count_of(uint8_t code)
{
	static const uint8_t counts[16] = {1, 1, 2, 4, 8, 15, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

	return counts[code & 15];
}

/* The code for 1, 2, 4, 8 or 15 data VLs; 0: no port has that number. */
uint8_t vl_code_of(unsigned data_vl_count);

/* Sets VLCap, the lengths of the arbitration tables, and all tables as at power-on. A link that is
 * up has to be trained anew. */
void port_set_vl_cap(struct port *port, uint8_t vl_cap);

/* The link came up, and OperationalVLs is known. */
void port_lanes_trained(struct port *port);

#endif
