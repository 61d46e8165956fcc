/* SPDX-License-Identifier: Apache-2.0 */
/* Responses at the requester: answers, gaps in them, and malformed responses (transport 3.4,
 * 4.3). */
#include "net/transport/completer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;

static void test_read_brings_the_window_s_bytes(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	fill_pattern(pair.b.window.bytes, 2000, 5);

	uint8_t *bytes = post_read(&pair, &pair.a, &pair.b, 10, 600);

	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "READ_REQUEST@0");
	expect_wire(&pair.b_to_a,
		    "READ_RESPONSE_FIRST@0 READ_RESPONSE_MIDDLE@1 READ_RESPONSE_LAST@2");

	const struct completion *completion = expect_completion(&pair.a, COMPLETION_SUCCESS);

	assert_int_equal(completion->opcode, COMPLETED_READ);
	assert_int_equal(completion->byte_count, 600);
	assert_memory_equal(bytes, pair.b.window.bytes + 10, 600);
	assert_int_equal(bytes[600], 0);
	rc_pair_release(&pair);
}

static void test_read_response_may_be_a_train(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	pair.train_bytes_max = 65536;
	fill_pattern(pair.b.window.bytes, 2000, 5);

	uint8_t *bytes = post_read(&pair, &pair.a, &pair.b, 10, 600);

	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "READ_RESPONSE_ONLY@0x3");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_memory_equal(bytes, pair.b.window.bytes + 10, 600);
	rc_pair_release(&pair);
}

static void test_answers_come_in_order_and_acknowledge_what_was_before(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 64);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 8);
	post_read(&pair, &pair.a, &pair.b, 0, 300);
	post_atomic(&pair, &pair.a, &pair.b, SEND_FETCH_ADD, 1, 0);
	post_send(&pair, &pair.a, 8);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0 READ_REQUEST@1 FETCH_ADD@3 ONLY@4");
	expect_wire(&pair.b_to_a,
		    "READ_RESPONSE_FIRST@1 READ_RESPONSE_LAST@2 ATOMIC_ACKNOWLEDGE@3 ACK@4");

	static const enum completion_opcode order[] = {COMPLETED_SEND, COMPLETED_READ,
						       COMPLETED_FETCH_ADD, COMPLETED_SEND};

	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->opcode, order[i]);
	assert_int_equal(pair.b.qp.responder.msn, 4);
	rc_pair_release(&pair);
}

static void test_answer_is_acknowledge_enough_for_what_was_before(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 8);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "READ_RESPONSE_ONLY@1");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_atomics_give_what_was_there_before(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);

	uint64_t *word = (uint64_t *)(void *)pair.b.window.bytes;

	*word = 5;

	uint64_t *added = post_atomic(&pair, &pair.a, &pair.b, SEND_FETCH_ADD, UINT64_MAX, 0);
	uint64_t *swapped =
		post_atomic(&pair, &pair.a, &pair.b, SEND_COMPARE_SWAP, 4, 0x1122334455667788);
	uint64_t *kept = post_atomic(&pair, &pair.a, &pair.b, SEND_COMPARE_SWAP, 4, 9);

	run_until_idle(&pair);
	assert_int_equal(*added, 5);
	assert_int_equal(*swapped, 4);
	assert_int_equal(*kept, 0x1122334455667788);
	assert_int_equal(*word, 0x1122334455667788);
	for (int i = 0; i < 3; i++)
		assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->byte_count, 8);
	rc_pair_release(&pair);
}

static void test_lost_read_response_asks_for_the_missing_tail(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	fill_pattern(pair.b.window.bytes, 2000, 6);

	uint8_t *bytes = post_read(&pair, &pair.a, &pair.b, 0, 1100);

	wire_lose(&pair.b_to_a, 1);
	run_until_idle(&pair);
	/* Only the first response out of order counts as a NAK; the rest is ignored. */
	expect_wire(&pair.a_to_b, "READ_REQUEST@0 READ_REQUEST@1");
	expect_wire(&pair.b_to_a, "READ_RESPONSE_FIRST@0 READ_RESPONSE_MIDDLE@1! "
				  "READ_RESPONSE_MIDDLE@2 READ_RESPONSE_MIDDLE@3 "
				  "READ_RESPONSE_LAST@4 READ_RESPONSE_FIRST@1 "
				  "READ_RESPONSE_MIDDLE@2 READ_RESPONSE_MIDDLE@3 "
				  "READ_RESPONSE_LAST@4");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_memory_equal(bytes, pair.b.window.bytes, 1100);
	rc_pair_release(&pair);
}

