/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts from end to end on a fake softibd: SENDs posted in a row, other requests between them, and
 * receivers that fail or go away. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "runtime/fast/template_send.h"
#include "runtime/zcopy/zcopy_send.h"
#include "unit/runtime/burst_paths.h"

static void test_posts_in_a_row_are_a_run(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		lanes_end_run();
		lane_post_receives(lane, 0, LANES_RUN);
		assert_int_equal(lane_post_plain(lane, 0, LANES_RUN), LANES_REPEATS);
		lanes_take();
		assert_int_equal(pair_channel()->burst_in.repeats, LANES_REPEATS);
		lane_expect_plain(lane, 0, LANES_RUN);
		lanes_expect_all_sent(0, LANES_RUN);
	}
}

static void test_every_size_up_to_the_largest_repeat(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++)
		for (uint32_t size = 0; size <= RING_PAYLOAD_BYTES_MAX + 1; size++) {
			const struct lane_message message = {SEND_SEND, size, SEND_SIGNALED, 0};
			const bool is_fetched =
				size >= ZCOPY_BYTES_MIN && lanes[lane][0].qp->qp.type != QP_UC;
			bool may_repeat = size && size <= RING_PAYLOAD_BYTES_MAX && !is_fetched;
			const struct ring_producer *out = &pair_channel()->out;
			const uint64_t lap = out->tail / out->data_bytes;
			unsigned repeats = 0;

			lanes_end_run();
			lane_post_receives(lane, 0, LANES_HALF);
			for (uint32_t i = 0; i < LANES_HALF; i++)
				repeats += lane_post(lane, i, &message);
			/* The end of the ring needs a second template. */
			if (repeats && out->tail / out->data_bytes != lap)
				repeats = LANES_HALF - BURST_POSTS - 1;
			assert_int_equal(repeats, may_repeat ? LANES_HALF - BURST_POSTS - 1 : 0);
			lanes_take();
			for (uint32_t i = 0; i < LANES_HALF; i++)
				lane_expect_received(lane, i, &message);
			lanes_expect_all_sent(0, LANES_HALF);
		}
}

/* A program that waits for each answer has no use for a burst. */
static void test_posts_with_something_between_them_are_none(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++)
		for (uint32_t i = 0; i < LANES_RUN; i++) {
			lane_post_receives(lane, i, 1);
			assert_false(lane_post(lane, i, &lane_plain));
			lanes_take();
			lane_expect_plain(lane, i, 1);
			lanes_expect_all_sent(i, 1);
			lanes_end_run();
		}
}

static unsigned post_half(unsigned lane, uint32_t first, const struct lane_message *message)
{
	unsigned repeats = 0;

	for (uint32_t number = first; number < first + LANES_HALF; number++)
		repeats += lane_post(lane, number, message);
	return repeats;
}

static void expect_half(unsigned lane, uint32_t first, const struct lane_message *message)
{
	for (uint32_t number = first; number < first + LANES_HALF; number++)
		lane_expect_received(lane, number, message);
}

/* Posts PATHS_HALF messages, one that differs on the given path, and PATHS_HALF messages. Returns
 * how many of the first half are payload records. */
static unsigned run_of_around(const struct lane_message *message, unsigned lane, unsigned odd_lane,
			      const struct lane_message *odd)
{
	bool takes_receive = odd->opcode != SEND_RDMA_WRITE;

	lanes_end_run();
	lane_post_receives(lane, 0, LANES_HALF);
	if (takes_receive)
		lane_post_receives(odd_lane, LANES_HALF, 1);
	lane_post_receives(lane, LANES_HALF + 1, LANES_HALF);

	unsigned repeats = post_half(lane, 0, message);

	assert_false(lane_post(odd_lane, LANES_HALF, odd));
	(void)post_half(lane, LANES_HALF + 1, message);
	lanes_take();
	expect_half(lane, 0, message);
	if (takes_receive)
		lane_expect_received(odd_lane, LANES_HALF, odd);
	expect_half(lane, LANES_HALF + 1, message);
	return repeats;
}

