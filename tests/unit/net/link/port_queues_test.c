/* SPDX-License-Identifier: Apache-2.0 */
/* Queues per virtual lane: arbitration by the two tables, lifetimes, PortXmitWait (transport 8.2,
 * 8.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/link/port_queues.h"
#include "port_pair.h"

static void test_management_lane_goes_first_and_needs_no_credits(void **state)
{
	struct pair pair;
	struct frame *management;

	(void)state;
	pair_init(&pair);
	put(&pair, 0, 1, 0);
	management = put(&pair, VL_MANAGEMENT, 5, 0);
	pair.a.queues->vls[VL_MANAGEMENT].fccl = 0;
	assert_ptr_equal(port_next_to_send(&pair.a, 0), management);
	pair_release(&pair);
}

static void test_management_lane_is_bounded(void **state)
{
	struct pair pair;
	struct frame *frame;

	(void)state;
	pair_init(&pair);
	for (unsigned i = 0; i < VL15_FRAMES_MAX; i++)
		put(&pair, VL_MANAGEMENT, 5, 0);
	frame = frame_take(&pair.pool);
	frame->byte_count = 284;
	frame->vl = VL_MANAGEMENT;
	assert_int_equal(port_enqueue(&pair.a, frame, 0), DROP_VL15);
	pair_release(&pair);
}

static void set_entry(struct port *port, unsigned table, unsigned entry, uint8_t vl, uint8_t weight)
{
	port_arbitration_set(port, table, entry, vl, weight);
}

/* The VLs of the next packets, as text. */
static void expect_lanes(struct pair *pair, const char *lanes)
{
	for (; *lanes; lanes++) {
		struct frame *frame = port_next_to_send(&pair->a, 0);

		if (*lanes == '-') {
			assert_null(frame);
			continue;
		}
		assert_non_null(frame);
		assert_int_equal(frame->vl, *lanes - '0');
	}
}

static void test_low_table_shares_by_weight(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	set_entry(&pair.a, 0, 0, 0, 2);
	set_entry(&pair.a, 0, 1, 1, 1);
	set_entry(&pair.a, 0, 2, 2, 0); /* weight 0: never */
	for (unsigned i = 0; i < 6; i++) {
		put(&pair, 0, 1, 0);
		put(&pair, 1, 1, 0);
	}
	put(&pair, 2, 1, 0);
	/* No entry has weight left at first, so the round begins after entry 0. */
	expect_lanes(&pair, "100100100111-");
	pair_release(&pair);
}

static void test_high_table_preempts_low_without_limit(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.vl_high_limit = 255;
	set_entry(&pair.a, 1, 0, 3, 1);
	set_entry(&pair.a, 0, 0, 0, 1);
	for (unsigned i = 0; i < 3; i++) {
		put(&pair, 0, 1, 0);
		put(&pair, 3, 1, 0);
	}
	expect_lanes(&pair, "333000-");
	pair_release(&pair);
}

static void test_high_limit_zero_gives_low_a_turn_after_each_packet(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.vl_high_limit = 0;
	set_entry(&pair.a, 1, 0, 3, 200);
	set_entry(&pair.a, 0, 0, 0, 200);
	for (unsigned i = 0; i < 3; i++) {
		put(&pair, 0, 1, 0);
		put(&pair, 3, 1, 0);
	}
	expect_lanes(&pair, "030303-");
	pair_release(&pair);
}

static void test_high_limit_counts_4096_bytes(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.vl_high_limit = 1;
	pair.a.queues->arbiter.high_left = 4096;
	set_entry(&pair.a, 1, 0, 3, 200);
	set_entry(&pair.a, 0, 0, 0, 200);
	for (unsigned i = 0; i < 6; i++) {
		put(&pair, 0, 32, 0);
		put(&pair, 3, 32, 0);
	}
	expect_lanes(&pair, "330330330000-");
	pair_release(&pair);
}

static void test_lane_without_credits_does_not_hold_up_others(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	set_entry(&pair.a, 0, 0, 0, 100);
	set_entry(&pair.a, 0, 1, 1, 100);
	pair.a.queues->vls[0].fccl = 0;
	put(&pair, 0, 1, 0);
	put(&pair, 1, 1, 0);
	expect_lanes(&pair, "1-");
	pair_release(&pair);
}

