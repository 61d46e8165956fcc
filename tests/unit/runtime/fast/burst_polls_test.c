/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts that continue after a poll, and everything that must end them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "runtime/fast/send_form.h"
#include "unit/runtime/burst_paths.h"

static struct qp *sender(unsigned path)
{
	return &paths[path][0].qp->qp;
}

/* A plain SEND, as path_post makes it. */
struct plain_send {
	struct address_vector address;
	struct sge sge;
	struct send_request request;
};

static const struct send_request *plain_send(unsigned path, struct plain_send *ret_send)
{
	*ret_send = (struct plain_send){
		.address = {.dlid = 2, .port_number = 1},
		.sge = {(uintptr_t)paths_bytes_of(0), path_plain.byte_count,
			pair.ends[0].region->key},
		.request = {.opcode = SEND_SEND,
			    .flags = SEND_SIGNALED,
			    .address = &ret_send->address,
			    .address_pd = paths[path][0].pd,
			    .remote_qpn = paths[path][1].qp->qp.qpn,
			    .remote_qkey = PAIR_QKEY,
			    .sge_count = 1,
			    .sges = &ret_send->sge},
	};
	return &ret_send->request;
}

/* Whether a plain SEND differs from the burst's last message only in PSN and payload. */
static bool would_continue(unsigned path)
{
	struct plain_send send;

	return burst_continues(&sender(path)->templates->burst, &pair_channel()->out,
			       plain_send(path, &send), pair_runtime()->turn,
			       sender(path)->requester.next_psn);
}

/* A plain SEND can't leave now, and nothing has changed. */
static void expect_refused(unsigned path)
{
	const struct requester before = sender(path)->requester;
	const uint64_t tail = pair_channel()->out.tail;
	struct plain_send send;

	assert_false(
		adapter_post(paths[path][0].adapter, paths[path][0].qp, plain_send(path, &send)));
	assert_int_equal(pair_channel()->out.tail, tail);
	assert_memory_equal(&before, &sender(path)->requester, sizeof(before));
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
	paths_end_bursts();
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
		assert_int_equal(pair_channel()->burst_in.payloads,
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
		assert_true(burst_streak(&sender(path)->templates->burst, &pair_channel()->out,
					 pair_runtime()->turn) < BURST_POSTS);
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
	path_post_receives(PATH_RC, 0, PATHS_HALF);
	assert_int_equal(path_post_plain(PATH_RC, 0, PATHS_HALF), PATHS_HALF);
	expect_refused(PATH_RC);
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

static void test_a_burst_does_not_continue_after_its_send_template_ended(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		paths_poll_between();
		runtime_invalidate(pair_runtime());
		send_and_expect(path, PATHS_HALF, PATHS_HALF - BURST_POSTS - 1);
	}
}

static void test_nothing_continues_behind_another_s_record(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++)
		for (unsigned has_polled = 0; has_polled < 2; has_polled++) {
			begin_burst(path);
			send_and_expect(PATH_OTHER, 1, 0);
			if (has_polled)
				paths_poll_between();
			assert_false(would_continue(path));
			send_and_expect(path, PATHS_HALF, PATHS_HALF - BURST_POSTS - 1);
		}
}

/* The queue pair's own record has used the next PSN. Only the PSN shows it. */
static void test_nothing_continues_behind_other_psns(void **state)
{
	const struct path_message longer = {SEND_SEND, 100, SEND_SIGNALED, 0};

	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);

		const struct send_burst before = sender(path)->templates->burst;

		path_post_receives(path, 0, 1);
		assert_false(path_post(path, 0, &longer));
		paths_take();
		path_expect_received(path, 0, &longer);
		paths_expect_all_sent(0, 1);
		assert_int_equal(pair_channel()->out.tail, sender(path)->owner_position);
		sender(path)->templates->burst = before;
		sender(path)->templates->burst.end = pair_channel()->out.tail;
		paths_poll_between();
		assert_false(would_continue(path));
		send_and_expect(path, PATHS_HALF, PATHS_HALF - 1);
	}
}

/* Not even if the PSNs used outside the ring are as many as the payload records that would have
 * filled it. */
static void test_nothing_continues_behind_another_s_record_and_other_psns(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		struct psn *next_psn = &sender(path)->requester.next_psn;

		begin_burst(path);

		const struct psn psn = *next_psn;
		const uint64_t tail = pair_channel()->out.tail;

		send_and_expect(PATH_OTHER, 1, 0);
		paths_poll_between();
		*next_psn = psn_add(psn, (uint32_t)(pair_channel()->out.tail - tail) / 16);
		assert_false(would_continue(path));
		*next_psn = psn;
	}
}

enum obstacle {
	FAST_PATH_OFF,
	PROGRESS_ELSEWHERE,
	IN_READY_LIST,
	OTHERS_WAIT,
	RING_FULL,
	FLOW_GONE,
	GENERATION_OVER,
	REQUEST_HELD,
	RNR_WAITS,
	REQUEST_WAITS,
	/* The rest ends the send template. */
	RATE_LIMITED,
	NOT_SENDING,
	OBSTACLES,
};