static void run_around(unsigned lane, unsigned odd_lane, const struct lane_message *odd)
{
	assert_int_equal(run_of_around(&lane_plain, lane, odd_lane, odd),
			 LANES_HALF - BURST_POSTS - 1);
}

static void test_what_comes_between_keeps_its_place(void **state)
{
	static const struct lane_message odd[] = {
		{SEND_SEND_IMMEDIATE, 8, SEND_SIGNALED, 0},
		{SEND_SEND_IMMEDIATE, 4, SEND_SIGNALED, 0}, /* as long as a template of 8 bytes */
		{SEND_SEND, 100, SEND_SIGNALED, 0},
		{SEND_SEND, 24, SEND_SIGNALED, 0},
		{SEND_SEND, 7, SEND_SIGNALED, 0}, /* the same length but for a pad byte */
		{SEND_SEND, 0, SEND_SIGNALED, 0},
		{SEND_SEND, 8, SEND_SIGNALED | SEND_SOLICITED, 0},
		{SEND_SEND, 8, SEND_SIGNALED | SEND_INLINE, 0},
		{SEND_SEND, 8, SEND_SIGNALED | SEND_FENCE, 0},
		{SEND_RDMA_WRITE, 8, SEND_SIGNALED, 0},
	};

	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++)
		for (unsigned i = 0; i < ARRAY_COUNT(odd); i++) {
			if (lane_is_datagram(lane) && odd[i].opcode == SEND_RDMA_WRITE)
				continue;
			run_around(lane, lane, &odd[i]);
			lanes_expect_all_sent(0, 2 * LANES_HALF + 1);
		}
}

static void test_another_queue_pair_between_keeps_its_place(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		const struct lane_message unsignaled = {SEND_SEND, 8, 0, 0};

		run_around(lane, LANE_OTHER, &unsignaled);
		lanes_expect_all_sent(0, LANES_HALF);
		lanes_expect_all_sent(LANES_HALF + 1, LANES_HALF);
	}
}

/* Only the sender needs to know whether a completion was requested. */
static void test_requests_without_completion_go_along(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		unsigned repeats = 0;

		lanes_end_run();
		lane_post_receives(lane, 0, LANES_RUN);
		for (uint32_t i = 0; i < LANES_RUN; i++) {
			const struct lane_message message = {SEND_SEND, 8,
							     i % 4 == 3 ? SEND_SIGNALED : 0, 0};

			repeats += lane_post(lane, i, &message);
		}
		assert_int_equal(repeats, LANES_REPEATS);
		lanes_take();
		lane_expect_plain(lane, 0, LANES_RUN);
		for (uint32_t i = 3; i < LANES_RUN; i += 4)
			lanes_expect_sent(i, COMPLETION_SUCCESS);
	}
}

static void test_solicited_and_inline_ones_are_runs_of_their_own(void **state)
{
	static const uint32_t flags[] = {SEND_SOLICITED, SEND_INLINE, SEND_SOLICITED | SEND_INLINE};

	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++)
		for (unsigned i = 0; i < ARRAY_COUNT(flags); i++) {
			const struct lane_message message = {SEND_SEND, 8, SEND_SIGNALED | flags[i],
							     0};
			unsigned repeats = 0;

			lanes_end_run();
			lane_post_receives(lane, 0, LANES_RUN);
			for (uint32_t number = 0; number < LANES_RUN; number++)
				repeats += lane_post(lane, number, &message);
			assert_int_equal(repeats, LANES_REPEATS);
			lanes_take();
			for (uint32_t number = 0; number < LANES_RUN; number++)
				lane_expect_received(lane, number, &message);
			lanes_expect_all_sent(0, LANES_RUN);
		}
}

/* A zcopy send uses PSNs, too: a payload record behind it would stand for the wrong one. Payload
 * records of 25 to 48 bytes take as much of the ring as a zcopy record. */