static void test_acknowledge_over_an_unanswered_read_is_an_implied_nak(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 64);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	post_send(&pair, &pair.a, 8);
	wire_lose(&pair.b_to_a, 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "READ_REQUEST@0 ONLY@1 READ_REQUEST@0 ONLY@1");
	expect_wire(&pair.b_to_a, "READ_RESPONSE_ONLY@0! ACK@1 READ_RESPONSE_ONLY@0 ACK@1");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_nothing_received(&pair.b);
	rc_pair_release(&pair);
}

/* A response as the peer would send it, changed by the test. */
static struct packet response(uint8_t opcode, uint32_t psn)
{
	struct packet packet = {
		.lrh = {.slid = 2, .dlid = 1},
		.bth = {.opcode = opcode,
			.pkey = 0xffff,
			.destination_qpn = 0x101,
			.psn = psn_from(psn)},
		.aeth = {.syndrome = 0x1f},
		.packet_count = 1,
	};

	return packet;
}

static void respond(const struct packet *packet)
{
	qp_receive(&pair.a.qp, pair.now, packet);
}

static void test_nak_codes_become_statuses(void **state)
{
	static const struct {
		unsigned code;
		enum completion_status status;
	} codes[] = {
		{NAK_INVALID_REQUEST, COMPLETION_REMOTE_INVALID_REQUEST},
		{NAK_REMOTE_ACCESS, COMPLETION_REMOTE_ACCESS},
		{NAK_REMOTE_OPERATIONAL, COMPLETION_REMOTE_OPERATION},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(codes); i++) {
		rc_pair_connect(&pair, MTU_256);
		for (int j = 0; j < 3; j++)
			post_send(&pair, &pair.a, 8);
		rc_pair_transmit(&pair);

		/* The ACK names the second request and so acknowledges the first. */
		struct packet packet = response(OPCODE_ACKNOWLEDGE, 1);

		packet.aeth.syndrome = aeth_syndrome(AETH_NAK, codes[i].code);
		respond(&packet);
		expect_completion(&pair.a, COMPLETION_SUCCESS);
		expect_completion(&pair.a, codes[i].status);
		expect_completion(&pair.a, COMPLETION_FLUSHED);
		assert_int_equal(pair.a.qp.state, QP_ERROR);
		rc_pair_release(&pair);
	}
}

static void test_reserved_syndromes_are_ignored(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_send(&pair, &pair.a, 8);
	rc_pair_transmit(&pair);
	for (unsigned syndrome = 0; syndrome < 256; syndrome++) {
		struct packet packet = response(OPCODE_ACKNOWLEDGE, 0);

		packet.aeth.syndrome = (uint8_t)syndrome;
		if (aeth_kind(packet.aeth.syndrome) != AETH_RESERVED &&
		    !(aeth_kind(packet.aeth.syndrome) == AETH_NAK &&
		      aeth_value(packet.aeth.syndrome) > 3))
			continue;
		respond(&packet);
		expect_no_completion(&pair.a);
		assert_int_equal(pair.a.qp.state, QP_RTS);
	}
	rc_pair_release(&pair);
}

static void test_acknowledge_for_what_was_never_sent_is_dropped(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_send(&pair, &pair.a, 8);
	rc_pair_transmit(&pair);

	struct packet ahead = response(OPCODE_ACKNOWLEDGE, 1);
	struct packet behind = response(OPCODE_ACKNOWLEDGE, 0xffffff);

	respond(&ahead);
	respond(&behind);
	expect_no_completion(&pair.a);
	rc_pair_release(&pair);
}

static void test_partial_acknowledge_resumes_after_it(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_send(&pair, &pair.a, 600);
	pair.a_to_b.is_cut = true;
	rc_pair_transmit(&pair);

	struct packet packet = response(OPCODE_ACKNOWLEDGE, 0);

	respond(&packet);
	expect_no_completion(&pair.a);
	run_until(&pair, pair.now + (4096 << 14));
	expect_wire(&pair.a_to_b, "FIRST@0! MIDDLE@1! LAST@2! MIDDLE@1! LAST@2!");
	rc_pair_release(&pair);
}

/* The requester has the first two packets; the answer arrives again as one train. */
static void test_train_of_answers_that_overlaps_is_trimmed(void **state)
{
	static uint8_t bytes[600];
	struct packet first = response(OPCODE_READ_RESPONSE_FIRST, 0);
	struct packet again = response(OPCODE_READ_RESPONSE_ONLY, 0);

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	fill_pattern(bytes, sizeof(bytes), 8);

	uint8_t *received = post_read(&pair, &pair.a, &pair.b, 0, 600);

	rc_pair_transmit(&pair);
	first.packet_count = 2;
	packet_set_payload(&first, bytes, 512);
	respond(&first);
	again.packet_count = 3;
	packet_set_payload(&again, bytes, 600);
	respond(&again);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_memory_equal(received, bytes, 600);
	rc_pair_release(&pair);
}

