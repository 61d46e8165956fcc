/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts that continue after a poll, and everything that must end them. */
#include "runtime/fast/template_send.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "unit/runtime/burst_paths.h"

static struct qp *sender(unsigned lane)
{
	return &lanes[lane][0].qp->qp;
}

/* Sends this many messages, receives and completes them, and expects this many payload records. */
static void send_and_expect(unsigned lane, uint32_t count, unsigned expected_repeats)
{
	lane_post_receives(lane, 0, count);
	assert_int_equal(lane_post_plain(lane, 0, count), expected_repeats);
	lanes_take();
	lane_expect_plain(lane, 0, count);
	lanes_expect_all_sent(0, count);
}

static void begin_run(unsigned lane)
{
	lanes_end_run();
	send_and_expect(lane, LANES_HALF, LANES_HALF - BURST_POSTS - 1);
}

static void test_who_had_a_run_goes_on_without_a_model(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		begin_run(lane);
		for (unsigned i = 0; i < 5; i++) {
			lanes_look_elsewhere();
			send_and_expect(lane, LANES_HALF, LANES_HALF);
		}
		/* None of them was another template. */
		assert_int_equal(pair_channel()->burst_in.repeats,
				 6 * LANES_HALF - BURST_POSTS - 1);
	}
}

static void test_who_had_a_run_and_now_waits_has_none(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		begin_run(lane);
		/* This one could have been the first of many. */
		lanes_look_elsewhere();
		send_and_expect(lane, 1, 1);
		for (unsigned i = 0; i < LANES_HALF; i++) {
			lanes_look_elsewhere();
			send_and_expect(lane, 1, 0);
		}
		assert_true(burst_posts(&pair_attachment()->burst, sender(lane)) < BURST_POSTS);
	}
}

/* Two in a row keep the burst. */
static void test_a_run_goes_on_with_a_few_at_a_time(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		begin_run(lane);
		for (unsigned i = 0; i < LANES_HALF; i++) {
			lanes_look_elsewhere();
			send_and_expect(lane, 2, 2);
		}
	}
}

/* The send queue is full until some requests complete. */
static void test_a_full_send_queue_does_not_end_a_run(void **state)
{
	struct send_queue *queue = &sender(LANE_RC)->requester.queue;
	const uint32_t requests_max = queue->requests_max;

	(void)state;
	queue->requests_max = LANES_HALF;
	begin_run(LANE_RC);
	assert_int_equal(pair_attachment()->burst.room, 0);
	/* Full again: the messages that had no room were not posted. */
	lane_post_receives(LANE_RC, 0, LANES_HALF);
	assert_int_equal(lane_post_plain(LANE_RC, 0, LANES_HALF), LANES_HALF);
	assert_false(template_send_is_in_burst(pair_attachment(), sender(LANE_RC)));
	lanes_take();
	lane_expect_plain(LANE_RC, 0, LANES_HALF);
	lanes_expect_all_sent(0, LANES_HALF);
	queue->requests_max = requests_max;
	send_and_expect(LANE_RC, LANES_HALF, LANES_HALF);
}

/* Past the end of the ring, and past the last position of the consumer that the sender has read. */
static void test_one_run_goes_round_the_ring(void **state)
{
	const uint64_t data_bytes = pair_channel()->out.data_bytes;

	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		begin_run(lane);

		const uint32_t model_psn = pair_channel()->burst_in.psn_word;
		const uint64_t start = pair_channel()->out.tail;

		while (pair_channel()->out.tail - start < 2 * data_bytes) {
			lanes_look_elsewhere();
			send_and_expect(lane, LANES_RUN, LANES_RUN);
		}
		assert_int_equal(pair_channel()->burst_in.psn_word, model_psn);
	}
}

static void test_what_was_forgotten_does_not_go_on(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		begin_run(lane);
		runtime_forget_templates(pair_attachment());
		assert_false(template_send_is_in_burst(pair_attachment(), sender(lane)));
		/* The sender was busy until now, so the first message is a template at once. */
		send_and_expect(lane, LANES_HALF, LANES_HALF - 1);
	}
}

