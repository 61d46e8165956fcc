/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes a whole IBA packet (vol 1, chapters 7 to 9; transport 1.1, 1.6). */
#include "wire/packet.h"

#include <string.h>
#include "base/bytes.h"
#include "wire/raw_packet.h"

enum { GRH_VERSION = 6 };

void packet_set_payload(struct packet *packet, uint8_t *bytes, uint32_t byte_count)
{
	packet->payload.single = (struct span){.bytes = bytes, .byte_count = byte_count};
	packet->payload.spans = &packet->payload.single;
	packet->payload.span_count = 1;
	packet->payload.byte_count = byte_count;
	packet->payload.offset = 0;
}

void payload_copy(const struct payload *payload, size_t from, size_t byte_count, uint8_t *ret_bytes)
{
	size_t skip = payload->offset + from;

	for (uint32_t i = 0; i < payload->span_count && byte_count; i++) {
		const struct span *span = &payload->spans[i];

		if (skip >= span->byte_count) {
			skip -= span->byte_count;
			continue;
		}

		size_t piece = span->byte_count - skip;

		if (piece > byte_count)
			piece = byte_count;
		memcpy(ret_bytes, span->bytes + skip, piece);
		ret_bytes += piece;
		byte_count -= piece;
		skip = 0;
	}
	debug_assert(byte_count == 0);
}

static size_t header_bytes(const struct packet *packet, const struct opcode_info *info)
{
	return (size_t)LRH_BYTES + (packet->has_grh ? GRH_BYTES : 0) + BTH_BYTES + info->eth_bytes;
}

size_t packet_header_bytes(const struct packet *packet)
{
	if (unlikely(packet->kind != PACKET_IBA))
		return raw_packet_bytes(packet) - packet->payload.byte_count;
	return header_bytes(packet, opcode_info(packet->bth.opcode));
}

static uint32_t payload_bytes(const struct packet *packet, const struct opcode_info *info)
{
	return info->has_payload ? packet->payload.byte_count : 0;
}

static unsigned pad_bytes(uint32_t byte_count)
{
	return -byte_count & 3;
}

size_t packet_bytes(const struct packet *packet)
{
	if (unlikely(packet->kind != PACKET_IBA))
		return raw_packet_bytes(packet);

	const struct opcode_info *info = opcode_info(packet->bth.opcode);
	uint32_t payload = payload_bytes(packet, info);

	return header_bytes(packet, info) + payload + pad_bytes(payload);
}

/* In the order of the headers on the wire. Returns where they end. */
static uint8_t *encode_extended_headers(const struct packet *packet, const struct opcode_info *info,
					uint8_t *bytes)
{
	if (info->has_rdeth) {
		put_be32(bytes, packet->rdeth_eecn & 0xffffff);
		bytes += RDETH_BYTES;
	}
	if (info->has_xrceth) {
		put_be32(bytes, packet->xrc_srqn & 0xffffff);
		bytes += XRCETH_BYTES;
	}
	if (info->has_deth) {
		deth_encode(&packet->deth, bytes);
		bytes += DETH_BYTES;
	}
	if (info->has_feth) {
		feth_encode(&packet->feth, bytes);
		bytes += FETH_BYTES;
	}
	if (info->has_reth) {
		reth_encode(&packet->reth, bytes);
		bytes += RETH_BYTES;
	}
	if (info->has_atomic_eth) {
		atomic_eth_encode(&packet->atomic_eth, bytes);
		bytes += ATOMIC_ETH_BYTES;
	}
	if (info->has_aeth) {
		aeth_encode(&packet->aeth, bytes);
		bytes += AETH_BYTES;
	}
	if (info->has_atomic_ack_eth) {
		put_be64(bytes, packet->atomic_ack);
		bytes += ATOMIC_ACK_ETH_BYTES;
	}
	if (info->has_immediate) {
		memcpy(bytes, &packet->immediate, IMMEDIATE_BYTES);
		bytes += IMMEDIATE_BYTES;
	}
	if (info->has_ieth) {
		put_be32(bytes, packet->invalidate_rkey);
		bytes += IETH_BYTES;
	}
	return bytes;
}