static void expect_read_ends_with(const struct packet *packet, enum completion_status status)
{
	rc_pair_connect(&pair, MTU_256);
	post_read(&pair, &pair.a, &pair.b, 0, 600);
	rc_pair_transmit(&pair);
	respond(packet);
	expect_completion(&pair.a, status);
	assert_int_equal(pair.a.qp.state, QP_ERROR);
	rc_pair_release(&pair);
}

static void test_answers_of_wrong_length_end_the_read(void **state)
{
	static uint8_t bytes[1024];
	static const struct {
		uint8_t opcode;
		uint32_t byte_count, packet_count;
	} wrong[] = {
		{OPCODE_READ_RESPONSE_FIRST, 255, 1},  {OPCODE_READ_RESPONSE_FIRST, 0, 1},
		{OPCODE_READ_RESPONSE_MIDDLE, 252, 1}, {OPCODE_READ_RESPONSE_ONLY, 256, 1},
		{OPCODE_READ_RESPONSE_ONLY, 0, 1},     {OPCODE_READ_RESPONSE_LAST, 88, 1},
		{OPCODE_READ_RESPONSE_ONLY, 599, 3},   {OPCODE_READ_RESPONSE_FIRST, 600, 3},
		{OPCODE_READ_RESPONSE_ONLY, 600, 2},   {OPCODE_READ_RESPONSE_FIRST, 768, 3},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(wrong); i++) {
		struct packet packet = response(wrong[i].opcode, 0);

		packet.packet_count = wrong[i].packet_count;
		packet_set_payload(&packet, bytes, wrong[i].byte_count);
		expect_read_ends_with(&packet, COMPLETION_LOCAL_LENGTH);
	}
}

static void test_answers_of_the_wrong_kind_end_the_read(void **state)
{
	struct packet packet = response(OPCODE_ATOMIC_ACKNOWLEDGE, 0);
	static uint8_t bytes[256];

	(void)state;
	expect_read_ends_with(&packet, COMPLETION_BAD_RESPONSE);
	packet = response(OPCODE_READ_RESPONSE_FIRST, 0);
	packet_set_payload(&packet, bytes, 256);
	packet.aeth.syndrome = aeth_syndrome(AETH_NAK, 0);
	expect_read_ends_with(&packet, COMPLETION_BAD_RESPONSE);
}

static void test_read_response_to_a_send_is_bad(void **state)
{
	struct packet packet = response(OPCODE_READ_RESPONSE_ONLY, 0);
	uint8_t byte = 0;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_send(&pair, &pair.a, 1);
	rc_pair_transmit(&pair);
	packet_set_payload(&packet, &byte, 1);
	respond(&packet);
	expect_completion(&pair.a, COMPLETION_BAD_RESPONSE);
	rc_pair_release(&pair);
}

static void test_answer_into_a_dead_region_is_a_local_protection_error(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_read(&pair, &pair.a, &pair.b, 0, 600);
	rc_pair_transmit(&pair);
	assert_int_equal(region_deregister(&pair.a.memory, pair.a.inbox.region), 0);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_LOCAL_PROTECTION);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_brings_the_window_s_bytes),
		cmocka_unit_test(test_read_response_may_be_a_train),
		cmocka_unit_test(test_answers_come_in_order_and_acknowledge_what_was_before),
		cmocka_unit_test(test_answer_is_acknowledge_enough_for_what_was_before),
		cmocka_unit_test(test_atomics_give_what_was_there_before),
		cmocka_unit_test(test_lost_read_response_asks_for_the_missing_tail),
		cmocka_unit_test(test_acknowledge_over_an_unanswered_read_is_an_implied_nak),
		cmocka_unit_test(test_nak_codes_become_statuses),
		cmocka_unit_test(test_reserved_syndromes_are_ignored),
		cmocka_unit_test(test_acknowledge_for_what_was_never_sent_is_dropped),
		cmocka_unit_test(test_partial_acknowledge_resumes_after_it),
		cmocka_unit_test(test_train_of_answers_that_overlaps_is_trimmed),
		cmocka_unit_test(test_answers_of_wrong_length_end_the_read),
		cmocka_unit_test(test_answers_of_the_wrong_kind_end_the_read),
		cmocka_unit_test(test_read_response_to_a_send_is_bad),
		cmocka_unit_test(test_answer_into_a_dead_region_is_a_local_protection_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
