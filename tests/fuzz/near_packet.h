/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a fabric with a few hosts, nearly right: the input chooses opcode, addresses and keys
 * among plausible ones, and changes a few bytes of the result. */
#ifndef SOFTIB_TESTS_FUZZ_NEAR_PACKET_H
#define SOFTIB_TESTS_FUZZ_NEAR_PACKET_H

#include "fuzz/input.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { NEAR_PACKET_PAYLOAD_MAX = 255, NEAR_PACKET_BYTES_MAX = 512 };

/* What the packet would have if it was right. */
struct near_packet {
	uint16_t slid, dlid;
	uint32_t qpn, source_qpn;
	uint32_t psn;
	uint32_t qkey;
	struct reth reth;
};

static inline uint8_t near_opcode(struct input *input)
{
	static const uint8_t transports[] = {TRANSPORT_RC, TRANSPORT_RC, TRANSPORT_UC,
					     TRANSPORT_UD};
	static const uint8_t operations[] = {
		OPCODE_SEND_ONLY,    OPCODE_SEND_ONLY_IMMEDIATE, OPCODE_SEND_FIRST,
		OPCODE_SEND_LAST,    OPCODE_WRITE_ONLY,		 OPCODE_WRITE_FIRST,
		OPCODE_READ_REQUEST, OPCODE_ACKNOWLEDGE,	 OPCODE_FETCH_ADD,
	};
	const uint8_t choice = input_byte(input);

	return choice & 0x80 ? input_byte(input)
			     : (uint8_t)(transports[choice & 3] |
					 operations[(choice >> 2) % sizeof(operations)]);
}

/* Returns the bytes of the packet; ret_bytes has room for NEAR_PACKET_BYTES_MAX. */
static inline uint32_t near_packet_make(struct input *input, const struct near_packet *near,
					uint8_t *ret_bytes)
{
	uint8_t payload[NEAR_PACKET_PAYLOAD_MAX];
	const uint8_t opcode = near_opcode(input);
	const uint8_t choice = input_byte(input);
	struct packet packet = {
		.lrh = {.dlid = near->dlid, .slid = near->slid, .sl = choice & 1},
		.bth = {.opcode = opcode,
			.pkey = PKEY_DEFAULT_FULL,
			.ack_request = choice & 2,
			.destination_qpn = near->qpn,
			.psn = psn_from(near->psn + ((choice >> 2) & 3u) -
					(choice & 0x10 ? 0u : 1u))},
		.deth = {.qkey = near->qkey, .source_qpn = near->source_qpn},
		.reth = near->reth,
		.has_grh = (choice & 0xe0) == 0xe0,
		.packet_count = 1,
	};
	const uint32_t payload_bytes = (uint32_t)input_fill(input, payload, input_byte(input));
	uint32_t byte_count;

	if (!opcode_info(opcode)->name)
		packet.bth.opcode = TRANSPORT_RC | OPCODE_SEND_ONLY;
	packet_set_payload(&packet, payload,
			   opcode_info(packet.bth.opcode)->has_payload ? payload_bytes : 0);
	byte_count = (uint32_t)packet_encode(&packet, ret_bytes);
	input_change(input, ret_bytes, byte_count);
	return byte_count;
}

#endif