size_t packet_encode(const struct packet *packet, uint8_t *ret_bytes)
{
	if (unlikely(packet->kind != PACKET_IBA))
		return raw_packet_encode(packet, ret_bytes);

	const struct opcode_info *info = opcode_info(packet->bth.opcode);
	uint32_t payload = payload_bytes(packet, info);
	unsigned pad = pad_bytes(payload);
	size_t total = header_bytes(packet, info) + payload + pad;
	bool is_train = packet->packet_count > 1;
	uint8_t *bytes = ret_bytes;

	/* PktLen has 11 bits and PayLen 16; a train may not fit and states 0. */
	debug_assert(is_train || (total + ICRC_BYTES) / 4 < 2048);

	struct lrh lrh = packet->lrh;

	lrh.lnh = packet->has_grh ? LNH_GLOBAL : LNH_LOCAL;
	lrh.words = is_train ? 0 : (uint16_t)((total + ICRC_BYTES) / 4);
	lrh_encode(&lrh, bytes);
	bytes += LRH_BYTES;

	if (packet->has_grh) {
		struct grh grh = packet->grh;

		grh.version = GRH_VERSION;
		grh.next_header = GRH_NEXT_HEADER_IBA;
		grh.payload_bytes =
			is_train ? 0 : (uint16_t)(total - LRH_BYTES - GRH_BYTES + ICRC_BYTES);
		grh_encode(&grh, bytes);
		bytes += GRH_BYTES;
	}

	bth_encode(&packet->bth, bytes);
	bytes[1] = (uint8_t)((bytes[1] & ~0x30) | pad << 4);
	bytes += BTH_BYTES;
	if (info->eth_bytes)
		bytes = encode_extended_headers(packet, info, bytes);
	/* The pad shares its word with the end of the payload, which is written afterwards. */
	if (pad)
		put_be32(bytes + payload + pad - 4, 0);
	if (payload)
		payload_copy(&packet->payload, 0, payload, bytes);
	return total;
}

const char *packet_error_name(enum packet_error error)
{
	switch (error) {
	case PACKET_OK:
		return "ok";
	case PACKET_TOO_SHORT:
		return "too short";
	case PACKET_BAD_LENGTH:
		return "bad length";
	case PACKET_BAD_VERSION:
		return "bad version";
	case PACKET_BAD_NEXT_HEADER:
		return "bad next header";
	case PACKET_BAD_OPCODE:
		return "bad opcode";
	case PACKET_BAD_PAD:
		return "bad pad count";
	}
	return "unknown";
}

/* Both lengths in the headers count the ICRC; a train states none. */
static bool length_agrees(size_t stated, size_t byte_count, uint32_t packet_count)
{
	return packet_count == 1 ? stated == byte_count + ICRC_BYTES : stated == 0;
}

/*
 * The bytes may lie in a ring, where a hostile peer changes them between a check and its use. So a
 * field that decides about lengths is read once and passed on; all other fields may have any value.
 */
static uint8_t read_once(const uint8_t *byte)
{
	return *(const volatile uint8_t *)byte;
}

static enum packet_error check_grh(const uint8_t *bytes, size_t byte_count, uint32_t packet_count)
{
	const uint8_t *grh = bytes + LRH_BYTES;

	if (byte_count < LRH_BYTES + GRH_BYTES + BTH_BYTES)
		return PACKET_TOO_SHORT;
	if (grh[0] >> 4 != GRH_VERSION)
		return PACKET_BAD_VERSION;
	if (grh[6] != GRH_NEXT_HEADER_IBA)
		return PACKET_BAD_NEXT_HEADER;
	if (!length_agrees(get_be16(grh + 4), byte_count - LRH_BYTES - GRH_BYTES, packet_count))
		return PACKET_BAD_LENGTH;
	return PACKET_OK;
}

static enum packet_error check_route_headers(const uint8_t *bytes, size_t byte_count,
					     uint32_t packet_count, bool *ret_has_grh)
{
	if (byte_count < LRH_BYTES + BTH_BYTES)
		return PACKET_TOO_SHORT;
	if (bytes[0] & 0x0f) /* LVer */
		return PACKET_BAD_VERSION;

	unsigned lnh = read_once(bytes + 1) & 3;
	size_t words = get_be16(bytes + 4) & 0x7ff;

	if (lnh != LNH_LOCAL && lnh != LNH_GLOBAL)
		return PACKET_BAD_NEXT_HEADER;
	if (byte_count % 4 || !packet_count || !length_agrees(words * 4, byte_count, packet_count))
		return PACKET_BAD_LENGTH;
	*ret_has_grh = lnh == LNH_GLOBAL;
	return lnh == LNH_GLOBAL ? check_grh(bytes, byte_count, packet_count) : PACKET_OK;
}