static void test_lifetime_counts_from_becoming_first(void **state)
{
	struct pair pair;
	struct frame *first, *second;
	enum drop_reason reason;

	(void)state;
	pair_init(&pair);
	pair.a.info.hoq_life = 0; /* 4096 ns */
	pair.a.queues->vls[0].fccl = 0;
	first = put(&pair, 0, 1, 100);
	second = put(&pair, 0, 1, 100);
	assert_int_equal(port_lifetime_deadline(&pair.a, TIME_NEVER), 4196);
	assert_null(port_next_expired(&pair.a, TIME_NEVER, 4195, &reason));
	assert_ptr_equal(port_next_expired(&pair.a, TIME_NEVER, 4196, &reason), first);
	assert_null(port_next_expired(&pair.a, TIME_NEVER, 4196, &reason));
	assert_int_equal(port_lifetime_deadline(&pair.a, TIME_NEVER), 4196 + 4096);
	assert_ptr_equal(port_next_expired(&pair.a, TIME_NEVER, 9000, &reason), second);
	assert_int_equal(port_lifetime_deadline(&pair.a, TIME_NEVER), TIME_NEVER);
	pair_release(&pair);
}

static void test_adapters_and_long_codes_have_no_lifetime(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	put(&pair, 0, 1, 0);
	assert_int_equal(port_lifetime_deadline(&pair.a, TIME_NEVER), TIME_NEVER);
	pair.a.info.hoq_life = 19;
	assert_int_not_equal(port_lifetime_deadline(&pair.a, TIME_NEVER), TIME_NEVER);
	pair.a.kind = PORT_OF_ADAPTER;
	assert_int_equal(port_lifetime_deadline(&pair.a, TIME_NEVER), TIME_NEVER);
	pair_release(&pair);
}

/* After VLStallCount discards in a row the lane discards for eight times HOQLife: new packets and
 * waiting ones. */
static void test_lane_that_stalls_discards_at_once(void **state)
{
	struct pair pair;
	struct frame *frame;
	enum drop_reason reason;

	(void)state;
	pair_init(&pair);
	pair.a.info.hoq_life = 0;
	pair.a.info.vl_stall_count = 2;
	pair.a.queues->vls[0].fccl = 0;
	for (unsigned i = 0; i < 3; i++)
		put(&pair, 0, 1, 0);
	put(&pair, 1, 1, 10000);
	assert_non_null(port_next_expired(&pair.a, TIME_NEVER, 5000, &reason));
	assert_null(port_next_expired(&pair.a, TIME_NEVER, 5000, &reason));
	assert_non_null(port_next_expired(&pair.a, TIME_NEVER, 10000, &reason));
	assert_non_null(port_next_expired(&pair.a, TIME_NEVER, 10000, &reason));
	assert_int_equal(reason, DROP_HEAD_OF_QUEUE);
	assert_null(port_next_expired(&pair.a, TIME_NEVER, 10000, &reason));
	frame = frame_take(&pair.pool);
	frame->byte_count = 58;
	frame->vl = 0;
	assert_int_equal(port_enqueue(&pair.a, frame, 10000 + 8 * 4096 - 1), DROP_HEAD_OF_QUEUE);
	assert_int_equal(port_enqueue(&pair.a, frame, 10000 + 8 * 4096), DROP_NONE);
	pair_release(&pair);
}

/* A packet that is sent ends the series of discards. */
static void test_lane_that_moves_does_not_stall(void **state)
{
	struct pair pair;
	enum drop_reason reason;

	(void)state;
	pair_init(&pair);
	pair.a.info.hoq_life = 0;
	pair.a.info.vl_stall_count = 2;
	set_entry(&pair.a, 0, 0, 0, 1);
	put(&pair, 0, 1, 0);
	assert_non_null(port_next_expired(&pair.a, TIME_NEVER, 5000, &reason));
	put(&pair, 0, 1, 5000);
	assert_non_null(port_next_to_send(&pair.a, 5000));
	put(&pair, 0, 1, 6000);
	assert_non_null(port_next_expired(&pair.a, TIME_NEVER, 11000, &reason));
	put(&pair, 0, 1, 11000);
	pair_release(&pair);
}

/* LifeTimeValue counts from the packet's entry into the switch, wherever it waits. */
static void test_switch_lifetime_ends_what_waits_for_credits(void **state)
{
	struct pair pair;
	enum drop_reason reason;

	(void)state;
	pair_init(&pair);
	pair.a.queues->vls[0].fccl = 0;
	put(&pair, 0, 1, 700)->node_entered_at = 500;
	assert_int_equal(port_lifetime_deadline(&pair.a, 4096), 4596);
	assert_null(port_next_expired(&pair.a, 4096, 4595, &reason));
	assert_non_null(port_next_expired(&pair.a, 4096, 4596, &reason));
	assert_int_equal(reason, DROP_LIFETIME);
	pair_release(&pair);
}

