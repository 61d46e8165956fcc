/* SPDX-License-Identifier: Apache-2.0 */
/* Whole packets: literal bytes, every opcode encoded and decoded, and every way to be malformed
 * (transport 1.1, 1.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "vectors/vector_file.h"
#include "wire/mtu.h"
#include "wire/packet.h"

static uint8_t pattern[MTU_BYTES_MAX];

/* A packet of that opcode with a different value in every field. */
static struct packet sample_packet(uint8_t opcode, bool has_grh)
{
	const struct opcode_info *info = opcode_info(opcode);
	struct packet packet = {
		.lrh = {.vl = 3, .sl = 5, .dlid = 0x1234, .slid = 0x5678},
		.bth = {.opcode = opcode,
			.solicited = true,
			.ack_request = true,
			.pkey = 0x8001,
			.destination_qpn = 0x123456,
			.psn = {.value = 0xabcdef}},
		.deth = {.qkey = 0x11223344, .source_qpn = 0x556677},
		.aeth = {.syndrome = 0x1f, .msn = 0x010203},
		.atomic_ack = 0x8182838485868788,
		.invalidate_rkey = 0xa1a2a3a4,
		.xrc_srqn = 0xb1b2b3,
		.rdeth_eecn = 0xc1c2c3,
		.feth = {.selectivity = 1, .placement = 3},
		.packet_count = 1,
		.has_grh = has_grh,
		.grh = {.traffic_class = 0x21,
			.hop_limit = 64,
			.flow_label = 0x54321,
			.sgid = gid_from(GID_PREFIX_LINK_LOCAL, 7),
			.dgid = gid_from(GID_PREFIX_LINK_LOCAL, 8)},
	};

	if (info->has_atomic_eth)
		packet.atomic_eth = (struct atomic_eth){
			.address = 0x1000, .rkey = 2, .swap_or_add = 3, .compare = 4};
	else
		packet.reth = (struct reth){.address = 0x7000, .rkey = 0x99, .bytes = 0x1234};
	memcpy(&packet.immediate, "\x01\x02\x03\x04", 4);
	return packet;
}

static void expect_same(const struct packet *a, const struct packet *b)
{
	const struct opcode_info *info = opcode_info(a->bth.opcode);

	assert_int_equal(a->lrh.vl, b->lrh.vl);
	assert_int_equal(a->lrh.sl, b->lrh.sl);
	assert_int_equal(a->lrh.dlid, b->lrh.dlid);
	assert_int_equal(a->lrh.slid, b->lrh.slid);
	assert_int_equal(a->has_grh, b->has_grh);
	if (a->has_grh) {
		assert_int_equal(a->grh.traffic_class, b->grh.traffic_class);
		assert_int_equal(a->grh.flow_label, b->grh.flow_label);
		assert_int_equal(a->grh.hop_limit, b->grh.hop_limit);
		assert_true(gid_equal(&a->grh.sgid, &b->grh.sgid));
		assert_true(gid_equal(&a->grh.dgid, &b->grh.dgid));
	}
	assert_int_equal(a->bth.opcode, b->bth.opcode);
	assert_int_equal(a->bth.solicited, b->bth.solicited);
	assert_int_equal(a->bth.ack_request, b->bth.ack_request);
	assert_int_equal(a->bth.pkey, b->bth.pkey);
	assert_int_equal(a->bth.destination_qpn, b->bth.destination_qpn);
	assert_true(psn_equal(a->bth.psn, b->bth.psn));
	if (info->has_rdeth)
		assert_int_equal(a->rdeth_eecn, b->rdeth_eecn);
	if (info->has_xrceth)
		assert_int_equal(a->xrc_srqn, b->xrc_srqn);
	if (info->has_deth)
		assert_memory_equal(&a->deth, &b->deth, sizeof(a->deth));
	if (info->has_feth)
		assert_memory_equal(&a->feth, &b->feth, sizeof(a->feth));
	if (info->has_reth)
		assert_memory_equal(&a->reth, &b->reth, sizeof(a->reth));
	if (info->has_atomic_eth) {
		assert_int_equal(a->atomic_eth.address, b->atomic_eth.address);
		assert_int_equal(a->atomic_eth.rkey, b->atomic_eth.rkey);
		assert_int_equal(a->atomic_eth.swap_or_add, b->atomic_eth.swap_or_add);
		assert_int_equal(a->atomic_eth.compare, b->atomic_eth.compare);
	}
	if (info->has_aeth) {
		assert_int_equal(a->aeth.syndrome, b->aeth.syndrome);
		assert_int_equal(a->aeth.msn, b->aeth.msn);
	}
	if (info->has_atomic_ack_eth)
		assert_int_equal(a->atomic_ack, b->atomic_ack);
	if (info->has_immediate)
		assert_int_equal(a->immediate, b->immediate);
	if (info->has_ieth)
		assert_int_equal(a->invalidate_rkey, b->invalidate_rkey);
}

