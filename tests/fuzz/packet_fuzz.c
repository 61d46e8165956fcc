/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: packet_decode and raw_packet_decode. A packet that one accepts encodes and decodes
 * to the same packet, and the other refuses it. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "wire/packet.h"
#include "wire/raw_packet.h"

static enum packet_error decode(uint8_t *bytes, size_t byte_count, uint32_t packet_count,
				enum packet_kind kind, struct packet *ret_packet)
{
	return kind == PACKET_IBA ? packet_decode(bytes, byte_count, packet_count, ret_packet)
				  : raw_packet_decode(bytes, byte_count, ret_packet);
}

static void expect_same_bytes_again(const struct packet *packet, size_t byte_count)
{
	uint8_t *once = malloc(byte_count);
	uint8_t *twice = malloc(byte_count);
	struct packet again;

	if (once && twice) {
		MUST_HOLD(packet_bytes(packet) == byte_count);
		MUST_HOLD(packet_encode(packet, once) == byte_count);
		MUST_HOLD(decode(once, byte_count, packet->packet_count, packet->kind, &again) ==
			  PACKET_OK);
		MUST_HOLD(again.kind == packet->kind);
		MUST_HOLD(again.payload.byte_count == packet->payload.byte_count);
		if (packet->kind == PACKET_IBA)
			MUST_HOLD(again.bth.opcode == packet->bth.opcode);
		else
			MUST_HOLD(again.ethertype == packet->ethertype);
		MUST_HOLD(packet_encode(&again, twice) == byte_count);
		MUST_HOLD(memcmp(once, twice, byte_count) == 0);
	}
	free(once);
	free(twice);
}

/* Tries the bytes as a raw packet with an agreeing length; otherwise the length check would stop
 * nearly all of them. */
static void try_raw(uint8_t *record, size_t record_bytes)
{
	struct packet raw;

	if (record_bytes < LRH_BYTES)
		return;
	record[0] &= 0xf0;
	record[1] &= 0xfd;
	put_be16(record + 4, (uint16_t)(record_bytes / 4));
	if (raw_packet_decode(record, record_bytes, &raw) != PACKET_OK)
		return;
	MUST_HOLD(raw.payload.spans[0].bytes + raw.payload.byte_count == record + record_bytes);
	expect_same_bytes_again(&raw, record_bytes);
}

/* The first byte is the number of packets that the ring claims; the rest is the record. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	if (!byte_count)
		return 0;

	size_t record_bytes = byte_count - 1;
	/* Exactly as big as the record, so that the sanitizer sees a read beyond it. */
	uint8_t *record = malloc(record_bytes ? record_bytes : 1);
	struct packet packet;

	if (!record)
		return 0;
	memcpy(record, bytes + 1, record_bytes);
	bool is_iba = packet_decode(record, record_bytes, bytes[0], &packet) == PACKET_OK;
	struct packet raw;
	bool is_raw = raw_packet_decode(record, record_bytes, &raw) == PACKET_OK;

	MUST_HOLD(!(is_iba && is_raw));
	if (is_iba) {
		MUST_HOLD(packet.payload.byte_count <= record_bytes);
		MUST_HOLD(packet.payload.spans[0].bytes >= record);
		MUST_HOLD(packet.payload.spans[0].bytes + packet.payload.byte_count <=
			  record + record_bytes);
		expect_same_bytes_again(&packet, record_bytes);
	}
	try_raw(record, record_bytes);
	free(record);
	return 0;
}