static void test_a_pulled_message_ends_a_run(void **state)
{
	static const uint32_t pulled_sizes[] = {ZCOPY_BYTES_MIN, 4096};
	static const uint32_t run_sizes[] = {8, 24, 25, 48, 49, 511};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(pulled_sizes) * ARRAY_COUNT(run_sizes); i++) {
		const struct lane_message pulled = {SEND_SEND, pulled_sizes[i % 2], SEND_SIGNALED,
						    0};
		const struct lane_message message = {SEND_SEND, run_sizes[i / 2], SEND_SIGNALED, 0};
		struct requester *requester = &lanes[LANE_RC][0].qp->qp.requester;

		assert_true(run_of_around(&message, LANE_RC, LANE_RC, &pulled) > 0);
		lanes_expect_all_sent(0, 2 * LANES_HALF + 1);
		/* Nothing was retried. */
		assert_int_equal(requester->retries_left,
				 lanes[LANE_RC][0].qp->qp.attributes.retry_count);
	}
}

/* A WRITE by RMA uses PSNs, too. It goes as soon as the peer has read the packets before it, which
 * may happen while a list is being posted. */
static void test_a_placed_write_ends_a_run(void **state)
{
	const struct lane_message write = {SEND_RDMA_WRITE, 8, SEND_SIGNALED, 0};
	time_ns start = runtime_now();
	uint64_t tail;

	(void)state;
	do {
		assert_false(pair_is_overdue(start));
		tail = pair_channel()->out.tail;
		(void)lane_post(LANE_UC, 0, &write);
		lanes_expect_all_sent(0, 1);
		lanes_take();
		lanes_end_run();
	} while (pair_channel()->out.tail != tail);
	lane_post_receives(LANE_UC, 0, LANES_HALF);
	lane_post_receives(LANE_UC, LANES_HALF + 1, LANES_HALF);
	assert_int_equal(lane_post_plain(LANE_UC, 0, LANES_HALF), LANES_HALF - BURST_POSTS - 1);
	lanes_take();
	channel_release(pair_channel());
	tail = pair_channel()->out.tail;
	(void)lane_post(LANE_UC, LANES_HALF, &write);
	assert_int_equal(pair_channel()->out.tail, tail);
	(void)lane_post_plain(LANE_UC, LANES_HALF + 1, LANES_HALF);
	lanes_take();
	lane_expect_plain(LANE_UC, 0, LANES_HALF);
	lane_expect_plain(LANE_UC, LANES_HALF + 1, LANES_HALF);
	lanes_expect_all_sent(0, 2 * LANES_HALF + 1);
	/* An unreliable connection reports no lost message, so the test compares the PSNs. */
	assert_int_equal(lanes[LANE_UC][1].qp->qp.responder.expected_psn.value,
			 lanes[LANE_UC][0].qp->qp.requester.next_psn.value);
}

/* RC gets RNR NAKs; on UC and UD the messages without a receive request wait in the ring. */
static void test_a_run_goes_on_when_receives_are_posted(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		lanes_end_run();
		lane_post_receives(lane, 0, LANES_HALF);
		assert_int_equal(lane_post_plain(lane, 0, LANES_RUN), LANES_REPEATS);
		lanes_take();
		lane_expect_plain(lane, 0, LANES_HALF);
		lanes_take();
		assert_null(cq_first(pair.ends[1].cq));
		if (lane != LANE_RC)
			assert_true(channel_holds_back(pair_channel()));
		for (uint32_t number = LANES_HALF; number < LANES_RUN; number++) {
			lane_post_receives(lane, number, 1);
			lane_expect_plain(lane, number, 1);
		}
		lanes_expect_all_sent(0, LANES_RUN);
		lanes_expect_nothing();
	}
}

/* The receiver drops the messages left in the ring; another connection still finds its own behind
 * them. */
static void expect_lost(unsigned lane)
{
	lanes_expect_nothing();
	lane_post_receives(LANE_OTHER, 0, LANES_RUN);
	lanes_end_run();
	assert_int_equal(lane_post_plain(LANE_OTHER, 0, LANES_RUN), LANES_REPEATS);
	lanes_take();
	lane_expect_plain(LANE_OTHER, 0, LANES_RUN);
	lanes_expect_all_sent(0, LANES_RUN);
	/* Nobody would acknowledge these messages. */
	assert_int_equal(qp_object_destroy(lanes[lane][0].qp), 0);
	lanes[lane][0].qp = NULL;
}

