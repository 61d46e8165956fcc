/* SPDX-License-Identifier: Apache-2.0 */
/* The send rate limit on a virtual clock: when each packet leaves, to the nanosecond. */
#include "net/transport/pacing.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;

enum {
	/* A byte per microsecond. */
	BYTE_PER_US = 8000,
	/* LRH, BTH, 256 bytes, ICRC, VCRC: a full packet of a SEND. */
	FULL_PACKET = 8 + 12 + 256 + 4 + 2,
};

static int limit(struct endpoint *endpoint, uint32_t kbps, uint32_t burst_bytes,
		 uint16_t typical_packet_bytes)
{
	const struct qp_attributes attributes = {
		.rate_limit = kbps,
		.burst_bytes = burst_bytes,
		.typical_packet_bytes = typical_packet_bytes,
	};

	return endpoint_modify(endpoint, pair.now, &attributes, QP_HAS_RATE_LIMIT);
}

static void connect_limited(enum qp_type type, uint32_t burst_bytes)
{
	struct endpoint_options options = endpoint_options_default(type);

	options.mtu_code = MTU_256;
	rc_pair_connect_with(&pair, &options);
	assert_int_equal(limit(&pair.a, BYTE_PER_US, burst_bytes, 0), 0);
}

/* A burst of one packet: each packet leaves when the one before it has taken its time. */
static void test_packets_leave_at_the_rate(void **state)
{
	(void)state;
	connect_limited(QP_RC, 1);
	post_receive(&pair, &pair.b, 1024);
	post_send(&pair, &pair.a, 1024);

	time_ns start = pair.now;

	for (unsigned i = 1; i <= 3; i++) {
		run_until(&pair, start + MICROSECONDS(i * FULL_PACKET) - 1);
		assert_int_equal(pair.a_to_b.sent_count, i);
		run_until(&pair, start + MICROSECONDS(i * FULL_PACKET));
		assert_int_equal(pair.a_to_b.sent_count, i + 1);
	}
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "FIRST@0 MIDDLE@1 MIDDLE@2 LAST@3");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

/* Silence for longer than the peer may take to answer is not a lost packet. */
static void test_a_slow_message_is_not_sent_twice(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.mtu_code = MTU_256;
	options.timeout = 8; /* about a millisecond */
	rc_pair_connect_with(&pair, &options);
	assert_int_equal(limit(&pair.a, 80, 1, 0), 0);
	post_receive(&pair, &pair.b, 2048);
	post_send(&pair, &pair.a, 2048);
	run_until_idle(&pair);
	assert_int_equal(pair.a_to_b.sent_count, 8);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_a_burst_leaves_at_once(void **state)
{
	(void)state;
	/* Three packets as the queue pair counts them before it knows their headers. */
	connect_limited(QP_RC, 4 * 256);
	post_receive(&pair, &pair.b, 2048);
	post_send(&pair, &pair.a, 2048);
	run_until(&pair, pair.now);
	assert_int_equal(pair.a_to_b.sent_count, 3);
	run_until_idle(&pair);
	assert_int_equal(pair.a_to_b.sent_count, 8);
	expect_completion(&pair.a, COMPLETION_SUCCESS);

	/* After a long rest the queue pair has its burst again, and no more. */
	pair.now += SECONDS(10);
	post_receive(&pair, &pair.b, 2048);
	post_send(&pair, &pair.a, 2048);
	run_until(&pair, pair.now);
	assert_int_equal(pair.a_to_b.sent_count, 8 + 3);
	run_until_idle(&pair);
	rc_pair_release(&pair);
}

/* Over any message the mean is the rate: N packets need the time of N - burst. */
static void test_the_mean_is_the_rate_for_every_service(void **state)
{
	static const enum qp_type types[] = {QP_RC, QP_UC};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(types); i++) {
		connect_limited(types[i], 1);
		pair.train_bytes_max = 65536;
		post_receive(&pair, &pair.b, 100 * 256);
		post_send(&pair, &pair.a, 100 * 256);

		time_ns start = pair.now;

		run_until(&pair, start + MICROSECONDS(99 * FULL_PACKET) - 1);
		expect_nothing_received(&pair.b);
		run_until_idle(&pair);
		expect_received(&pair.b, COMPLETION_SUCCESS);
		expect_completion(&pair.a, COMPLETION_SUCCESS);
		rc_pair_release(&pair);
	}
}

