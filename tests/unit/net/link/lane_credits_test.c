/* SPDX-License-Identifier: Apache-2.0 */
/* Credits in blocks: they stop the sender, come back, and survive loss on the link (transport
 * 8.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/link/lane_credits.h"
#include "port_pair.h"

static void test_blocks_count_both_crcs(void **state)
{
	(void)state;
	assert_int_equal(frame_credit_blocks(58), 1);
	assert_int_equal(frame_credit_blocks(59), 2);
	assert_int_equal(frame_credit_blocks(4096 + 20), 65);
}

static void test_credits_stop_the_sender_and_come_back(void **state)
{
	struct pair pair;
	struct frame *frames[40];
	unsigned sent = 0;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	for (unsigned i = 0; i < 40; i++)
		frames[i] = put(&pair, 0, 64, 0);
	for (struct frame *frame; (frame = port_next_to_send(&pair.a, 0)); sent++) {
		assert_ptr_equal(frame, frames[sent]);
		port_buffer_take(&pair.b, frame);
	}
	assert_int_equal(sent, VL_BUFFER_BLOCKS / 64);
	assert_ptr_equal(frames[0]->lane, &pair.a.queues->vls[0]);
	assert_true(lane_buffer_release(frames[0]->lane, frames[0]->credit_blocks));
	assert_ptr_equal(port_next_to_send(&pair.a, 0), frames[32]);
	assert_null(port_next_to_send(&pair.a, 0));
	pair_release(&pair);
}

/* The 12-bit counters wrap many times and never allow more than the receiver has room for. */
static void test_credit_counters_survive_wrapping(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	for (unsigned i = 0; i < 1000; i++) {
		put(&pair, 0, 67, 0);

		struct frame *frame = port_next_to_send(&pair.a, 0);

		assert_non_null(frame);
		/* The cable may hold more than the counter shows. */
		port_cable_take(&pair.a, frame);
		port_credits_refresh(&pair.b, 0);
		assert_int_equal(pair.a.queues->vls[0].peer_abr, i * 67 % CREDIT_MODULUS);
		port_cable_release(&pair.a, frame);
		port_buffer_take(&pair.b, frame);
		assert_int_equal(pair.a.queues->vls[0].peer_buffer_blocks, 67);
		(void)!lane_buffer_release(frame->lane, frame->credit_blocks);
		frame_give_back(&pair.pool, frame);
	}
	pair_release(&pair);
}

static void test_lost_packet_is_healed_by_the_next_flow_control(void **state)
{
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	for (unsigned i = 0; i < 100; i++) {
		put(&pair, 0, 60, 0);

		struct frame *frame = port_next_to_send(&pair.a, 0);

		assert_non_null(frame);
		port_credits_refresh(&pair.b, 0);
		frame_give_back(&pair.pool, frame);
	}
	pair_release(&pair);
}

/* All flow control packets of the receiver get lost: the sender stops until they arrive again. */
static void test_lost_flow_control_stops_the_sender_until_it_is_renewed(void **state)
{
	struct pair pair;
	struct frame *frame;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	port_flow_control_lose(&pair.b);
	for (unsigned i = 0; i < VL_BUFFER_BLOCKS / 64; i++) {
		put(&pair, 0, 64, 0);
		frame = port_next_to_send(&pair.a, 0);
		assert_non_null(frame);
		port_buffer_take(&pair.b, frame);
		assert_false(lane_buffer_release(frame->lane, frame->credit_blocks));
	}
	put(&pair, 0, 64, 0);
	assert_null(port_next_to_send(&pair.a, 0));
	port_flow_control_find(&pair.b);
	assert_null(port_next_to_send(&pair.a, 0));
	assert_true(port_credits_renew(&pair.b));
	assert_non_null(port_next_to_send(&pair.a, 0));
	assert_false(port_credits_renew(&pair.b));
	pair_release(&pair);
}

/* Sends until credits are used up; returns how many frames of 64 blocks that took. */
static unsigned fill(struct pair *pair, uint8_t vl, struct frame *ret_frames[])
{
	unsigned count = 0;

	put(pair, vl, 64, 0);
	for (struct frame *frame; (frame = port_next_to_send(&pair->a, 0)); count++) {
		port_buffer_take(&pair->b, frame);
		ret_frames[count] = frame;
		put(pair, vl, 64, 0);
	}
	return count;
}

/* On a paced link the sender may use new room when the flow control packet arrives. */
static void test_room_counts_when_its_flow_control_packet_arrives(void **state)
{
	struct frame *frames[VL_BUFFER_BLOCKS / 64];
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	assert_int_equal(fill(&pair, 0, frames), VL_BUFFER_BLOCKS / 64);
	port_buffer_release_paced(&pair.b, 0, frames[0]->credit_blocks);
	assert_null(port_next_to_send(&pair.a, 0));
	assert_int_equal(port_credits_depart(&pair.b), 1);
	/* Room that becomes free now is in the next flow control packet. */
	port_buffer_release_paced(&pair.b, 0, frames[1]->credit_blocks);
	assert_null(port_next_to_send(&pair.a, 0));
	assert_true(port_credits_arrive(&pair.b));
	assert_non_null(port_next_to_send(&pair.a, 0));
	put(&pair, 0, 64, 0);
	assert_null(port_next_to_send(&pair.a, 0));
	assert_int_equal(port_credits_depart(&pair.b), 1);
	assert_true(port_credits_arrive(&pair.b));
	assert_non_null(port_next_to_send(&pair.a, 0));
	assert_int_equal(port_credits_depart(&pair.b), 0);
	assert_false(port_credits_arrive(&pair.b));
	/* Eight data VLs had one with Op = init in each direction. */
	assert_int_equal(pair.b.counters.transmit_flow_packets, 8 + 2);
	assert_int_equal(pair.a.counters.receive_flow_packets, 8 + 2);
	assert_int_equal(pair.a.counters.transmit_flow_packets, 8);
	assert_int_equal(pair.b.counters.receive_flow_packets, 8);
	pair_release(&pair);
}