/* On UC and UD the receiver has taken PATHS_HALF messages already, and the rest waits. */
static void begin_run(unsigned lane)
{
	const struct lane_message message = {SEND_SEND, 8, 0, 0};

	lanes_end_run();
	if (lane != LANE_RC)
		lane_post_receives(lane, 0, LANES_HALF);
	for (uint32_t number = 0; number < LANES_RUN; number++)
		assert_int_equal(lane_post(lane, number, &message), number > BURST_POSTS);
	if (lane == LANE_RC)
		return;
	lanes_take();
	lane_expect_plain(lane, 0, LANES_HALF);
	assert_true(pair_channel()->burst_in.repeats < LANES_REPEATS);
}

static void test_a_queue_pair_in_error_takes_nothing_of_a_run(void **state)
{
	const struct qp_attributes error = {.state = QP_ERROR};

	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		begin_run(lane);
		assert_int_equal(
			qp_object_modify(lanes[lane][1].qp, runtime_now(), &error, QP_HAS_STATE),
			0);
		expect_lost(lane);
	}
}

static void test_a_queue_pair_that_is_gone_takes_nothing_of_a_run(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		begin_run(lane);
		assert_int_equal(qp_object_destroy(lanes[lane][1].qp), 0);
		lanes[lane][1].qp = NULL;
		expect_lost(lane);
	}
}

/* The receiver runs with SOFTIB_FAST=0. */
static void test_a_receiver_off_the_lane_takes_runs_as_packets(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		lanes_end_run();
		lane_post_receives(lane, 0, LANES_RUN);
		assert_int_equal(lane_post_plain(lane, 0, LANES_RUN), LANES_REPEATS);
		pair_attachment()->may_go_fast = false;
		adapter_progress(pair.ends[1].adapter, runtime_now());
		assert_int_equal(pair_channel()->burst_in.repeats, LANES_REPEATS);
		lane_expect_plain(lane, 0, LANES_RUN);
		lanes_expect_all_sent(0, LANES_RUN);
		pair_attachment()->may_go_fast = true;
	}
}

/* The key is checked for each message. */
static void test_memory_that_is_gone_ends_a_run(void **state)
{
	struct memory *memory = &adapter_hca(pair.ends[0].adapter)->memory;

	(void)state;
	for (unsigned lane = 0; lane < LANE_TYPES; lane++) {
		struct region *region;
		struct lane_message message = lane_plain;

		lanes_end_run();
		assert_int_equal(region_register(memory, pair.ends[0].pd, lanes_bytes_of(0),
						 PAIR_BUFFER_BYTES / 2,
						 (uintptr_t)lanes_bytes_of(0), 0, &region),
				 0);
		message.lkey = region->key;
		lane_post_receives(lane, 0, LANES_RUN);
		for (uint32_t number = 0; number < LANES_HALF; number++)
			assert_int_equal(lane_post(lane, number, &message), number > BURST_POSTS);
		assert_int_equal(region_deregister(memory, region), 0);
		assert_false(lane_post(lane, LANES_HALF, &message));
		lanes_take();
		lane_expect_plain(lane, 0, LANES_HALF);
		lanes_expect_all_sent(0, LANES_HALF);
		lanes_expect_sent(LANES_HALF, COMPLETION_LOCAL_PROTECTION);
		lanes_expect_nothing();
	}
}

