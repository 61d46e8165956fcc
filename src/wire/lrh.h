/* SPDX-License-Identifier: Apache-2.0 */
/* Local route header (vol 1, chapter 7; transport 1.2). */
#ifndef SOFTIB_WIRE_LRH_H
#define SOFTIB_WIRE_LRH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

enum {
	LRH_BYTES = 8,
	/* Offsets, for code that reads one field only. */
	LRH_DLID_OFFSET = 2,
	LRH_SLID_OFFSET = 6,
};

enum lnh { LNH_RAW_ETHERTYPE = 0, LNH_RAW_IPV6 = 1, LNH_LOCAL = 2, LNH_GLOBAL = 3 };

struct lrh {
	uint8_t vl;
	uint8_t version;
	uint8_t sl;
	uint8_t lnh;
	uint16_t dlid;
	uint16_t slid;
	uint16_t words; /* PktLen: LRH to ICRC, in 4 bytes; 11 bits */
};

void lrh_encode(const struct lrh *lrh, uint8_t ret_bytes[static LRH_BYTES]);
MUST_USE bool lrh_decode(const uint8_t *bytes, size_t byte_count, struct lrh *ret_lrh);

#endif
