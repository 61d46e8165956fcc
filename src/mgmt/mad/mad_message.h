/* SPDX-License-Identifier: Apache-2.0 */
/* A MAD and its address, as a port's QP0 or QP1 sends and receives it. Types only, so there is no
 * mad_message.c. */
#ifndef SOFTIB_MGMT_MAD_MAD_MESSAGE_H
#define SOFTIB_MGMT_MAD_MAD_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/gid.h"
#include "wire/mad.h"

struct mad_address {
	uint16_t lid; /* the peer's; LID_PERMISSIVE for directed routes */
	uint8_t sl;
	uint8_t path_bits;
	uint32_t qpn; /* the peer's: 0 for SMPs */
	uint32_t qkey;
	uint16_t pkey;
	bool has_grh;
	struct gid gid;	   /* the peer's */
	uint8_t gid_index; /* the index of our own GID */
	uint8_t hop_limit; /* 0: stays within this subnet */
	uint8_t traffic_class;
	uint32_t flow_label;
};

struct mad_message {
	struct mad_address address;
	uint8_t bytes[MAD_BYTES];
};

#endif