/* These need the same headers: address handle, queue pair and Q_Key. */
static void test_datagrams_to_somewhere_else_are_no_repeats(void **state)
{
	const struct pair_end *from = &lanes[LANE_UD][0];
	const struct burst_out *burst = &pair_attachment()->burst;
	const struct sge sge = {(uintptr_t)lanes_bytes_of(LANES_HALF), 8, pair.ends[0].region->key};

	(void)state;
	lane_post_receives(LANE_UD, 0, LANES_HALF);
	assert_int_equal(lane_post_plain(LANE_UD, 0, LANES_HALF), LANES_HALF - BURST_POSTS - 1);
	assert_true(burst->room);

	const struct address_vector same_address = *burst->address;
	const struct send_request next = {
		.opcode = SEND_SEND,
		.flags = SEND_SIGNALED,
		.address = burst->address,
		.address_pd = from->pd,
		.remote_qpn = burst->remote_qpn,
		.remote_qkey = burst->remote_qkey,
		.sge_count = 1,
		.sges = &sge,
	};
	struct send_request others[] = {next, next, next};

	others[0].address = &same_address;
	others[1].remote_qpn ^= 1;
	others[2].remote_qkey ^= 1;
	for (unsigned i = 0; i < ARRAY_COUNT(others); i++)
		assert_false(template_send_payload_any(from->adapter, &from->qp->qp, &others[i]));
	lanes_take();
	lane_expect_plain(LANE_UD, 0, LANES_HALF);
	lanes_expect_all_sent(0, LANES_HALF);
	lanes_expect_nothing();
}

/* A child must not write to its parent's ring. */
static void test_a_child_does_not_go_on_with_its_parent_s_run(void **state)
{
	int status;

	(void)state;
	lane_post_receives(LANE_RC, 0, LANES_HALF);
	assert_int_equal(lane_post_plain(LANE_RC, 0, LANES_HALF), LANES_HALF - BURST_POSTS - 1);
	runtime_unlock_posted(pair_attachment());

	pid_t child = fork();

	if (child == 0) {
		const struct sge sge = {(uintptr_t)lanes_bytes_of(0), 8, pair.ends[0].region->key};
		const struct send_request request = {
			.opcode = SEND_SEND, .flags = SEND_SIGNALED, .sge_count = 1, .sges = &sge};

		_exit(adapter_post(lanes[LANE_RC][0].adapter, lanes[LANE_RC][0].qp, &request));
	}
	adapter_lock(pair.ends[0].adapter);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	lane_expect_plain(LANE_RC, 0, LANES_HALF);
	lanes_expect_all_sent(0, LANES_HALF);
	lanes_expect_nothing();
}

static int begin_before_the_wrap(void **state)
{
	pair.first_psn = 0xfffff0;
	lanes_begin(state);
	pair.first_psn = 0;
	return 0;
}

static void test_psns_wrap_within_a_run(void **state)
{
	test_posts_in_a_row_are_a_run(state);
	for (unsigned lane = 0; lane < LANE_TYPES; lane++)
		assert_true(lanes[lane][0].qp->qp.requester.next_psn.value < LANES_RUN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		lane_test(test_posts_in_a_row_are_a_run),
		lane_test(test_every_size_up_to_the_largest_repeat),
		lane_test(test_posts_with_something_between_them_are_none),
		lane_test(test_what_comes_between_keeps_its_place),
		lane_test(test_another_queue_pair_between_keeps_its_place),
		lane_test(test_requests_without_completion_go_along),
		lane_test(test_solicited_and_inline_ones_are_runs_of_their_own),
		lane_test(test_a_pulled_message_ends_a_run),
		lane_test(test_a_placed_write_ends_a_run),
		lane_test(test_a_run_goes_on_when_receives_are_posted),
		lane_test(test_a_queue_pair_in_error_takes_nothing_of_a_run),
		lane_test(test_a_queue_pair_that_is_gone_takes_nothing_of_a_run),
		lane_test(test_a_receiver_off_the_lane_takes_runs_as_packets),
		lane_test(test_memory_that_is_gone_ends_a_run),
		lane_test(test_datagrams_to_somewhere_else_are_no_repeats),
		lane_test(test_a_child_does_not_go_on_with_its_parent_s_run),
		cmocka_unit_test_setup_teardown(test_psns_wrap_within_a_run, begin_before_the_wrap,
						lanes_end),
	};

	return cmocka_run_group_tests(tests, lanes_start, pair_end_all);
}
