/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts that continue after a poll, and everything that must end them. */
#include "runtime/fast/template_send.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "unit/runtime/burst_paths.h"

static struct qp *sender(unsigned path)
{
	return &paths[path][0].qp->qp;
}

/* Sends this many messages, receives and completes them, and expects this many payload records. */
static void send_and_expect(unsigned path, uint32_t count, unsigned expected_payloads)
{
	path_post_receives(path, 0, count);
	assert_int_equal(path_post_plain(path, 0, count), expected_payloads);
	paths_take();
	path_expect_plain(path, 0, count);
	paths_expect_all_sent(0, count);
}

static void begin_burst(unsigned path)
{
	paths_end_burst();
	send_and_expect(path, PATHS_HALF, PATHS_HALF - BURST_POSTS - 1);
}

static void test_a_burst_continues_without_a_new_template(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		for (unsigned i = 0; i < 5; i++) {
			paths_poll_between();
			send_and_expect(path, PATHS_HALF, PATHS_HALF);
		}
		/* None of them was another template. */
		assert_int_equal(pair_channel()->burst_in.repeats,
				 6 * PATHS_HALF - BURST_POSTS - 1);
	}
}

static void test_a_sender_that_waits_for_each_message_ends_its_burst(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		/* This one could have been the first of many. */
		paths_poll_between();
		send_and_expect(path, 1, 1);
		for (unsigned i = 0; i < PATHS_HALF; i++) {
			paths_poll_between();
			send_and_expect(path, 1, 0);
		}
		assert_true(burst_posts(&pair_runtime()->burst, sender(path)) < BURST_POSTS);
	}
}

/* Two in a row keep the burst. */
static void test_a_burst_continues_with_a_few_messages_at_a_time(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		for (unsigned i = 0; i < PATHS_HALF; i++) {
			paths_poll_between();
			send_and_expect(path, 2, 2);
		}
	}
}

/* The send queue is full until some requests complete. */
static void test_a_full_send_queue_does_not_end_a_burst(void **state)
{
	struct send_queue *queue = &sender(PATH_RC)->requester.queue;
	const uint32_t requests_max = queue->requests_max;

	(void)state;
	queue->requests_max = PATHS_HALF;
	begin_burst(PATH_RC);
	assert_int_equal(pair_runtime()->burst.room, 0);
	/* Full again: the messages that had no room were not posted. */
	path_post_receives(PATH_RC, 0, PATHS_HALF);
	assert_int_equal(path_post_plain(PATH_RC, 0, PATHS_HALF), PATHS_HALF);
	assert_false(template_send_is_in_burst(pair_runtime(), sender(PATH_RC)));
	paths_take();
	path_expect_plain(PATH_RC, 0, PATHS_HALF);
	paths_expect_all_sent(0, PATHS_HALF);
	queue->requests_max = requests_max;
	send_and_expect(PATH_RC, PATHS_HALF, PATHS_HALF);
}

/* Past the end of the ring, and past the last position of the consumer that the sender has read. */
static void test_one_burst_wraps_around_the_ring(void **state)
{
	const uint64_t data_bytes = pair_channel()->out.data_bytes;

	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);

		const uint32_t template_psn = pair_channel()->burst_in.psn_word;
		const uint64_t start = pair_channel()->out.tail;

		while (pair_channel()->out.tail - start < 2 * data_bytes) {
			paths_poll_between();
			send_and_expect(path, PATHS_BURST, PATHS_BURST);
		}
		assert_int_equal(pair_channel()->burst_in.psn_word, template_psn);
	}
}

static void test_a_burst_does_not_continue_after_its_template_ended(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		runtime_forget_templates(pair_runtime());
		assert_false(template_send_is_in_burst(pair_runtime(), sender(path)));
		/* The sender was busy until now, so the first message is a template at once. */
		send_and_expect(path, PATHS_HALF, PATHS_HALF - 1);
	}
}

/* As if nobody had noticed that something came in between. */
static void expect_no_way_on(unsigned path, struct burst_out before)
{
	pair_runtime()->burst = before;
	paths_poll_between();
	assert_false(template_send_is_in_burst(pair_runtime(), sender(path)));
	send_and_expect(path, PATHS_HALF, PATHS_HALF - 1);
}

static void test_nothing_goes_on_behind_another_s_record(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);

		const struct burst_out before = pair_runtime()->burst;

		paths_end_burst();
		send_and_expect(PATH_OTHER, 1, 0);
		expect_no_way_on(path, before);
	}
}

static void test_nothing_goes_on_behind_other_psns(void **state)
{
	const struct path_message longer = {SEND_SEND, 100, SEND_SIGNALED, 0};

	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);

		const struct burst_out before = pair_runtime()->burst;

		paths_end_burst();
		path_post_receives(path, 0, 1);
		assert_false(path_post(path, 0, &longer));
		paths_take();
		path_expect_received(path, 0, &longer);
		paths_expect_all_sent(0, 1);
		/* The record is the queue pair's own. */
		assert_int_equal(pair_channel()->out.tail, sender(path)->owner_position);
		expect_no_way_on(path, before);
	}
}