static void test_write_only_is_the_specifications_sample(void **state)
{
	(void)state;
	uint8_t payload[14];
	uint8_t expected[64];
	uint8_t bytes[64];
	struct packet packet = {
		.lrh = {.vl = 7, .sl = 1, .dlid = 0x375c, .slid = 0x17d2},
		.bth = {.opcode = 0x0a,
			.pkey = 0x2487,
			.destination_qpn = 0x87b1b3,
			.psn = {.value = 0x0dec2a}},
		.reth = {.address = 0x01710a1c015d4002, .rkey = 0x38f27a05, .bytes = 14},
		.packet_count = 1,
	};
	size_t byte_count = hex_bytes(
		"7012375c000e17d2 0a202487 0087b1b3000dec2a 01710a1c015d400238f27a050000000e"
		"bb884d85fd5cfba4728bc0690ed4 0000",
		sizeof(expected), expected);

	assert_int_equal(hex_bytes("bb884d85fd5cfba4728bc0690ed4", sizeof(payload), payload), 14);
	packet_set_payload(&packet, payload, sizeof(payload));
	memset(bytes, 0xee, sizeof(bytes));
	assert_int_equal(packet_header_bytes(&packet), 36);
	assert_int_equal(packet_bytes(&packet), byte_count);
	assert_int_equal(packet_encode(&packet, bytes), byte_count);
	assert_memory_equal(bytes, expected, byte_count);
	assert_int_equal(bytes[byte_count], 0xee);
}

static void test_global_acknowledge_fills_the_grh(void **state)
{
	(void)state;
	struct packet packet = sample_packet(OPCODE_ACKNOWLEDGE, true);
	uint8_t bytes[128];

	assert_int_equal(packet_encode(&packet, bytes), 64);
	assert_int_equal(bytes[1] & 3, LNH_GLOBAL);
	assert_int_equal(get_be16(bytes + 4), 17);	    /* words, ICRC included */
	assert_int_equal(bytes[8] >> 4, 6);		    /* version */
	assert_int_equal(get_be16(bytes + 12), 12 + 4 + 4); /* BTH, AETH, ICRC */
	assert_int_equal(bytes[14], 0x1b);
}

static void round_trip(uint8_t opcode, bool has_grh, uint32_t payload_bytes)
{
	struct packet packet = sample_packet(opcode, has_grh);
	uint8_t bytes[PACKET_BYTES_MAX];
	uint8_t again[PACKET_BYTES_MAX];
	struct packet decoded;

	packet_set_payload(&packet, pattern, payload_bytes);

	size_t byte_count = packet_encode(&packet, bytes);

	assert_int_equal(byte_count, packet_bytes(&packet));
	assert_int_equal(packet_decode(bytes, byte_count, 1, &decoded), PACKET_OK);
	expect_same(&packet, &decoded);
	assert_int_equal(decoded.lrh.words * 4, byte_count + ICRC_BYTES);
	assert_int_equal(decoded.packet_count, 1);
	assert_int_equal(decoded.payload.byte_count,
			 opcode_info(opcode)->has_payload ? payload_bytes : 0);
	assert_memory_equal(decoded.payload.spans[0].bytes, pattern, decoded.payload.byte_count);
	assert_int_equal(decoded.bth.pad_bytes, -decoded.payload.byte_count & 3);
	assert_int_equal(packet_encode(&decoded, again), byte_count);
	assert_memory_equal(again, bytes, byte_count);
}

static void test_every_opcode_goes_there_and_back(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {0, 1, 2, 3, 4, 5, 255, 256, 4095, 4096};

	for (unsigned code = 0; code < 256; code++) {
		if (!opcode_info((uint8_t)code)->name)
			continue;
		for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
			round_trip((uint8_t)code, false, sizes[i]);
			round_trip((uint8_t)code, true, sizes[i]);
		}
	}
}

/* In memory of exactly that size, so that a sanitizer sees any read beyond it. */
static enum packet_error decode_exactly(const uint8_t *bytes, size_t byte_count,
					uint32_t packet_count, struct packet *ret_packet)
{
	uint8_t *copy = malloc(byte_count ? byte_count : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, byte_count);

	enum packet_error error = packet_decode(copy, byte_count, packet_count, ret_packet);

	free(copy);
	return error;
}

/* Cuts the packet and makes both stated lengths agree with the cut, so that only the sizes of the
 * headers can refuse it. */
