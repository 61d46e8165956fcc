/* SPDX-License-Identifier: Apache-2.0 */
/* The header fields that ports and switches read (vol 1, chapters 7 and 18; transport 1.2, 1.4). */
#include "net/link/forwarding_header.h"

#include "base/bytes.h"
#include "net/link/frame.h"
#include "net/link/port.h"
#include "wire/grh.h"
#include "wire/lrh.h"
#include "wire/opcode.h"
#include "wire/packet.h"
#include "wire/raw_packet.h"
#include "wire/transport_headers.h"

enum { WORD_BYTES = 4 };

/* PktLen counts the ICRC, which raw packets do not have (transport 1.2). */
static bool length_agrees(const struct frame *frame, const struct lrh *lrh)
{
	return (uint32_t)lrh->words * WORD_BYTES ==
	       frame->byte_count + (lrh->lnh < LNH_LOCAL ? 0 : ICRC_BYTES);
}

static uint16_t raw_payload_bytes(const struct frame *frame, const struct lrh *lrh)
{
	uint32_t header_bytes =
		LRH_BYTES + (lrh->lnh == LNH_RAW_IPV6 ? IPV6_HEADER_BYTES : RWH_BYTES);

	return (uint16_t)(frame->byte_count > header_bytes ? frame->byte_count - header_bytes : 0);
}

bool forwarding_header_read(const struct frame *frame, const struct lrh *lrh,
			    struct forwarding_header *ret_header)
{
	uint32_t bth_offset = lrh->lnh == LNH_GLOBAL ? LRH_BYTES + GRH_BYTES : LRH_BYTES;
	struct forwarding_header header = {
		.dlid = lrh->dlid,
		.words = lrh->words,
		.sl = lrh->sl,
		.is_management = lrh->vl == VL_MANAGEMENT,
		.is_raw = lrh->lnh < LNH_LOCAL,
		.is_global = lrh->lnh == LNH_GLOBAL,
		.is_sound = lrh->version == 0 && length_agrees(frame, lrh),
	};

	if (header.is_raw) {
		header.payload_bytes = raw_payload_bytes(frame, lrh);
		*ret_header = header;
		return true;
	}
	if (frame->byte_count < bth_offset + BTH_BYTES)
		return false;

	const uint8_t *bth = frame->bytes + bth_offset;
	uint32_t header_bytes = bth_offset + BTH_BYTES + opcode_info(bth[0])->eth_bytes;
	uint32_t pad_bytes = bth[1] >> 4 & 3;

	if (frame->byte_count < header_bytes + pad_bytes)
		return false;
	header.pkey = get_be16(bth + 2);
	header.payload_bytes = (uint16_t)(frame->byte_count - header_bytes - pad_bytes);
	*ret_header = header;
	return true;
}

bool frame_read_header_anew(struct frame *frame)
{
	struct lrh lrh;

	frame->header_source.bth_offset = 0;
	if (!lrh_decode(frame->bytes, frame->byte_count, &lrh) ||
	    !forwarding_header_read(frame, &lrh, &frame->header))
		return false;
	/* A raw packet may be shorter than the bytes that are compared. */
	if (frame->byte_count >= LRH_BYTES + BTH_BYTES)
		frame->header_source = frame_header_source(
			frame, frame->header.is_global ? LRH_BYTES + GRH_BYTES : LRH_BYTES);
	return true;
}
