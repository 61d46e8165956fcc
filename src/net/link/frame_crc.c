/* SPDX-License-Identifier: Apache-2.0 */
/* The CRCs of a frame (vol 1, chapter 7; transport 1.7, 1.8). */
#include "net/link/frame_crc.h"

#include <string.h>
#include "wire/crc.h"
#include "wire/lrh.h"
#include "wire/packet.h"

enum { BITS_PER_BYTE = 8 };

static void put_icrc(const struct frame *frame, uint8_t *ret_bytes)
{
	uint32_t value = icrc(frame->bytes, frame_stored_bytes(frame));

	for (unsigned index = 0; index < ICRC_BYTES; index++)
		ret_bytes[index] = (uint8_t)(value >> (BITS_PER_BYTE * index));
}

/* The bytes before the VCRC lie in two places: the packet, and the ICRC behind it. */
static void put_vcrc(const struct frame *frame, uint8_t *ret_bytes)
{
	uint8_t wire[PACKET_BYTES_MAX + ICRC_BYTES];
	size_t byte_count = frame_stored_bytes(frame);

	memcpy(wire, frame->bytes, byte_count);
	if (frame->has_icrc) {
		memcpy(wire + byte_count, frame->crcs, ICRC_BYTES);
		byte_count += ICRC_BYTES;
	}

	uint16_t value = vcrc(wire, byte_count);

	ret_bytes[0] = (uint8_t)value;
	ret_bytes[1] = (uint8_t)(value >> BITS_PER_BYTE);
}

void frame_append_crcs(struct frame *frame)
{
	frame->has_crcs = true;
	frame->has_icrc = (frame->bytes[1] & 3) >= LNH_LOCAL;
	memset(frame->crcs, 0, sizeof(frame->crcs));
	if (frame->has_icrc)
		put_icrc(frame, frame->crcs);
	put_vcrc(frame, frame->crcs + ICRC_BYTES);
}

void frame_renew_vcrc(struct frame *frame)
{
	put_vcrc(frame, frame->crcs + ICRC_BYTES);
}

enum frame_crc_state frame_check_crcs(const struct frame *frame)
{
	uint8_t expected[ICRC_BYTES];

	put_vcrc(frame, expected);
	if (memcmp(expected, frame->crcs + ICRC_BYTES, VCRC_BYTES) != 0)
		return FRAME_VCRC_WRONG;
	if (!frame->has_icrc)
		return FRAME_CRCS_RIGHT;
	put_icrc(frame, expected);
	return memcmp(expected, frame->crcs, ICRC_BYTES) == 0 ? FRAME_CRCS_RIGHT : FRAME_ICRC_WRONG;
}

uint64_t frame_flip_bit(struct frame *frame, uint64_t bit)
{
	uint32_t crc_offset = frame->has_icrc ? 0 : ICRC_BYTES;
	uint32_t byte_count = frame_stored_bytes(frame);
	uint64_t bit_count = BITS_PER_BYTE * (uint64_t)(byte_count + FRAME_CRC_BYTES - crc_offset);

	bit %= bit_count;

	uint64_t byte = bit / BITS_PER_BYTE;
	uint8_t mask = (uint8_t)(1u << (bit % BITS_PER_BYTE));

	if (byte < byte_count)
		frame->bytes[byte] ^= mask;
	else
		frame->crcs[byte - byte_count + crc_offset] ^= mask;
	return byte;
}

void frame_break_inside(struct frame *frame, uint64_t bit)
{
	uint64_t payload_bits = BITS_PER_BYTE * (uint64_t)(frame_stored_bytes(frame) - LRH_BYTES);
	uint64_t chosen = BITS_PER_BYTE * LRH_BYTES + bit % payload_bits;

	frame_append_crcs(frame);
	/* The ICRC does not cover every field (FECN, hop limit ...). If this bit is not covered,
	 * the next one is flipped. */
	for (uint64_t tried = 0; tried < payload_bits; tried++) {
		frame_flip_bit(frame, chosen);
		frame_renew_vcrc(frame);
		if (frame_check_crcs(frame) == FRAME_ICRC_WRONG)
			return;
		frame_flip_bit(frame, chosen);
		chosen = BITS_PER_BYTE * LRH_BYTES +
			 (chosen - BITS_PER_BYTE * LRH_BYTES + 1) % payload_bits;
	}
	frame_renew_vcrc(frame);
}

uint64_t frame_break_on_wire(struct frame *frame, uint64_t bit)
{
	if (!frame->has_crcs)
		frame_append_crcs(frame);
	return frame_flip_bit(frame, bit);
}