static void cut(const uint8_t *bytes, size_t byte_count, uint8_t *ret_bytes)
{
	memcpy(ret_bytes, bytes, byte_count);
	if (byte_count >= LRH_BYTES)
		put_be16(ret_bytes + 4, (uint16_t)((byte_count + ICRC_BYTES) / 4));
	if (byte_count >= LRH_BYTES + GRH_BYTES && (bytes[1] & 3) == LNH_GLOBAL)
		put_be16(ret_bytes + 12,
			 (uint16_t)(byte_count - LRH_BYTES - GRH_BYTES + ICRC_BYTES));
}

static void expect_truncations_refused(uint8_t opcode, bool has_grh)
{
	struct packet packet = sample_packet(opcode, has_grh);
	uint8_t bytes[128];
	uint8_t shorter[128];
	struct packet decoded;

	packet_set_payload(&packet, pattern, 7);

	size_t total = packet_encode(&packet, bytes);
	size_t headers = packet_header_bytes(&packet);

	for (size_t byte_count = 0; byte_count < total; byte_count++) {
		assert_int_not_equal(decode_exactly(bytes, byte_count, 1, &decoded), PACKET_OK);
		cut(bytes, byte_count, shorter);

		enum packet_error error = decode_exactly(shorter, byte_count, 1, &decoded);

		if (byte_count < LRH_BYTES + BTH_BYTES)
			assert_int_equal(error, PACKET_TOO_SHORT);
		else if (byte_count % 4)
			assert_int_equal(error, PACKET_BAD_LENGTH);
		else if (byte_count < headers)
			assert_int_equal(error, PACKET_TOO_SHORT);
		else if (byte_count == headers) /* states one pad byte, has none */
			assert_int_equal(error, PACKET_BAD_PAD);
		else
			assert_int_equal(error, PACKET_OK);
	}
}

static void test_every_truncation_of_every_opcode_is_refused(void **state)
{
	(void)state;
	for (unsigned code = 0; code < 256; code++) {
		if (!opcode_info((uint8_t)code)->name)
			continue;
		expect_truncations_refused((uint8_t)code, false);
		expect_truncations_refused((uint8_t)code, true);
	}
}

static void test_every_reserved_opcode_is_refused(void **state)
{
	(void)state;
	for (unsigned code = 0; code < 256; code++) {
		struct packet packet = sample_packet(OPCODE_SEND_ONLY, false);
		struct packet decoded;
		uint8_t bytes[64];

		if (opcode_info((uint8_t)code)->name)
			continue;

		size_t byte_count = packet_encode(&packet, bytes);

		bytes[LRH_BYTES] = (uint8_t)code;
		assert_int_equal(packet_decode(bytes, byte_count, 1, &decoded), PACKET_BAD_OPCODE);
	}
}

static void test_each_malformed_field_has_its_error(void **state)
{
	(void)state;
	static const struct {
		size_t offset;
		uint8_t value;
		enum packet_error error;
	} rows[] = {
		{0, 0x31, PACKET_BAD_VERSION},	    /* LVer */
		{1, 0x50, PACKET_BAD_NEXT_HEADER},  /* raw EtherType */
		{1, 0x51, PACKET_BAD_NEXT_HEADER},  /* raw IPv6 */
		{5, 0x12, PACKET_BAD_LENGTH},	    /* PktLen one more than there is */
		{8, 0x40, PACKET_BAD_VERSION},	    /* GRH version 4 */
		{13, 0x19, PACKET_BAD_LENGTH},	    /* GRH PayLen */
		{14, 0x11, PACKET_BAD_NEXT_HEADER}, /* UDP */
		{48, 0x1b, PACKET_BAD_OPCODE},	    {49, 0x01, PACKET_BAD_VERSION}, /* TVer */
		{49, 0x10, PACKET_BAD_PAD}, /* an acknowledge has no payload to pad */
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct packet packet = sample_packet(OPCODE_ACKNOWLEDGE, true);
		struct packet decoded = {.packet_count = 77};
		const struct packet before = decoded;
		uint8_t bytes[64];
		size_t byte_count = packet_encode(&packet, bytes);

		assert_int_equal(byte_count, sizeof(bytes));
		bytes[rows[i].offset] = rows[i].value;
		assert_int_equal(packet_decode(bytes, byte_count, 1, &decoded), rows[i].error);
		assert_memory_equal(&decoded, &before, sizeof(before));
	}
}