static struct list somewhere;

/* The peer shows that it has read up to this distance from the tail. */
static void show_head(uint64_t distance)
{
	struct ring_producer *out = &pair_channel()->out;

	out->head_seen = out->tail - distance;
	__atomic_store_n(&out->shared->head, out->head_seen, __ATOMIC_SEQ_CST);
}

/* Obstacles in the process and on its way to the peer. Returns whether it was one of these. */
static bool put_in_the_runtime_s_way(unsigned path, enum obstacle obstacle, bool is_there)
{
	static uint64_t read_by_peer;
	struct process_runtime *runtime = pair_runtime();
	struct flow *flow = sender(path)->templates->send.route;
	struct list *link = &sender(obstacle == IN_READY_LIST ? path : PATH_OTHER)->ready_link;

	if (obstacle == FAST_PATH_OFF) {
		runtime->may_go_fast = !is_there;
	} else if (obstacle == PROGRESS_ELSEWHERE) {
		runtime->progress.mode = is_there ? PROGRESS_LISTENING : PROGRESS_STAYING_OUT;
		runtime->progress.wakes_at = TIME_NEVER;
	} else if (obstacle == IN_READY_LIST || obstacle == OTHERS_WAIT) {
		if (is_there)
			list_append(obstacle == IN_READY_LIST ? &somewhere
							      : &pair_channel()->waiting,
				    link);
		else
			list_remove(link);
	} else if (obstacle == RING_FULL) {
		if (is_there)
			read_by_peer = pair_channel()->out.shared->head;
		show_head(is_there ? pair_channel()->out.data_bytes
				   : pair_channel()->out.tail - read_by_peer);
	} else if (obstacle == FLOW_GONE) {
		flow->state = is_there ? FLOW_UNRESOLVED : FLOW_DIRECT;
	} else if (obstacle == GENERATION_OVER) {
		__atomic_add_fetch(&pair.softibd.page->generation, is_there ? 1 : -1u,
				   __ATOMIC_SEQ_CST);
	} else {
		return false;
	}
	return true;
}

/* Puts the obstacle in place, or takes it away. */
static void put_in_the_way(unsigned path, enum obstacle obstacle, bool is_there)
{
	struct qp *qp = sender(path);
	struct requester *requester = &qp->requester;

	if (put_in_the_runtime_s_way(path, obstacle, is_there))
		return;
	if (obstacle == REQUEST_HELD) {
		requester->hold = is_there ? HOLD_ALL : HOLD_NONE;
	} else if (obstacle == RNR_WAITS) {
		requester->rnr_deadline = is_there ? 1 : TIME_NEVER;
	} else if (obstacle == REQUEST_WAITS) {
		requester->cursor += is_there ? -1u : 1u;
	} else {
		if (obstacle == RATE_LIMITED)
			qp->attributes.rate_limit = is_there;
		else
			qp->state = is_there ? QP_SQD : QP_RTS;
		invalidate(qp->environment); /* as a modify does */
	}
}

static void test_nothing_continues_that_could_not_be_sent_at_once(void **state)
{
	(void)state;
	list_init(&somewhere);
	for (unsigned path = 0; path < PATH_TYPES; path++)
		for (unsigned i = 0; i < OBSTACLES; i++) {
			begin_burst(path);
			paths_poll_between();
			put_in_the_way(path, (enum obstacle)i, true);
			expect_refused(path);
			put_in_the_way(path, (enum obstacle)i, false);
			send_and_expect(path, PATHS_HALF,
					i < RATE_LIMITED ? PATHS_HALF
							 : PATHS_HALF - BURST_POSTS - 1);
		}
}

/* The posts of a running burst check only what other processes can change. */
static void test_a_running_burst_stops_when_its_generation_is_over(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++)
		for (unsigned turns = 0; turns < 2; turns++) {
			begin_burst(path);
			pair_runtime()->turn += turns;
			assert_true(burst_is_running(&sender(path)->templates->burst,
						     pair_runtime()->turn));
			put_in_the_way(path, GENERATION_OVER, true);
			expect_refused(path);
			put_in_the_way(path, GENERATION_OVER, false);
			send_and_expect(path, PATHS_HALF, PATHS_HALF);
		}
}

/* They count down the room that was found at the beginning. */
static void test_a_running_burst_stops_at_a_full_send_queue(void **state)
{
	struct send_queue *queue = &sender(PATH_RC)->requester.queue;
	const uint32_t requests_max = queue->requests_max;

	(void)state;
	paths_end_bursts();
	queue->requests_max = PATHS_HALF;
	path_post_receives(PATH_RC, 0, PATHS_HALF);
	assert_int_equal(path_post_plain(PATH_RC, 0, PATHS_HALF), PATHS_HALF - BURST_POSTS - 1);
	assert_int_equal(sender(PATH_RC)->templates->burst.room, 0);
	expect_refused(PATH_RC);
	paths_take();
	path_expect_plain(PATH_RC, 0, PATHS_HALF);
	paths_expect_all_sent(0, PATHS_HALF);
	queue->requests_max = requests_max;
}

