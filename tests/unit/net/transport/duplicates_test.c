/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that arrive twice: never executed twice, always answered where that is possible
 * (transport 5.3). */
#include "net/transport/duplicates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;
static struct packet captured[64];
static unsigned captured_count;

/* Delivers A's packets to B, and keeps them for a second delivery. */
static void deliver_and_keep(void)
{
	struct qp_route route;

	captured_count = 0;
	while (qp_next_route(&pair.a.qp, pair.now, &route))
		captured_count +=
			qp_transmit(&pair.a.qp, pair.now, 1, 1, &captured[captured_count]);
	for (unsigned i = 0; i < captured_count; i++)
		qp_receive(&pair.b.qp, pair.now, &captured[i]);
}

static void deliver_again(unsigned n)
{
	qp_receive(&pair.b.qp, pair.now, &captured[n]);
	rc_pair_transmit(&pair);
}

/* A duplicate does not count in the MSN (transport 3.5, 5.3). */
static void test_duplicate_write_is_acknowledged_and_not_written(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_write(&pair, &pair.a, &pair.b, 0, 8);
	deliver_and_keep();
	memset(pair.b.window.bytes, 0, 8);
	deliver_again(0);
	expect_wire(&pair.b_to_a, "ACK@0");
	for (int i = 0; i < 8; i++)
		assert_int_equal(pair.b.window.bytes[i], 0);
	assert_int_equal(pair.b.qp.responder.msn, 1);
	rc_pair_release(&pair);
}

static void test_duplicate_without_ack_request_is_silent(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 600);
	post_send(&pair, &pair.a, 600);
	deliver_and_keep();
	rc_pair_transmit(&pair);
	expect_wire(&pair.b_to_a, "ACK@2");
	deliver_again(0);
	deliver_again(1);
	expect_wire(&pair.b_to_a, "");
	rc_pair_release(&pair);
}

static void test_duplicate_atomic_gets_the_saved_result(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);

	uint64_t *word = (uint64_t *)(void *)pair.b.window.bytes;

	post_atomic(&pair, &pair.a, &pair.b, SEND_FETCH_ADD, 3, 0);
	post_atomic(&pair, &pair.a, &pair.b, SEND_FETCH_ADD, 4, 0);
	deliver_and_keep();
	rc_pair_transmit(&pair);
	expect_wire(&pair.b_to_a, "ATOMIC_ACKNOWLEDGE@0 ATOMIC_ACKNOWLEDGE@1");
	qp_receive(&pair.b.qp, pair.now, &captured[1]);

	struct packet answer;

	assert_int_equal(qp_transmit(&pair.b.qp, pair.now, 1, 1, &answer), 1);
	assert_int_equal(answer.bth.psn.value, 1);
	assert_int_equal(answer.atomic_ack, 3);
	assert_int_equal(*word, 7);
	rc_pair_release(&pair);
}

static void test_duplicate_of_a_forgotten_atomic_is_dropped(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.initiator_depth = 1;
	options.responder_resources = 1;
	rc_pair_connect_with(&pair, &options);
	post_atomic(&pair, &pair.a, &pair.b, SEND_FETCH_ADD, 3, 0);
	deliver_and_keep();

	struct packet first = captured[0];

	run_until_idle(&pair);
	post_atomic(&pair, &pair.a, &pair.b, SEND_FETCH_ADD, 3, 0);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "ATOMIC_ACKNOWLEDGE@0 ATOMIC_ACKNOWLEDGE@1");
	qp_receive(&pair.b.qp, pair.now, &first);
	rc_pair_transmit(&pair);
	expect_wire(&pair.b_to_a, "");
	assert_int_equal(*(uint64_t *)(void *)pair.b.window.bytes, 6);
	rc_pair_release(&pair);
}

static void test_duplicate_read_is_read_again(void **state)
{
	struct packet answer;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	deliver_and_keep();
	rc_pair_transmit(&pair);
	pair.b.window.bytes[0] = 99;
	qp_receive(&pair.b.qp, pair.now, &captured[0]);
	assert_int_equal(qp_transmit(&pair.b.qp, pair.now, 1, 1, &answer), 1);
	assert_int_equal(answer.payload.spans[0].bytes[0], 99);
	assert_int_equal(pair.b.qp.responder.msn, 1);
	rc_pair_release(&pair);
}