/* As if nobody had noticed that something came in between. */
static void expect_no_way_on(unsigned lane, struct burst_out before)
{
	pair_attachment()->burst = before;
	lanes_look_elsewhere();
	assert_false(template_send_is_in_burst(pair_attachment(), sender(lane)));
	send_and_expect(lane, LANES_HALF, LANES_HALF - 1);
}

static void test_nothing_goes_on_behind_another_s_record(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		begin_run(lane);

		const struct burst_out before = pair_attachment()->burst;

		lanes_end_run();
		send_and_expect(LANE_OTHER, 1, 0);
		expect_no_way_on(lane, before);
	}
}

static void test_nothing_goes_on_behind_other_psns(void **state)
{
	const struct lane_message longer = {SEND_SEND, 100, SEND_SIGNALED, 0};

	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		begin_run(lane);

		const struct burst_out before = pair_attachment()->burst;

		lanes_end_run();
		lane_post_receives(lane, 0, 1);
		assert_false(lane_post(lane, 0, &longer));
		lanes_take();
		lane_expect_received(lane, 0, &longer);
		lanes_expect_all_sent(0, 1);
		/* The record is the queue pair's own. */
		assert_int_equal(pair_channel()->out.tail, sender(lane)->owner_position);
		expect_no_way_on(lane, before);
	}
}

/* Not even if the PSNs used outside the ring are as many as the payload records that would have
 * filled it. */
static void test_nothing_goes_on_behind_another_s_record_and_other_psns(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		struct psn *next_psn = &sender(lane)->requester.next_psn;

		begin_run(lane);

		const struct burst_out before = pair_attachment()->burst;
		const struct psn psn = *next_psn;
		const uint64_t tail = pair_channel()->out.tail;

		lanes_end_run();
		send_and_expect(LANE_OTHER, 1, 0);
		pair_attachment()->burst = before;
		lanes_look_elsewhere();
		*next_psn = psn_add(psn, (uint32_t)(pair_channel()->out.tail - tail) / 16);
		assert_false(template_send_is_in_burst(pair_attachment(), sender(lane)));
		*next_psn = psn;
	}
}

enum obstacle {
	SHUT_LANE,
	HELPER_ELSEWHERE,
	IN_READY_LIST,
	OTHERS_WAIT,
	FLOW_GONE,
	FEW_POSTS,
	REQUEST_HELD,
	RNR_WAITS,
	REQUEST_WAITS,
	PORT_CHANGED,
	RATE_LIMITED,
	NOT_SENDING,
	OBSTACLES,
};

static struct list somewhere;

/* Puts the obstacle in place, or takes it away. */
static void put_in_the_way(unsigned lane, enum obstacle obstacle, bool is_there)
{
	struct process_runtime *runtime = pair_attachment();
	struct qp *qp = sender(lane);
	struct requester *requester = &qp->requester;

	switch (obstacle) {
	case SHUT_LANE:
		runtime->may_go_fast = !is_there;
		break;
	case HELPER_ELSEWHERE:
		runtime->progress_mode = is_there ? PROGRESS_LISTENING : PROGRESS_STAYING_OUT;
		runtime->progress_wakes_at = TIME_NEVER;
		break;
	case IN_READY_LIST:
		if (is_there)
			list_append(&somewhere, &qp->ready_link);
		else
			list_remove(&qp->ready_link);
		break;
	case OTHERS_WAIT:
		if (is_there)
			list_append(&pair_channel()->waiting, &sender(LANE_OTHER)->ready_link);
		else
			list_remove(&sender(LANE_OTHER)->ready_link);
		break;
	case FLOW_GONE:
		runtime->burst.flow->state = is_there ? FLOW_UNRESOLVED : FLOW_DIRECT;
		break;
	case FEW_POSTS:
		runtime->burst.posts = is_there ? 2 * BURST_POSTS - 1 : BURST_POSTS_PAYLOAD;
		break;
	case REQUEST_HELD:
		requester->hold = is_there ? HOLD_ALL : HOLD_NONE;
		break;
	case RNR_WAITS:
		requester->rnr_deadline = is_there ? 1 : TIME_NEVER;
		break;
	case REQUEST_WAITS:
		requester->cursor += is_there ? -1u : 1u;
		break;
	case PORT_CHANGED:
		/* Datagrams have no cached headers; their owner ends the burst then. */
		if (!lane_is_datagram(lane))
			qp->header_cache.sends += is_there ? -1u : 1u;
		else
			runtime->burst.may_go_on = !is_there;
		break;
	case RATE_LIMITED:
		qp->attributes.rate_limit = is_there;
		if (!lane_is_datagram(lane))
			qp->header_cache.sends += is_there ? -1u : 1u; /* as a modify does */
		break;
	case NOT_SENDING:
		qp->state = is_there ? QP_SQD : QP_RTS;
		if (!lane_is_datagram(lane))
			qp->header_cache.sends += is_there ? -1u : 1u; /* as a modify does */
		break;
	case OBSTACLES:
		break;
	}
}