/* ibv_post_send with a list whose first request continues a burst, and whose second one needs the
 * engine. The next call is the next turn. */
static void test_a_running_burst_stops_behind_a_request_that_failed(void **state)
{
	const struct path_message bad = {SEND_SEND, 8, SEND_SIGNALED, 1};

	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		assert_false(path_post(path, 0, &bad));
		pair_runtime()->turn++;
		expect_refused(path);
		paths_expect_sent(0, COMPLETION_LOCAL_PROTECTION);
	}
}

/* The ring has room for a payload record, but not for the packet before it. */
static void test_a_running_burst_does_not_overtake_a_request_that_waits(void **state)
{
	const struct path_message longer = {SEND_SEND_IMMEDIATE, 100, SEND_SIGNALED, 0};

	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		path_post_receives(path, 0, 2);
		put_in_the_way(path, RING_FULL, true);
		assert_false(path_post(path, 0, &longer));
		put_in_the_way(path, RING_FULL, false);
		pair_runtime()->turn++;
		expect_refused(path);
		assert_false(path_post(path, 1, &path_plain));
		path_expect_received(path, 0, &longer);
		path_expect_plain(path, 1, 1);
		paths_expect_all_sent(0, 2);
	}
}

/* A program that polls after each few posts starts a burst only after BURST_POSTS posts in a row.
 */
static void test_a_short_streak_ends_with_a_poll(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		sender(path)->templates->burst.streak = BURST_POSTS_PAYLOAD - 1;
		paths_poll_between();
		assert_false(would_continue(path));
		sender(path)->templates->burst.streak = BURST_POSTS_PAYLOAD;
		assert_true(would_continue(path));
		paths_poll_between();
		send_and_expect(path, PATHS_HALF, PATHS_HALF);
	}
}

/* Sends PATHS_HALF messages of which the last has no receive request at first. */
static void send_with_a_late_receive(void)
{
	path_post_receives(PATH_RC, 0, PATHS_HALF - 1);
	assert_int_equal(path_post_plain(PATH_RC, 0, PATHS_HALF), PATHS_HALF);
	paths_take();
	path_expect_plain(PATH_RC, 0, PATHS_HALF - 1);
	assert_null(cq_first(pair.ends[1].cq));
	path_post_receives(PATH_RC, PATHS_HALF - 1, 1);
	path_expect_plain(PATH_RC, PATHS_HALF - 1, 1);
	paths_expect_all_sent(0, PATHS_HALF);
	paths_poll_between();
}

/* They are sent again as packets, which the receiver does not count as the burst's. */
static void test_a_burst_begins_anew_behind_resent_messages(void **state)
{
	(void)state;
	begin_burst(PATH_RC);
	paths_poll_between();
	/* The receiver sends an RNR NAK at once. */
	pair_channel()->rnr_hold.max_ns = pair_channel()->rnr_hold.left_ns = 0;

	const uint64_t tail = pair_channel()->out.tail;

	send_with_a_late_receive();
	assert_true(pair_channel()->out.tail - tail > PATHS_HALF * ring_payload_bytes(8));
	assert_false(would_continue(PATH_RC));
	send_and_expect(PATH_RC, PATHS_HALF, PATHS_HALF - BURST_POSTS - 1);
	paths_poll_between();
	send_and_expect(PATH_RC, PATHS_HALF, PATHS_HALF);
	paths_expect_nothing();
}

/* A message that waits in the ring for its receive request is not sent again. */
static void test_a_burst_continues_behind_a_message_that_waits(void **state)
{
	(void)state;
	begin_burst(PATH_RC);
	paths_poll_between();

	const uint64_t tail = pair_channel()->out.tail;

	send_with_a_late_receive();
	assert_int_equal(pair_channel()->out.tail - tail, PATHS_HALF * ring_payload_bytes(8));
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
		path_test(test_a_burst_does_not_continue_after_its_send_template_ended),
		path_test(test_nothing_continues_behind_another_s_record),
		path_test(test_nothing_continues_behind_other_psns),
		path_test(test_nothing_continues_behind_another_s_record_and_other_psns),
		path_test(test_nothing_continues_that_could_not_be_sent_at_once),
		path_test(test_a_running_burst_stops_when_its_generation_is_over),
		path_test(test_a_running_burst_stops_at_a_full_send_queue),
		path_test(test_a_running_burst_stops_behind_a_request_that_failed),
		path_test(test_a_running_burst_does_not_overtake_a_request_that_waits),
		path_test(test_a_short_streak_ends_with_a_poll),
		path_test(test_a_burst_begins_anew_behind_resent_messages),
		path_test(test_a_burst_continues_behind_a_message_that_waits),
	};

	return cmocka_run_group_tests(tests, paths_start, pair_end_all);
}