static void test_duplicate_read_must_be_the_original_s_tail(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_read(&pair, &pair.a, &pair.b, 0, 700);
	deliver_and_keep();
	rc_pair_transmit(&pair);
	expect_wire(&pair.b_to_a,
		    "READ_RESPONSE_FIRST@0 READ_RESPONSE_MIDDLE@1 READ_RESPONSE_LAST@2");

	struct packet tail = captured[0];

	tail.bth.psn = psn_from(1);
	tail.reth.address += 256;
	tail.reth.bytes -= 256;

	struct packet early = tail, shorter = tail, other = tail;

	early.reth.address--;
	shorter.reth.bytes--;
	other.reth.rkey ^= 1;
	captured[0] = early;
	deliver_again(0);
	captured[0] = shorter;
	deliver_again(0);
	captured[0] = other;
	deliver_again(0);
	expect_wire(&pair.b_to_a, "");
	assert_int_equal(pair.b.qp.state, QP_RTS);
	captured[0] = tail;
	deliver_again(0);
	expect_wire(&pair.b_to_a, "READ_RESPONSE_FIRST@1 READ_RESPONSE_LAST@2");
	rc_pair_release(&pair);
}

static void test_duplicate_read_of_a_dead_region_is_dropped(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	deliver_and_keep();
	rc_pair_transmit(&pair);
	expect_wire(&pair.b_to_a, "READ_RESPONSE_ONLY@0");
	assert_int_equal(region_deregister(&pair.b.memory, pair.b.window.region), 0);
	deliver_again(0);
	expect_wire(&pair.b_to_a, "");
	assert_int_equal(pair.b.qp.state, QP_RTS);
	rc_pair_release(&pair);
}

static void test_repeated_acknowledge_does_not_reach_over_a_read(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (int i = 0; i < 3; i++)
		post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 8);
	post_send(&pair, &pair.a, 8);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	post_send(&pair, &pair.a, 8);
	deliver_and_keep();
	rc_pair_transmit(&pair);
	expect_wire(&pair.b_to_a, "READ_RESPONSE_ONLY@2 READ_RESPONSE_ONLY@3 ACK@4");
	deliver_again(0);
	expect_wire(&pair.b_to_a, "ACK@1");
	deliver_again(4);
	expect_wire(&pair.b_to_a, "ACK@4");
	rc_pair_release(&pair);
}

static void test_new_gap_after_a_duplicate_is_naked_again(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (int i = 0; i < 3; i++)
		post_write(&pair, &pair.a, &pair.b, 0, 8);

	captured_count = qp_transmit(&pair.a.qp, pair.now, 3, 1, captured);
	qp_receive(&pair.b.qp, pair.now, &captured[0]);
	deliver_again(2);
	expect_wire(&pair.b_to_a, "NAK_SEQUENCE@1");
	deliver_again(2);
	expect_wire(&pair.b_to_a, "");
	deliver_again(0);
	expect_wire(&pair.b_to_a, "ACK@0");
	deliver_again(2);
	expect_wire(&pair.b_to_a, "NAK_SEQUENCE@1");
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duplicate_write_is_acknowledged_and_not_written),
		cmocka_unit_test(test_duplicate_without_ack_request_is_silent),
		cmocka_unit_test(test_duplicate_atomic_gets_the_saved_result),
		cmocka_unit_test(test_duplicate_of_a_forgotten_atomic_is_dropped),
		cmocka_unit_test(test_duplicate_read_is_read_again),
		cmocka_unit_test(test_duplicate_read_must_be_the_original_s_tail),
		cmocka_unit_test(test_duplicate_read_of_a_dead_region_is_dropped),
		cmocka_unit_test(test_repeated_acknowledge_does_not_reach_over_a_read),
		cmocka_unit_test(test_new_gap_after_a_duplicate_is_naked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
