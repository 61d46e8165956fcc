/* SPDX-License-Identifier: Apache-2.0 */
/* Timeouts, retries and RNR waits on a virtual clock (transport 3.3, 4.4, 4.1). */
#include "net/transport/retry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;

static void test_lost_first_packet_is_naked(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 600);
	post_send(&pair, &pair.a, 600);
	wire_lose(&pair.a_to_b, 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "FIRST@0! MIDDLE@1 LAST@2 FIRST@0 MIDDLE@1 LAST@2");
	expect_wire(&pair.b_to_a, "NAK_SEQUENCE@0 ACK@2");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_lost_last_packet_is_sent_again_after_the_timeout(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 600);
	post_send(&pair, &pair.a, 600);
	wire_lose(&pair.a_to_b, 2);

	time_ns start = pair.now;

	/* T = 4.096 us x 2^14 */
	run_until(&pair, start + (4096 << 14) - 1);
	expect_wire(&pair.a_to_b, "FIRST@0 MIDDLE@1 LAST@2!");
	run_until(&pair, start + (4096 << 14));
	/* Nothing has acknowledged the first two. */
	expect_wire(&pair.a_to_b, "FIRST@0 MIDDLE@1 LAST@2");
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "ACK@2");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_nothing_received(&pair.b);
	rc_pair_release(&pair);
}

static void test_lost_acknowledge_is_repeated_for_the_duplicate(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 64);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	wire_lose(&pair.b_to_a, 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@0");
	expect_wire(&pair.b_to_a, "ACK@0! ACK@0");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_nothing_received(&pair.b);
	rc_pair_release(&pair);
}

static void test_retries_run_out_and_break_the_connection(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.retry_count = 2;
	rc_pair_connect_with(&pair, &options);
	pair.a_to_b.is_cut = true;
	post_send(&pair, &pair.a, 10);
	post_send(&pair, &pair.a, 20);

	time_ns start = pair.now;

	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0! ONLY@1! ONLY@0! ONLY@1! ONLY@0! ONLY@1!");
	assert_int_equal(pair.now - start, 3 * (4096 << 14));
	expect_completion(&pair.a, COMPLETION_RETRY_EXCEEDED);
	expect_completion(&pair.a, COMPLETION_FLUSHED);
	assert_int_equal(pair.a.qp.state, QP_ERROR);
	rc_pair_release(&pair);
}

static void test_progress_gives_all_retries_back(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.retry_count = 1;
	rc_pair_connect_with(&pair, &options);
	for (int i = 0; i < 3; i++) {
		post_receive(&pair, &pair.b, 64);
		post_send(&pair, &pair.a, 10);
		wire_lose(&pair.a_to_b, 0);
		run_until_idle(&pair);
		expect_completion(&pair.a, COMPLETION_SUCCESS);
	}
	rc_pair_release(&pair);
}

static void test_timeout_0_waits_for_ever(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.timeout = 0;
	rc_pair_connect_with(&pair, &options);
	pair.a_to_b.is_cut = true;
	post_send(&pair, &pair.a, 10);
	rc_pair_transmit(&pair);
	assert_int_equal(qp_deadline(&pair.a.qp), TIME_NEVER);
	rc_pair_release(&pair);
}

static void test_rnr_nak_waits_before_resend(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.min_rnr_timer = 14; /* 1.28 ms */
	rc_pair_connect_with(&pair, &options);
	post_send(&pair, &pair.a, 10);
	post_send(&pair, &pair.a, 20);

	time_ns start = pair.now;

	run_until(&pair, start + MICROSECONDS(1281));
	/* Requests after the refused one get no NAK of their own. */
	expect_wire(&pair.b_to_a, "RNR@0");
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@1");
	post_receive(&pair, &pair.b, 64);
	post_receive(&pair, &pair.b, 64);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@1");
	expect_wire(&pair.b_to_a, "ACK@1");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count, 10);
	rc_pair_release(&pair);
}

static void test_rnr_retries_run_out(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.rnr_retry = 2;
	rc_pair_connect_with(&pair, &options);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "RNR@0 RNR@0 RNR@0");
	expect_completion(&pair.a, COMPLETION_RNR_RETRY_EXCEEDED);
	assert_int_equal(pair.a.qp.state, QP_ERROR);
	/* The responder only said that it was not ready. */
	assert_int_equal(pair.b.qp.state, QP_RTS);
	rc_pair_release(&pair);
}

