/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes raw packets (vol 1, chapters 5 and 7; transport 1.1, 9.4). */
#include "wire/raw_packet.h"

#include "base/bytes.h"

enum { IPV6_VERSION = 6, WORD_BYTES = 4, ETHERTYPE_OFFSET = 2 };

enum packet_error raw_check_ipv6(const uint8_t header[static IPV6_HEADER_BYTES], size_t byte_count)
{
	size_t stated = IPV6_HEADER_BYTES + (size_t)get_be16(header + 4);

	if (header[0] >> 4 != IPV6_VERSION)
		return PACKET_BAD_VERSION;
	return (stated + WORD_BYTES - 1) / WORD_BYTES * WORD_BYTES == byte_count
		       ? PACKET_OK
		       : PACKET_BAD_LENGTH;
}

static size_t header_bytes(const struct packet *packet)
{
	return (size_t)LRH_BYTES + (packet->kind == PACKET_RAW_ETHERTYPE ? RWH_BYTES : 0);
}

size_t raw_packet_bytes(const struct packet *packet)
{
	return header_bytes(packet) + packet->payload.byte_count;
}

size_t raw_packet_encode(const struct packet *packet, uint8_t *ret_bytes)
{
	size_t total = raw_packet_bytes(packet);
	bool has_rwh = packet->kind == PACKET_RAW_ETHERTYPE;
	struct lrh lrh = packet->lrh;

	debug_assert(total % WORD_BYTES == 0 && total / WORD_BYTES < 2048);
	lrh.lnh = has_rwh ? LNH_RAW_ETHERTYPE : LNH_RAW_IPV6;
	lrh.words = (uint16_t)(total / WORD_BYTES);
	lrh_encode(&lrh, ret_bytes);
	if (has_rwh)
		put_be32(ret_bytes + LRH_BYTES, packet->ethertype);
	payload_copy(&packet->payload, 0, packet->payload.byte_count,
		     ret_bytes + header_bytes(packet));
	return total;
}

static enum packet_error check(const uint8_t *bytes, size_t byte_count, const struct lrh *lrh)
{
	if (lrh->version)
		return PACKET_BAD_VERSION;
	if (lrh->lnh >= LNH_LOCAL)
		return PACKET_BAD_NEXT_HEADER;
	if (byte_count < RAW_PACKET_BYTES_MIN ||
	    (lrh->lnh == LNH_RAW_IPV6 && byte_count < LRH_BYTES + IPV6_HEADER_BYTES))
		return PACKET_TOO_SHORT;
	if (byte_count != (size_t)lrh->words * WORD_BYTES)
		return PACKET_BAD_LENGTH;
	return lrh->lnh == LNH_RAW_IPV6 ? raw_check_ipv6(bytes + LRH_BYTES, byte_count - LRH_BYTES)
					: PACKET_OK;
}

enum packet_error raw_packet_decode(uint8_t *bytes, size_t byte_count, struct packet *ret_packet)
{
	struct lrh lrh;

	if (!lrh_decode(bytes, byte_count, &lrh))
		return PACKET_TOO_SHORT;

	enum packet_error error = check(bytes, byte_count, &lrh);

	if (error != PACKET_OK)
		return error;

	bool has_rwh = lrh.lnh == LNH_RAW_ETHERTYPE;

	ret_packet->kind = has_rwh ? PACKET_RAW_ETHERTYPE : PACKET_RAW_IPV6;
	ret_packet->lrh = lrh;
	ret_packet->ethertype = has_rwh ? get_be16(bytes + LRH_BYTES + ETHERTYPE_OFFSET) : 0;
	ret_packet->packet_count = 1;
	ret_packet->has_grh = false;

	size_t offset = header_bytes(ret_packet);

	packet_set_payload(ret_packet, bytes + offset, (uint32_t)(byte_count - offset));
	return PACKET_OK;
}
