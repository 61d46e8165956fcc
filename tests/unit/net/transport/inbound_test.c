/* SPDX-License-Identifier: Apache-2.0 */
/* The responder's checks on one packet: successions and lengths, enumerated whole (transport 1.6,
 * 2.3, 5.2). */
#include "net/transport/inbound.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "net/transport/qp.h"
#include "wire/packet.h"

/* Succession table: the effect of each RC opcode on a queue pair that is idle, in a SEND, in a
 * WRITE. */
static const struct {
	uint8_t opcode;
	bool idle, send, write;
} successions[] = {
	{OPCODE_SEND_FIRST, true, false, false},
	{OPCODE_SEND_MIDDLE, false, true, false},
	{OPCODE_SEND_LAST, false, true, false},
	{OPCODE_SEND_LAST_IMMEDIATE, false, true, false},
	{OPCODE_SEND_ONLY, true, false, false},
	{OPCODE_SEND_ONLY_IMMEDIATE, true, false, false},
	{OPCODE_WRITE_FIRST, true, false, false},
	{OPCODE_WRITE_MIDDLE, false, false, true},
	{OPCODE_WRITE_LAST, false, false, true},
	{OPCODE_WRITE_LAST_IMMEDIATE, false, false, true},
	{OPCODE_WRITE_ONLY, true, false, false},
	{OPCODE_WRITE_ONLY_IMMEDIATE, true, false, false},
	{OPCODE_READ_REQUEST, true, false, false},
	{OPCODE_COMPARE_SWAP, true, false, false},
	{OPCODE_FETCH_ADD, true, false, false},
	{OPCODE_SEND_LAST_INVALIDATE, false, true, false},
	{OPCODE_SEND_ONLY_INVALIDATE, true, false, false},
	{OPCODE_FLUSH, true, false, false},
	{OPCODE_ATOMIC_WRITE, true, false, false},
};

static void test_every_opcode_follows_only_what_the_table_allows(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(successions); i++) {
		const bool allowed[] = {successions[i].idle, successions[i].send,
					successions[i].write};
		struct packet packet = {.bth = {.opcode = successions[i].opcode},
					.packet_count = 1};
		struct inbound inbound;

		inbound_init(&inbound, &packet);
		for (unsigned message = INBOUND_IDLE; message <= INBOUND_WRITE; message++) {
			struct qp qp = {.responder = {.inbound = (uint8_t)message}};

			assert_int_equal(inbound_check_sequence(&qp, &inbound),
					 allowed[message] ? VERDICT_ACCEPT : VERDICT_BAD_SEQUENCE);
		}
	}
}

enum { MTU = 256 };

/* The payload rule, written a second time: is this length right for a train of this many packets?
 */
static bool length_is_right(const struct opcode_info *info, uint32_t packets, size_t bytes)
{
	if (!info->starts_message && !info->ends_message)
		return bytes == packets * MTU;
	if (info->starts_message && !info->ends_message)
		return bytes == packets * MTU;
	if (info->starts_message && packets == 1)
		return bytes <= MTU;
	return bytes > (packets - 1) * MTU && bytes <= packets * MTU;
}

static void test_payloads_of_sends_have_the_length_of_their_opcode(void **state)
{
	static const uint8_t opcodes[] = {OPCODE_SEND_FIRST, OPCODE_SEND_MIDDLE, OPCODE_SEND_LAST,
					  OPCODE_SEND_ONLY};
	uint64_t room[(sizeof(struct receive_slot) + sizeof(struct sge)) / sizeof(uint64_t)] = {0};
	struct receive_slot *slot = (struct receive_slot *)(void *)room;
	struct qp qp = {.path_mtu = MTU};

	(void)state;
	qp.receive_queue = &qp.own_receives;
	qp.own_receives = (struct receive_queue){
		.slots = (uint8_t *)room, .slot_bytes = sizeof(room), .slot_count = 1, .tail = 1};
	slot->sge_count = 1;
	slot->sges[0].byte_count = 1 << 20;
	for (unsigned i = 0; i < ARRAY_COUNT(opcodes); i++)
		for (uint32_t packets = 1; packets <= 4; packets++)
			for (uint32_t bytes = 0; bytes <= 5 * MTU; bytes++) {
				struct packet packet = {.bth = {.opcode = opcodes[i]},
							.packet_count = packets,
							.payload = {.byte_count = bytes}};
				struct inbound inbound;

				inbound_init(&inbound, &packet);
				assert_int_equal(inbound_check_length(&qp, &inbound) ==
							 VERDICT_ACCEPT,
						 length_is_right(inbound.info, packets, bytes));
			}
}