/* Not even if the PSNs used outside the ring are as many as the payload records that would have
 * filled it. */
static void test_nothing_goes_on_behind_another_s_record_and_other_psns(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		struct psn *next_psn = &sender(path)->requester.next_psn;

		begin_burst(path);

		const struct burst_out before = pair_runtime()->burst;
		const struct psn psn = *next_psn;
		const uint64_t tail = pair_channel()->out.tail;

		paths_end_burst();
		send_and_expect(PATH_OTHER, 1, 0);
		pair_runtime()->burst = before;
		paths_poll_between();
		*next_psn = psn_add(psn, (uint32_t)(pair_channel()->out.tail - tail) / 16);
		assert_false(template_send_is_in_burst(pair_runtime(), sender(path)));
		*next_psn = psn;
	}
}

enum obstacle {
	FAST_PATH_OFF,
	PROGRESS_ELSEWHERE,
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
static void put_in_the_way(unsigned path, enum obstacle obstacle, bool is_there)
{
	struct process_runtime *runtime = pair_runtime();
	struct qp *qp = sender(path);
	struct requester *requester = &qp->requester;

	switch (obstacle) {
	case FAST_PATH_OFF:
		runtime->may_go_fast = !is_there;
		break;
	case PROGRESS_ELSEWHERE:
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
			list_append(&pair_channel()->waiting, &sender(PATH_OTHER)->ready_link);
		else
			list_remove(&sender(PATH_OTHER)->ready_link);
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
		if (!path_is_datagram(path))
			qp->header_cache.sends += is_there ? -1u : 1u;
		else
			runtime->burst.may_go_on = !is_there;
		break;
	case RATE_LIMITED:
		qp->attributes.rate_limit = is_there;
		if (!path_is_datagram(path))
			qp->header_cache.sends += is_there ? -1u : 1u; /* as a modify does */
		break;
	case NOT_SENDING:
		qp->state = is_there ? QP_SQD : QP_RTS;
		if (!path_is_datagram(path))
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
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		for (unsigned i = 0; i < OBSTACLES; i++) {
			paths_poll_between();
			put_in_the_way(path, (enum obstacle)i, true);
			assert_false(template_send_is_in_burst(pair_runtime(), sender(path)));
			put_in_the_way(path, (enum obstacle)i, false);
			paths_poll_between();
			assert_true(template_send_is_in_burst(pair_runtime(), sender(path)));
			pair_runtime()->burst.posts = BURST_POSTS_PAYLOAD;
		}
		paths_poll_between();
		send_and_expect(path, PATHS_HALF, PATHS_HALF);
	}
}

/* They are sent again as packets, for which the ring has more room than for payload records. */
static void test_a_burst_begins_anew_behind_resent_messages(void **state)
{
	(void)state;
	begin_burst(PATH_RC);
	paths_poll_between();
	/* There is no receive request for the last of them. */
	path_post_receives(PATH_RC, 0, PATHS_HALF - 1);
	assert_int_equal(path_post_plain(PATH_RC, 0, PATHS_HALF), PATHS_HALF);
	paths_take();
	path_expect_plain(PATH_RC, 0, PATHS_HALF - 1);
	assert_null(cq_first(pair.ends[1].cq));
	path_post_receives(PATH_RC, PATHS_HALF - 1, 1);
	path_expect_plain(PATH_RC, PATHS_HALF - 1, 1);
	paths_expect_all_sent(0, PATHS_HALF);
	paths_poll_between();
	send_and_expect(PATH_RC, PATHS_HALF, PATHS_HALF - 1);
	paths_poll_between();
	send_and_expect(PATH_RC, PATHS_HALF, PATHS_HALF);
	paths_expect_nothing();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		path_test(test_a_burst_continues_without_a_new_template),
		path_test(test_a_sender_that_waits_for_each_message_ends_its_burst),
		path_test(test_a_burst_continues_with_a_few_messages_at_a_time),
		path_test(test_a_full_send_queue_does_not_end_a_burst),
		path_test(test_one_burst_wraps_around_the_ring),
		path_test(test_a_burst_does_not_continue_after_its_template_ended),
		path_test(test_nothing_goes_on_behind_another_s_record),
		path_test(test_nothing_goes_on_behind_other_psns),
		path_test(test_nothing_goes_on_behind_another_s_record_and_other_psns),
		path_test(test_nothing_goes_on_that_could_not_be_sent_at_once),
		path_test(test_a_burst_begins_anew_behind_resent_messages),
	};

	return cmocka_run_group_tests(tests, paths_start, pair_end_all);
}
