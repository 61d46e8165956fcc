/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a port that its queue pairs read. The adapter keeps it up to date; queue pairs only
 * read it. */
#ifndef SOFTIB_NET_TRANSPORT_PORT_VIEW_H
#define SOFTIB_NET_TRANSPORT_PORT_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/gid.h"

enum { PORT_PKEYS_MAX = 128, PORT_GIDS_MAX = 8 };

struct port_view {
	uint8_t number; /* from 1 */
	uint8_t state;	/* enum port_state of wire/subnet_attributes.h */
	uint8_t physical_state;
	uint8_t lmc;
	uint8_t mtu_code;     /* active */
	uint8_t mtu_cap_code; /* the largest that the port supports */
	uint8_t sm_sl;
	uint8_t subnet_timeout;
	uint8_t link_width_active;  /* PortInfo codes */
	uint16_t link_speed_active; /* verbs code: SDR 1 .. XDR 256 */
	uint8_t vl_count_code;
	uint8_t init_type_reply;
	uint16_t lid;
	uint16_t sm_lid;
	uint32_t capability_mask;
	uint64_t gid_prefix;
	uint64_t guid;
	uint16_t pkey_count; /* table size */
	uint16_t gid_count;
	uint16_t pkeys[PORT_PKEYS_MAX];
	struct gid gids[PORT_GIDS_MAX];
	/* Counted here and read by the host. */
	uint32_t pkey_violations;
	uint32_t qkey_violations;
};

#endif