/* flags: the byte of the BTH with PadCnt and TVer. byte_count counts from the BTH to the last pad
 * byte. */
static enum packet_error check_transport_headers(const struct opcode_info *info, uint8_t flags,
						 size_t byte_count)
{
	if (flags & 0x0f) /* TVer */
		return PACKET_BAD_VERSION;
	if (!info->name)
		return PACKET_BAD_OPCODE;
	if (byte_count < (size_t)BTH_BYTES + info->eth_bytes)
		return PACKET_TOO_SHORT;

	size_t rest = byte_count - BTH_BYTES - info->eth_bytes;

	if (!info->has_payload && rest)
		return PACKET_BAD_LENGTH;
	if ((flags >> 4 & 3u) > rest)
		return PACKET_BAD_PAD;
	return PACKET_OK;
}

static void decode_extended_headers(const uint8_t *bytes, const struct opcode_info *info,
				    struct packet *packet)
{
	if (info->has_rdeth) {
		packet->rdeth_eecn = get_be32(bytes) & 0xffffff;
		bytes += RDETH_BYTES;
	}
	if (info->has_xrceth) {
		packet->xrc_srqn = get_be32(bytes) & 0xffffff;
		bytes += XRCETH_BYTES;
	}
	if (info->has_deth) {
		deth_decode(bytes, &packet->deth);
		bytes += DETH_BYTES;
	}
	if (info->has_feth) {
		feth_decode(bytes, &packet->feth);
		bytes += FETH_BYTES;
	}
	if (info->has_reth) {
		reth_decode(bytes, &packet->reth);
		bytes += RETH_BYTES;
	}
	if (info->has_atomic_eth) {
		atomic_eth_decode(bytes, &packet->atomic_eth);
		bytes += ATOMIC_ETH_BYTES;
	}
	if (info->has_aeth) {
		aeth_decode(bytes, &packet->aeth);
		bytes += AETH_BYTES;
	}
	if (info->has_atomic_ack_eth) {
		packet->atomic_ack = get_be64(bytes);
		bytes += ATOMIC_ACK_ETH_BYTES;
	}
	if (info->has_immediate) {
		memcpy(&packet->immediate, bytes, IMMEDIATE_BYTES);
		bytes += IMMEDIATE_BYTES;
	}
	if (info->has_ieth)
		packet->invalidate_rkey = get_be32(bytes);
}

enum packet_error packet_decode(uint8_t *bytes, size_t byte_count, uint32_t packet_count,
				struct packet *ret_packet)
{
	bool has_grh;
	enum packet_error error = check_route_headers(bytes, byte_count, packet_count, &has_grh);

	if (unlikely(error != PACKET_OK))
		return error;

	size_t bth_offset = (size_t)LRH_BYTES + (has_grh ? GRH_BYTES : 0);
	uint8_t opcode = read_once(bytes + bth_offset);
	uint8_t flags = read_once(bytes + bth_offset + 1);
	const struct opcode_info *info = opcode_info(opcode);

	error = check_transport_headers(info, flags, byte_count - bth_offset);
	if (unlikely(error != PACKET_OK))
		return error;

	size_t payload_offset = bth_offset + BTH_BYTES + info->eth_bytes;
	unsigned pad = flags >> 4 & 3;

	/* The lengths are checked above, so these cannot fail. */
	bool fits = lrh_decode(bytes, LRH_BYTES, &ret_packet->lrh);

	if (has_grh)
		fits &= grh_decode(bytes + LRH_BYTES, GRH_BYTES, &ret_packet->grh);
	fits &= bth_decode(bytes + bth_offset, BTH_BYTES, &ret_packet->bth);
	debug_assert(fits);
	(void)fits;
	ret_packet->bth.opcode = opcode;
	ret_packet->bth.pad_bytes = (uint8_t)pad;
	ret_packet->kind = PACKET_IBA;
	ret_packet->has_grh = has_grh;
	ret_packet->packet_count = packet_count;
	if (info->eth_bytes)
		decode_extended_headers(bytes + bth_offset + BTH_BYTES, info, ret_packet);
	packet_set_payload(ret_packet, bytes + payload_offset,
			   (uint32_t)(byte_count - payload_offset - pad));
	return PACKET_OK;
}