/* A lane without credits waits while another one sends; only that lane's ticks are counted. */
static void test_each_lane_waits_for_its_own_credits(void **state)
{
	struct pair pair;
	uint16_t fccl;

	(void)state;
	pair_init(&pair);
	fccl = pair.a.queues->vls[1].fccl;
	pair.a.queues->vls[1].fccl = pair.a.queues->vls[1].fctbs;
	port_arbitration_set(&pair.a, TABLE_LOW, 0, 0, 64);
	port_arbitration_set(&pair.a, TABLE_LOW, 1, 1, 64);
	put(&pair, 1, 1, MICROSECONDS(1));
	put(&pair, 0, 1, MICROSECONDS(1));

	struct frame *frame = port_next_to_send(&pair.a, MICROSECONDS(1));

	assert_int_equal(frame->vl, 0);
	frame_give_back(&pair.pool, frame);
	/* From here on nothing at all can be sent. */
	assert_null(port_next_to_send(&pair.a, MICROSECONDS(3)));
	port_settle_waits(&pair.a, MICROSECONDS(6));
	assert_int_equal(pair.a.details->vl_transmit_wait[1], 5);
	assert_int_equal(pair.a.details->vl_transmit_wait[0], 0);
	assert_int_equal(pair.a.counters.transmit_wait, 3);
	pair.a.queues->vls[1].fccl = fccl;
	frame = port_next_to_send(&pair.a, MICROSECONDS(10));
	assert_int_equal(frame->vl, 1);
	frame_give_back(&pair.pool, frame);
	port_settle_waits(&pair.a, MICROSECONDS(20));
	assert_int_equal(pair.a.details->vl_transmit_wait[1], 9);
	assert_int_equal(pair.a.counters.transmit_wait, 7);
	pair_release(&pair);
}

/* A wait that ends because the frame was too old was a wait, too. */
static void test_wait_ends_with_the_last_discard(void **state)
{
	enum drop_reason reason;
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	pair.a.queues->vls[0].fccl = pair.a.queues->vls[0].fctbs;
	put(&pair, 0, 1, 0)->node_entered_at = 0;
	assert_null(port_next_to_send(&pair.a, 0));

	struct frame *frame = port_next_expired(&pair.a, 4096, MICROSECONDS(5), &reason);

	assert_non_null(frame);
	frame_give_back(&pair.pool, frame);
	port_settle_waits(&pair.a, MICROSECONDS(50));
	assert_int_equal(pair.a.counters.transmit_wait, 5);
	assert_int_equal(pair.a.details->vl_transmit_wait[0], 5);
	pair_release(&pair);
}

/* Ticks of a microsecond in which there was a frame and no credit for it; fractions add up. */
static void test_waiting_for_credits_is_counted_in_ticks(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	for (unsigned round = 0; round < 4; round++) {
		time_ns now = MILLISECONDS(round);
		uint16_t fccl = pair.a.queues->vls[0].fccl;

		pair.a.queues->vls[0].fccl = pair.a.queues->vls[0].fctbs;
		put(&pair, 0, 1, now);
		assert_null(port_next_to_send(&pair.a, now));
		assert_null(port_next_to_send(&pair.a, now + 700));
		pair.a.queues->vls[0].fccl = fccl;

		struct frame *frame = port_next_to_send(&pair.a, now + 2500);

		assert_non_null(frame);
		frame_give_back(&pair.pool, frame);
	}
	assert_int_equal(pair.a.counters.transmit_wait, 10);
	assert_null(port_next_to_send(&pair.a, SECONDS(1)));
	assert_int_equal(pair.a.counters.transmit_wait, 10);
	pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_management_lane_goes_first_and_needs_no_credits),
		cmocka_unit_test(test_management_lane_is_bounded),
		cmocka_unit_test(test_low_table_shares_by_weight),
		cmocka_unit_test(test_high_table_preempts_low_without_limit),
		cmocka_unit_test(test_high_limit_zero_gives_low_a_turn_after_each_packet),
		cmocka_unit_test(test_high_limit_counts_4096_bytes),
		cmocka_unit_test(test_lane_without_credits_does_not_hold_up_others),
		cmocka_unit_test(test_lifetime_counts_from_becoming_first),
		cmocka_unit_test(test_adapters_and_long_codes_have_no_lifetime),
		cmocka_unit_test(test_lane_that_stalls_discards_at_once),
		cmocka_unit_test(test_lane_that_moves_does_not_stall),
		cmocka_unit_test(test_switch_lifetime_ends_what_waits_for_credits),
		cmocka_unit_test(test_each_lane_waits_for_its_own_credits),
		cmocka_unit_test(test_wait_ends_with_the_last_discard),
		cmocka_unit_test(test_waiting_for_credits_is_counted_in_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