static void test_nothing_goes_on_that_could_not_be_sent_at_once(void **state)
{
	(void)state;
	list_init(&somewhere);
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		begin_run(lane);
		for (unsigned i = 0; i < OBSTACLES; i++) {
			lanes_look_elsewhere();
			put_in_the_way(lane, (enum obstacle)i, true);
			assert_false(template_send_is_in_burst(pair_attachment(), sender(lane)));
			put_in_the_way(lane, (enum obstacle)i, false);
			lanes_look_elsewhere();
			assert_true(template_send_is_in_burst(pair_attachment(), sender(lane)));
			pair_attachment()->burst.posts = BURST_POSTS_PAYLOAD;
		}
		lanes_look_elsewhere();
		send_and_expect(lane, LANES_HALF, LANES_HALF);
	}
}

/* They are sent again as packets, for which the ring has more room than for payload records. */
static void test_a_run_begins_anew_behind_what_was_sent_again(void **state)
{
	(void)state;
	begin_run(LANE_RC);
	lanes_look_elsewhere();
	/* There is no receive request for the last of them. */
	lane_post_receives(LANE_RC, 0, LANES_HALF - 1);
	assert_int_equal(lane_post_plain(LANE_RC, 0, LANES_HALF), LANES_HALF);
	lanes_take();
	lane_expect_plain(LANE_RC, 0, LANES_HALF - 1);
	assert_null(cq_first(pair.ends[1].cq));
	lane_post_receives(LANE_RC, LANES_HALF - 1, 1);
	lane_expect_plain(LANE_RC, LANES_HALF - 1, 1);
	lanes_expect_all_sent(0, LANES_HALF);
	lanes_look_elsewhere();
	send_and_expect(LANE_RC, LANES_HALF, LANES_HALF - 1);
	lanes_look_elsewhere();
	send_and_expect(LANE_RC, LANES_HALF, LANES_HALF);
	lanes_expect_nothing();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		lane_test(test_who_had_a_run_goes_on_without_a_model),
		lane_test(test_who_had_a_run_and_now_waits_has_none),
		lane_test(test_a_run_goes_on_with_a_few_at_a_time),
		lane_test(test_a_full_send_queue_does_not_end_a_run),
		lane_test(test_one_run_goes_round_the_ring),
		lane_test(test_what_was_forgotten_does_not_go_on),
		lane_test(test_nothing_goes_on_behind_another_s_record),
		lane_test(test_nothing_goes_on_behind_other_psns),
		lane_test(test_nothing_goes_on_behind_another_s_record_and_other_psns),
		lane_test(test_nothing_goes_on_that_could_not_be_sent_at_once),
		lane_test(test_a_run_begins_anew_behind_what_was_sent_again),
	};

	return cmocka_run_group_tests(tests, lanes_start, pair_end_all);
}
