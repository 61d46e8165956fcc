/* SPDX-License-Identifier: Apache-2.0 */
/* Global route header (vol 1, chapter 8; transport 1.3). */
#ifndef SOFTIB_WIRE_GRH_H
#define SOFTIB_WIRE_GRH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/gid.h"

enum { GRH_BYTES = 40, GRH_HOP_LIMIT_OFFSET = 7, GRH_NEXT_HEADER_IBA = 0x1b };

struct grh {
	uint8_t version; /* 6 */
	uint8_t traffic_class;
	uint8_t next_header;
	uint8_t hop_limit;
	uint16_t payload_bytes; /* after the GRH, ICRC included */
	uint32_t flow_label;	/* 20 bits */
	struct gid sgid;
	struct gid dgid;
};

void grh_encode(const struct grh *grh, uint8_t ret_bytes[static GRH_BYTES]);
MUST_USE bool grh_decode(const uint8_t *bytes, size_t byte_count, struct grh *ret_grh);

#endif