static void test_a_request_without_payload_has_none(void **state)
{
	(void)state;
	static const uint8_t codes[] = {OPCODE_READ_REQUEST, OPCODE_COMPARE_SWAP, OPCODE_FLUSH,
					OPCODE_ACKNOWLEDGE};

	for (size_t i = 0; i < ARRAY_COUNT(codes); i++) {
		struct packet packet = sample_packet(codes[i], false);
		struct packet decoded;
		uint8_t bytes[128] = {0};
		uint8_t longer[128];
		size_t byte_count = packet_encode(&packet, bytes);

		cut(bytes, byte_count + 4, longer);
		assert_int_equal(packet_decode(longer, byte_count + 4, 1, &decoded),
				 PACKET_BAD_LENGTH);
	}
}

static void test_a_train_states_no_length(void **state)
{
	(void)state;
	static uint8_t data[100000];
	static uint8_t bytes[sizeof(data) + 128];
	struct packet packet = sample_packet(OPCODE_WRITE_FIRST, true);
	struct packet decoded;

	packet.packet_count = 25;
	packet_set_payload(&packet, data, sizeof(data));

	size_t byte_count = packet_encode(&packet, bytes);

	assert_int_equal(get_be16(bytes + 4), 0);
	assert_int_equal(get_be16(bytes + 12), 0);
	assert_int_equal(packet_decode(bytes, byte_count, 25, &decoded), PACKET_OK);
	assert_int_equal(decoded.packet_count, 25);
	assert_int_equal(decoded.payload.byte_count, sizeof(data));
	/* A hostile ring may claim any number of packets. */
	assert_int_equal(packet_decode(bytes, byte_count, 1, &decoded), PACKET_BAD_LENGTH);
	assert_int_equal(packet_decode(bytes, byte_count, 0, &decoded), PACKET_BAD_LENGTH);
}

static void test_payload_is_gathered_from_any_offset(void **state)
{
	(void)state;
	uint8_t whole[30];
	struct span spans[] = {{whole, 7}, {whole + 7, 0}, {whole + 7, 1}, {whole + 8, 22}};

	for (unsigned i = 0; i < sizeof(whole); i++)
		whole[i] = (uint8_t)(i + 1);
	for (size_t offset = 0; offset < sizeof(whole); offset++)
		for (size_t from = 0; offset + from < sizeof(whole); from++)
			for (size_t byte_count = 0; offset + from + byte_count <= sizeof(whole);
			     byte_count++) {
				struct payload payload = {
					.spans = spans,
					.span_count = ARRAY_COUNT(spans),
					.byte_count = (uint32_t)(sizeof(whole) - offset),
					.offset = offset,
				};
				uint8_t copied[sizeof(whole) + 1] = {0};

				payload_copy(&payload, from, byte_count, copied);
				assert_memory_equal(copied, whole + offset + from, byte_count);
				assert_int_equal(copied[byte_count], 0);
			}
}

static void check_captured(struct vector *vector)
{
	uint8_t again[VECTOR_BYTES_MAX];
	size_t byte_count = vector->byte_count - ICRC_BYTES - VCRC_BYTES;
	struct packet packet;

	assert_int_equal(packet_decode(vector->bytes, byte_count, 1, &packet), PACKET_OK);
	assert_string_equal(opcode_info(packet.bth.opcode)->name, vector->name);
	assert_int_equal(packet_encode(&packet, again), byte_count);
	assert_memory_equal(again, vector->bytes, byte_count);
}

static void test_captured_packets_decode_and_encode_back(void **state)
{
	(void)state;
	assert_int_equal(vector_file_each(VECTORS "/captured_packets.txt", check_captured), 43);
}

static void test_errors_have_names_of_their_own(void **state)
{
	(void)state;
	for (unsigned a = PACKET_OK; a <= PACKET_BAD_PAD; a++)
		for (unsigned b = PACKET_OK; b < a; b++)
			assert_string_not_equal(packet_error_name((enum packet_error)a),
						packet_error_name((enum packet_error)b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_only_is_the_specifications_sample),
		cmocka_unit_test(test_global_acknowledge_fills_the_grh),
		cmocka_unit_test(test_every_opcode_goes_there_and_back),
		cmocka_unit_test(test_every_truncation_of_every_opcode_is_refused),
		cmocka_unit_test(test_every_reserved_opcode_is_refused),
		cmocka_unit_test(test_each_malformed_field_has_its_error),
		cmocka_unit_test(test_a_request_without_payload_has_none),
		cmocka_unit_test(test_a_train_states_no_length),
		cmocka_unit_test(test_payload_is_gathered_from_any_offset),
		cmocka_unit_test(test_captured_packets_decode_and_encode_back),
		cmocka_unit_test(test_errors_have_names_of_their_own),
	};

	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 7 + 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
