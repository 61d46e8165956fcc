/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: packet_decode. What it accepts must encode and decode to the same packet. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "wire/packet.h"

static void expect_same_bytes_again(const struct packet *packet, size_t byte_count)
{
	uint8_t *once = malloc(byte_count);
	uint8_t *twice = malloc(byte_count);
	struct packet again;

	if (once && twice) {
		MUST_HOLD(packet_bytes(packet) == byte_count);
		MUST_HOLD(packet_encode(packet, once) == byte_count);
		MUST_HOLD(packet_decode(once, byte_count, packet->packet_count, &again) ==
			  PACKET_OK);
		MUST_HOLD(again.payload.byte_count == packet->payload.byte_count);
		MUST_HOLD(again.bth.opcode == packet->bth.opcode);
		MUST_HOLD(packet_encode(&again, twice) == byte_count);
		MUST_HOLD(memcmp(once, twice, byte_count) == 0);
	}
	free(once);
	free(twice);
}

/* The first byte says how many packets the ring claimed; the rest is the record. */
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
	if (packet_decode(record, record_bytes, bytes[0], &packet) == PACKET_OK) {
		MUST_HOLD(packet.payload.byte_count <= record_bytes);
		MUST_HOLD(packet.payload.spans[0].bytes >= record);
		MUST_HOLD(packet.payload.spans[0].bytes + packet.payload.byte_count <=
			  record + record_bytes);
		expect_same_bytes_again(&packet, record_bytes);
	}
	free(record);
	return 0;
}
