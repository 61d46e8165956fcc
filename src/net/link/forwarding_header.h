/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header fields that ports and switches read, decoded once and cached in the frame.
 *
 * The cache keeps the bytes that the fields were decoded from. So code that changes those bytes
 * need not invalidate it.
 */
#ifndef SOFTIB_NET_LINK_FORWARDING_HEADER_H
#define SOFTIB_NET_LINK_FORWARDING_HEADER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct frame;
struct lrh;

struct forwarding_header {
	uint16_t dlid;
	uint16_t pkey; /* not for raw packets */
	uint16_t payload_bytes;
	uint16_t words; /* PktLen */
	uint8_t sl;
	bool is_management; /* VL15 */
	bool is_raw;	    /* no IBA transport, so no P_Key */
	bool is_global;	    /* has a GRH */
	bool is_sound;	    /* LVer is 0, and the frame is as long as PktLen says */
};

/* The bytes that a header was decoded from: the LRH without its VL, and the first word of the
 * BTH. */
struct header_source {
	uint32_t lrh[2];
	uint32_t bth;
	uint16_t byte_count;
	uint16_t bth_offset; /* 0: nothing was decoded */
};

/* False if the packet is shorter than its headers. */
MUST_USE bool forwarding_header_read(const struct frame *frame, const struct lrh *lrh,
				     struct forwarding_header *ret_header);

#endif