static void test_rnr_retry_7_never_ends(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_send(&pair, &pair.a, 10);
	run_until(&pair, pair.now + SECONDS(1));
	expect_no_completion(&pair.a);
	assert_int_equal(pair.a.qp.state, QP_RTS);
	post_receive(&pair, &pair.b, 64);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_rnr_times_are_the_table_s(void **state)
{
	(void)state;
	assert_int_equal(rnr_time(0), MICROSECONDS(655360));
	assert_int_equal(rnr_time(1), MICROSECONDS(10));
	assert_int_equal(rnr_time(12), MICROSECONDS(640));
	assert_int_equal(rnr_time(25), MICROSECONDS(61440));
	assert_int_equal(rnr_time(31), MICROSECONDS(491520));
	/* From 1 on they never fall. */
	for (unsigned code = 2; code < 32; code++)
		assert_true(rnr_time(code) > rnr_time(code - 1));
}

static void test_timer_is_left_alone_until_it_fires(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (int i = 0; i < 3; i++)
		post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	run_until(&pair, pair.now + MICROSECONDS(5));

	time_ns armed = qp_deadline(&pair.a.qp);

	post_send(&pair, &pair.a, 10);
	run_until(&pair, pair.now + MICROSECONDS(5));
	assert_int_equal(qp_deadline(&pair.a.qp), armed);
	run_until_idle(&pair);
	assert_int_equal(qp_deadline(&pair.a.qp), TIME_NEVER);
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@1");
	rc_pair_release(&pair);
}

static void test_late_acknowledge_spares_the_resend(void **state)
{
	struct packet packet = {
		.lrh = {.slid = 2, .dlid = 1},
		.bth = {.opcode = OPCODE_ACKNOWLEDGE, .pkey = 0xffff, .psn = psn_from(1)},
		.aeth = {.syndrome = 0x1f},
		.packet_count = 1,
	};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	pair.a_to_b.is_cut = true;
	for (int i = 0; i < 3; i++)
		post_send(&pair, &pair.a, 8);
	rc_pair_transmit(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0! ONLY@1! ONLY@2!");
	pair.now += 4096 << 14;
	assert_ptr_equal(timer_queue_pop(&pair.a.timers, pair.now), &pair.a.qp.timer);
	qp_expire(&pair.a.qp, pair.now);
	qp_receive(&pair.a.qp, pair.now, &packet);
	rc_pair_transmit(&pair);
	expect_wire(&pair.a_to_b, "ONLY@2!");
	rc_pair_release(&pair);
}

static void test_psns_wrap(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.sq_psn = 0xfffffe;
	rc_pair_connect_with(&pair, &options);
	post_receive(&pair, &pair.b, 2000);
	post_send(&pair, &pair.a, 1200);
	wire_lose(&pair.a_to_b, 3);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "FIRST@0 MIDDLE@1 MIDDLE@2 MIDDLE@3! LAST@4 MIDDLE@3 LAST@4");
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 3);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

/* The receiver got the first train; the whole message then arrives again in other pieces. */
static void test_train_that_overlaps_what_was_received_is_trimmed(void **state)
{
	(void)state;
	for (unsigned train = 1; train <= 8; train++) {
		rc_pair_connect(&pair, MTU_256);
		pair.train_bytes_max = 3 * 256;

		uint8_t *received = post_receive(&pair, &pair.b, 2000);
		const uint8_t *sent = post_send(&pair, &pair.a, 1900);

		wire_lose(&pair.a_to_b, 1);
		wire_lose(&pair.a_to_b, 2);
		run_until(&pair, pair.now + MICROSECONDS(10));
		expect_wire(&pair.a_to_b, "FIRST@0x3 MIDDLE@3x3! LAST@6x2!");
		pair.train_bytes_max = train * 256;
		run_until_idle(&pair);
		expect_completion(&pair.a, COMPLETION_SUCCESS);
		assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count, 1900);
		assert_memory_equal(received, sent, 1900);
		expect_nothing_received(&pair.b);
		rc_pair_release(&pair);
	}
}

static bool path_is_slow;

static bool slow_path(const struct qp *qp, time_ns now)
{
	(void)qp;
	(void)now;
	return path_is_slow;
}

static void test_silence_does_not_count_while_packets_are_underway(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);

	struct qp_environment environment = *pair.a.qp.environment;
	time_ns start = pair.now;

	environment.is_underway = slow_path;
	pair.a.qp.environment = &environment;
	path_is_slow = true;
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	wire_lose(&pair.a_to_b, 0);
	/* Far more timeouts than there are retries, and nothing is resent. */
	run_until(&pair, start + ((time_ns)4096 << 14) * 20);
	expect_wire(&pair.a_to_b, "ONLY@0!");
	expect_no_completion(&pair.a);
	path_is_slow = false;
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_first_packet_is_naked),
		cmocka_unit_test(test_lost_last_packet_is_sent_again_after_the_timeout),
		cmocka_unit_test(test_lost_acknowledge_is_repeated_for_the_duplicate),
		cmocka_unit_test(test_retries_run_out_and_break_the_connection),
		cmocka_unit_test(test_progress_gives_all_retries_back),
		cmocka_unit_test(test_timeout_0_waits_for_ever),
		cmocka_unit_test(test_rnr_nak_waits_before_resend),
		cmocka_unit_test(test_rnr_retries_run_out),
		cmocka_unit_test(test_rnr_retry_7_never_ends),
		cmocka_unit_test(test_rnr_times_are_the_table_s),
		cmocka_unit_test(test_timer_is_left_alone_until_it_fires),
		cmocka_unit_test(test_late_acknowledge_spares_the_resend),
		cmocka_unit_test(test_psns_wrap),
		cmocka_unit_test(test_silence_does_not_count_while_packets_are_underway),
		cmocka_unit_test(test_train_that_overlaps_what_was_received_is_trimmed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