/* Trains are cut to the burst, and are charged for the headers of each packet. */
static void test_trains_are_cut_to_the_burst(void **state)
{
	(void)state;
	connect_limited(QP_RC, 4096);
	pair.train_bytes_max = 65536;
	post_receive(&pair, &pair.b, 32768);
	post_send(&pair, &pair.a, 32768);

	time_ns start = pair.now;

	run_until(&pair, start);
	/* 4096 / (256 + 54), the most bytes that a packet can have beside its payload. These
	 * packets have fewer, so that one more fits. */
	expect_wire(&pair.a_to_b, "FIRST@0x13 MIDDLE@13");
	run_until_idle(&pair);
	assert_true(pair.now - start >= MICROSECONDS((128 - 14) * FULL_PACKET - 4096));
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_the_typical_packet_divides_the_burst(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	/* 1000 bytes hold one typical packet of 600: the burst is 600, and of these packets two. */
	assert_int_equal(limit(&pair.a, BYTE_PER_US, 1000, 600), 0);
	post_receive(&pair, &pair.b, 1024);
	post_send(&pair, &pair.a, 1024);
	run_until(&pair, pair.now);
	assert_int_equal(pair.a_to_b.sent_count, 2);
	run_until_idle(&pair);
	rc_pair_release(&pair);
}

/* Without a burst of its own: a millisecond's worth. */
static void test_the_default_burst_is_a_millisecond(void **state)
{
	(void)state;
	connect_limited(QP_RC, 0);
	post_receive(&pair, &pair.b, 2048);
	post_send(&pair, &pair.a, 2048);
	run_until(&pair, pair.now);
	/* 1000 bytes are three whole packets of the MTU, 768: two with their headers. */
	assert_int_equal(pair.a_to_b.sent_count, 2);
	run_until_idle(&pair);
	rc_pair_release(&pair);
}

static void test_only_requests_are_paced(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	/* The responder's limit: its READ responses are not requests of its own. */
	assert_int_equal(limit(&pair.b, 8, 1, 0), 0);
	post_read(&pair, &pair.a, &pair.b, 0, 4096);

	time_ns start = pair.now;

	run_until_idle(&pair);
	assert_true(pair.now - start < MILLISECONDS(1000));
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_0_takes_the_limit_away_at_once(void **state)
{
	(void)state;
	connect_limited(QP_RC, 1);
	post_receive(&pair, &pair.b, 2048);
	post_send(&pair, &pair.a, 2048);
	run_until(&pair, pair.now);
	assert_int_equal(pair.a_to_b.sent_count, 1);
	assert_int_equal(limit(&pair.a, 0, 0, 0), 0);
	run_until(&pair, pair.now);
	assert_int_equal(pair.a_to_b.sent_count, 8);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_a_limit_is_lost_with_the_connection(void **state)
{
	struct qp_attributes attributes;

	(void)state;
	connect_limited(QP_RC, 1);
	qp_query(&pair.a.qp, &attributes);
	assert_int_equal(attributes.rate_limit, BYTE_PER_US);
	post_receive(&pair, &pair.b, 2048);
	post_send(&pair, &pair.a, 2048);
	run_until(&pair, pair.now);
	assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_ERROR), 0);
	expect_completion(&pair.a, COMPLETION_FLUSHED);
	assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_RESET), 0);
	assert_int_equal(qp_deadline(&pair.a.qp), TIME_NEVER);
	qp_query(&pair.a.qp, &attributes);
	assert_int_equal(attributes.rate_limit, 0);
	rc_pair_release(&pair);
}