static void test_flow_control_packet_that_was_overtaken_takes_nothing_back(void **state)
{
	struct frame *frames[VL_BUFFER_BLOCKS / 64];
	struct pair pair;
	uint16_t limit;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	fill(&pair, 0, frames);
	port_buffer_release_paced(&pair.b, 0, frames[0]->credit_blocks);
	assert_int_equal(port_credits_depart(&pair.b), 1);
	assert_true(lane_buffer_release(frames[1]->lane, frames[1]->credit_blocks));
	limit = pair.a.queues->vls[0].fccl;
	assert_false(port_credits_arrive(&pair.b));
	assert_int_equal(pair.a.queues->vls[0].fccl, limit);
	pair_release(&pair);
}

static void test_flow_control_packets_that_leave_while_lost_never_arrive(void **state)
{
	struct frame *frames[VL_BUFFER_BLOCKS / 64];
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	fill(&pair, 0, frames);
	port_flow_control_lose(&pair.b);
	port_buffer_release_paced(&pair.b, 0, frames[0]->credit_blocks);
	assert_int_equal(port_credits_depart(&pair.b), 1);
	assert_false(port_credits_arrive(&pair.b));
	assert_null(port_next_to_send(&pair.a, 0));
	pair_release(&pair);
}

/* The receiver's limit counts from what has arrived: frames on the cable are neither lost nor
 * received. */
static void test_frames_on_the_cable_still_count(void **state)
{
	struct pair pair;
	struct frame *frame;
	uint16_t limit;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	limit = pair.a.queues->vls[0].fccl;
	put(&pair, 0, 64, 0);
	frame = port_next_to_send(&pair.a, 0);
	assert_true(port_cable_is_empty(&pair.a));
	port_cable_take(&pair.a, frame);
	assert_false(port_cable_is_empty(&pair.a));
	port_credits_refresh(&pair.b, 0);
	assert_int_equal(pair.a.queues->vls[0].fccl, limit);
	port_cable_release(&pair.a, frame);
	assert_true(port_cable_is_empty(&pair.a));
	/* The frame is lost: the next flow control packet corrects the credits. */
	port_credits_refresh(&pair.b, 0);
	assert_int_equal(pair.a.queues->vls[0].fccl, limit + 64);
	pair_release(&pair);
}

static void test_lane_has_credits_while_the_largest_packet_fits(void **state)
{
	struct frame *frames[VL_BUFFER_BLOCKS / 64];
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	assert_true(port_lane_has_credits(&pair.a, 0));
	fill(&pair, 0, frames);
	assert_false(port_lane_has_credits(&pair.a, 0));
	assert_true(port_lane_has_credits(&pair.a, 1));
	pair_release(&pair);
}

/* Blocks that are still in the receive buffer when the link comes up again are not granted
 * twice. */
static void test_new_link_leaves_room_for_what_is_still_there(void **state)
{
	struct frame *frames[VL_BUFFER_BLOCKS / 64];
	struct pair pair;

	(void)state;
	pair_init(&pair);
	pair.a.info.operational_vls = 1;
	fill(&pair, 0, frames);
	port_credits_init(&pair.a);
	assert_int_equal(pair.a.queues->vls[0].fctbs, 0);
	assert_int_equal(pair.a.queues->vls[0].fccl, 0);
	assert_null(port_next_to_send(&pair.a, 0));
	assert_true(lane_buffer_release(frames[0]->lane, frames[0]->credit_blocks));
	assert_non_null(port_next_to_send(&pair.a, 0));
	pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_count_both_crcs),
		cmocka_unit_test(test_credits_stop_the_sender_and_come_back),
		cmocka_unit_test(test_credit_counters_survive_wrapping),
		cmocka_unit_test(test_lost_packet_is_healed_by_the_next_flow_control),
		cmocka_unit_test(test_lost_flow_control_stops_the_sender_until_it_is_renewed),
		cmocka_unit_test(test_room_counts_when_its_flow_control_packet_arrives),
		cmocka_unit_test(test_flow_control_packet_that_was_overtaken_takes_nothing_back),
		cmocka_unit_test(test_flow_control_packets_that_leave_while_lost_never_arrive),
		cmocka_unit_test(test_frames_on_the_cable_still_count),
		cmocka_unit_test(test_lane_has_credits_while_the_largest_packet_fits),
		cmocka_unit_test(test_new_link_leaves_room_for_what_is_still_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