static void test_writes_carry_exactly_what_they_announced(void **state)
{
	struct qp qp = {.path_mtu = MTU, .responder = {.write_bytes = 1000, .inbound_bytes = 512}};
	static const struct {
		uint8_t opcode;
		uint32_t announced, bytes;
		bool is_right;
	} cases[] = {
		{OPCODE_WRITE_ONLY, 0, 0, true},
		{OPCODE_WRITE_ONLY, 100, 100, true},
		{OPCODE_WRITE_ONLY, 101, 100, false},
		{OPCODE_WRITE_ONLY, 99, 100, false},
		{OPCODE_WRITE_FIRST, 257, 256, true},
		{OPCODE_WRITE_FIRST, 256, 256, false},
		{OPCODE_WRITE_FIRST, 1u << 31, 256, true},
		{OPCODE_WRITE_FIRST, (1u << 31) + 1, 256, false},
		{OPCODE_WRITE_MIDDLE, 0, 256, true},
		{OPCODE_WRITE_LAST, 0, 232, false},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct packet packet = {.bth = {.opcode = cases[i].opcode},
					.packet_count = 1,
					.reth = {.bytes = cases[i].announced},
					.payload = {.byte_count = cases[i].bytes}};
		struct inbound inbound;

		inbound_init(&inbound, &packet);
		assert_int_equal(inbound_check_length(&qp, &inbound) == VERDICT_ACCEPT,
				 cases[i].is_right);
	}
	qp.responder.inbound_bytes = 768;

	struct packet packet = {.bth = {.opcode = OPCODE_WRITE_LAST},
				.packet_count = 1,
				.payload = {.byte_count = 232}};
	struct inbound inbound;

	inbound_init(&inbound, &packet);
	assert_int_equal(inbound_check_length(&qp, &inbound), VERDICT_ACCEPT);
	packet.bth.opcode = OPCODE_WRITE_MIDDLE;
	packet.payload.byte_count = 256;
	inbound_init(&inbound, &packet);
	assert_int_equal(inbound_check_length(&qp, &inbound), VERDICT_BAD_LENGTH);
}

static void test_reads_above_2_gib_are_refused(void **state)
{
	struct qp qp = {.path_mtu = MTU};
	struct packet packet = {.bth = {.opcode = OPCODE_READ_REQUEST},
				.packet_count = 1,
				.reth = {.bytes = 1u << 31}};
	struct inbound inbound;

	(void)state;
	inbound_init(&inbound, &packet);
	assert_int_equal(inbound_check_length(&qp, &inbound), VERDICT_ACCEPT);
	assert_int_equal(inbound_psn_count(&qp, &inbound), 1u << 23);
	packet.reth.bytes++;
	assert_int_equal(inbound_check_length(&qp, &inbound), VERDICT_BAD_LENGTH);
}

static void test_trimmed_trains_continue_their_message(void **state)
{
	static const struct {
		uint8_t whole, rest;
	} cases[] = {
		{OPCODE_SEND_FIRST, OPCODE_SEND_MIDDLE},
		{OPCODE_SEND_MIDDLE, OPCODE_SEND_MIDDLE},
		{OPCODE_SEND_LAST, OPCODE_SEND_LAST},
		{OPCODE_SEND_ONLY, OPCODE_SEND_LAST},
		{OPCODE_SEND_ONLY_IMMEDIATE, OPCODE_SEND_LAST_IMMEDIATE},
		{OPCODE_SEND_ONLY_INVALIDATE, OPCODE_SEND_LAST_INVALIDATE},
		{OPCODE_WRITE_FIRST, OPCODE_WRITE_MIDDLE},
		{OPCODE_WRITE_LAST_IMMEDIATE, OPCODE_WRITE_LAST_IMMEDIATE},
		{OPCODE_WRITE_ONLY, OPCODE_WRITE_LAST},
		{OPCODE_WRITE_ONLY_IMMEDIATE, OPCODE_WRITE_LAST_IMMEDIATE},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct packet packet = {.bth = {.opcode = cases[i].whole},
					.packet_count = 4,
					.payload = {.byte_count = 1000}};
		struct inbound inbound;

		inbound_init(&inbound, &packet);
		inbound_trim(&inbound, 3, MTU);
		assert_ptr_equal(inbound.info, opcode_info(cases[i].rest));
		assert_int_equal(inbound.packet_count, 1);
		assert_int_equal(inbound.from, 768);
		assert_int_equal(inbound.byte_count, 232);
	}
}

static void test_train_with_fewer_bytes_than_packets_is_left_empty(void **state)
{
	struct packet packet = {.bth = {.opcode = OPCODE_SEND_LAST},
				.packet_count = 1000,
				.payload = {.byte_count = 10}};
	struct inbound inbound;

	(void)state;
	inbound_init(&inbound, &packet);
	inbound_trim(&inbound, 999, MTU);
	assert_int_equal(inbound.byte_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_opcode_follows_only_what_the_table_allows),
		cmocka_unit_test(test_payloads_of_sends_have_the_length_of_their_opcode),
		cmocka_unit_test(test_writes_carry_exactly_what_they_announced),
		cmocka_unit_test(test_reads_above_2_gib_are_refused),
		cmocka_unit_test(test_trimmed_trains_continue_their_message),
		cmocka_unit_test(test_train_with_fewer_bytes_than_packets_is_left_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