/* A message under way is finished at its rate; then the drained event comes (transport 4.8). */
static void test_a_drain_waits_for_what_is_paced(void **state)
{
	(void)state;
	connect_limited(QP_RC, 1);
	post_receive(&pair, &pair.b, 1024);
	post_send(&pair, &pair.a, 1024);
	run_until(&pair, pair.now);

	const struct qp_attributes attributes = {.state = QP_SQD, .drained_notify = true};

	assert_int_equal(endpoint_modify(&pair.a, pair.now, &attributes,
					 QP_HAS_STATE | QP_HAS_DRAINED_NOTIFY),
			 0);
	expect_no_event(&pair.a);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_event(&pair.a, QP_EVENT_DRAINED);
	rc_pair_release(&pair);
}

static void test_losses_are_made_good_at_the_rate(void **state)
{
	(void)state;
	connect_limited(QP_RC, 1);
	post_receive(&pair, &pair.b, 1024);
	post_send(&pair, &pair.a, 1024);
	wire_lose(&pair.a_to_b, 1);

	time_ns start = pair.now;

	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_true(pair.now - start >=
		    MICROSECONDS((pair.a_to_b.sent_count - 1) * (FULL_PACKET - 1)));
	rc_pair_release(&pair);
}

static void test_a_pause_without_a_limit_ends_in_time(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 256);
	pacing_pause(&pair.a.qp, pair.now + MICROSECONDS(50));
	post_send(&pair, &pair.a, 256);

	time_ns start = pair.now;

	run_until(&pair, start + MICROSECONDS(50) - 1);
	assert_int_equal(pair.a_to_b.sent_count, 0);
	run_until(&pair, start + MICROSECONDS(50));
	assert_int_equal(pair.a_to_b.sent_count, 1);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_bad_limits_change_nothing(void **state)
{
	struct qp_attributes attributes;

	(void)state;
	connect_limited(QP_RC, 1);
	assert_int_equal(limit(&pair.a, RATE_LIMIT_MAX + 1u, 0, 0), -EINVAL);
	assert_int_equal(limit(&pair.a, UINT32_MAX, 0, 0), -EINVAL);
	/* A burst of zero bytes. */
	assert_int_equal(limit(&pair.a, 0, 100, 0), -EINVAL);
	assert_int_equal(limit(&pair.a, 0, 0, 100), -EINVAL);
	qp_query(&pair.a.qp, &attributes);
	assert_int_equal(attributes.rate_limit, BYTE_PER_US);
	assert_int_equal(limit(&pair.a, RATE_LIMIT_MAX, UINT32_MAX, UINT16_MAX), 0);
	assert_int_equal(limit(&pair.a, RATE_LIMIT_MIN, UINT32_MAX, 1), 0);
	post_receive(&pair, &pair.b, 2048);
	post_send(&pair, &pair.a, 2048);
	run_until(&pair, pair.now);
	assert_int_equal(pair.a_to_b.sent_count, 8);
	run_until_idle(&pair);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets_leave_at_the_rate),
		cmocka_unit_test(test_a_slow_message_is_not_sent_twice),
		cmocka_unit_test(test_a_burst_leaves_at_once),
		cmocka_unit_test(test_the_mean_is_the_rate_for_every_service),
		cmocka_unit_test(test_trains_are_cut_to_the_burst),
		cmocka_unit_test(test_the_typical_packet_divides_the_burst),
		cmocka_unit_test(test_the_default_burst_is_a_millisecond),
		cmocka_unit_test(test_only_requests_are_paced),
		cmocka_unit_test(test_0_takes_the_limit_away_at_once),
		cmocka_unit_test(test_a_limit_is_lost_with_the_connection),
		cmocka_unit_test(test_a_drain_waits_for_what_is_paced),
		cmocka_unit_test(test_losses_are_made_good_at_the_rate),
		cmocka_unit_test(test_a_pause_without_a_limit_ends_in_time),
		cmocka_unit_test(test_bad_limits_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
