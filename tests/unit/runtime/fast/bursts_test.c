/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts from end to end on a fake softibd: SENDs posted in a row, other requests between them, and
 * receivers that fail or go away. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "runtime/zcopy/zcopy_send.h"
#include "unit/runtime/burst_paths.h"

static void test_posts_in_a_row_are_a_burst(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		paths_end_bursts();
		path_post_receives(path, 0, PATHS_BURST);
		assert_int_equal(path_post_plain(path, 0, PATHS_BURST), PATHS_PAYLOADS);
		paths_take();
		assert_int_equal(pair_channel()->burst_in.payloads, PATHS_PAYLOADS);
		path_expect_plain(path, 0, PATHS_BURST);
		paths_expect_all_sent(0, PATHS_BURST);
	}
}

static void test_every_size_up_to_the_largest_payload_record(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++)
		for (uint32_t size = 0; size <= RING_PAYLOAD_BYTES_MAX + 1; size++) {
			const struct path_message message = {SEND_SEND, size, SEND_SIGNALED, 0};
			const bool is_fetched =
				size >= ZCOPY_BYTES_MIN && paths[path][0].qp->qp.type != QP_UC;
			bool may_be_payload = size && size <= RING_PAYLOAD_BYTES_MAX && !is_fetched;
			const struct ring_producer *out = &pair_channel()->out;
			const uint64_t lap = out->tail / out->data_bytes;
			unsigned payloads = 0;

			paths_end_bursts();
			path_post_receives(path, 0, PATHS_HALF);
			for (uint32_t i = 0; i < PATHS_HALF; i++)
				payloads += path_post(path, i, &message);
			/* The end of the ring needs a second template. */
			if (payloads && out->tail / out->data_bytes != lap)
				payloads = PATHS_HALF - BURST_POSTS - 1;
			assert_int_equal(payloads,
					 may_be_payload ? PATHS_HALF - BURST_POSTS - 1 : 0);
			paths_take();
			for (uint32_t i = 0; i < PATHS_HALF; i++)
				path_expect_received(path, i, &message);
			paths_expect_all_sent(0, PATHS_HALF);
		}
}

/* A program that waits for each answer has no use for a burst. */
static void test_posts_with_something_between_them_are_no_burst(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++)
		for (uint32_t i = 0; i < PATHS_BURST; i++) {
			path_post_receives(path, i, 1);
			assert_false(path_post(path, i, &path_plain));
			paths_take();
			path_expect_plain(path, i, 1);
			paths_expect_all_sent(i, 1);
			paths_end_bursts();
		}
}

static unsigned post_half(unsigned path, uint32_t first, const struct path_message *message)
{
	unsigned payloads = 0;

	for (uint32_t number = first; number < first + PATHS_HALF; number++)
		payloads += path_post(path, number, message);
	return payloads;
}

static void expect_half(unsigned path, uint32_t first, const struct path_message *message)
{
	for (uint32_t number = first; number < first + PATHS_HALF; number++)
		path_expect_received(path, number, message);
}

/* Posts PATHS_HALF messages, one that differs on the given path, and PATHS_HALF messages. Returns
 * how many of the first half are payload records. */
static unsigned burst_of_around(const struct path_message *message, unsigned path,
				unsigned odd_path, const struct path_message *odd)
{
	bool takes_receive = odd->opcode != SEND_RDMA_WRITE;

	paths_end_bursts();
	path_post_receives(path, 0, PATHS_HALF);
	if (takes_receive)
		path_post_receives(odd_path, PATHS_HALF, 1);
	path_post_receives(path, PATHS_HALF + 1, PATHS_HALF);

	unsigned payloads = post_half(path, 0, message);

	assert_false(path_post(odd_path, PATHS_HALF, odd));
	(void)post_half(path, PATHS_HALF + 1, message);
	paths_take();
	expect_half(path, 0, message);
	if (takes_receive)
		path_expect_received(odd_path, PATHS_HALF, odd);
	expect_half(path, PATHS_HALF + 1, message);
	return payloads;
}

static void burst_around(unsigned path, unsigned odd_path, const struct path_message *odd)
{
	assert_int_equal(burst_of_around(&path_plain, path, odd_path, odd),
			 PATHS_HALF - BURST_POSTS - 1);
}

static void test_messages_in_between_keep_their_order(void **state)
{
	static const struct path_message odd[] = {
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
	for (unsigned path = 0; path < PATH_TYPES; path++)
		for (unsigned i = 0; i < ARRAY_COUNT(odd); i++) {
			if (path_is_datagram(path) && odd[i].opcode == SEND_RDMA_WRITE)
				continue;
			burst_around(path, path, &odd[i]);
			paths_expect_all_sent(0, 2 * PATHS_HALF + 1);
		}
}

static void test_another_queue_pair_between_keeps_its_order(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		const struct path_message unsignaled = {SEND_SEND, 8, 0, 0};

		burst_around(path, PATH_OTHER, &unsignaled);
		paths_expect_all_sent(0, PATHS_HALF);
		paths_expect_all_sent(PATHS_HALF + 1, PATHS_HALF);
	}
}

/* Only the sender needs to know whether a completion was requested. */
static void test_requests_without_completion_go_along(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		unsigned payloads = 0;

		paths_end_bursts();
		path_post_receives(path, 0, PATHS_BURST);
		for (uint32_t i = 0; i < PATHS_BURST; i++) {
			const struct path_message message = {SEND_SEND, 8,
							     i % 4 == 3 ? SEND_SIGNALED : 0, 0};

			payloads += path_post(path, i, &message);
		}
		assert_int_equal(payloads, PATHS_PAYLOADS);
		paths_take();
		path_expect_plain(path, 0, PATHS_BURST);
		for (uint32_t i = 3; i < PATHS_BURST; i += 4)
			paths_expect_sent(i, COMPLETION_SUCCESS);
	}
}

static void test_solicited_and_inline_messages_are_bursts_of_their_own(void **state)
{
	static const uint32_t flags[] = {SEND_SOLICITED, SEND_INLINE, SEND_SOLICITED | SEND_INLINE};

	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++)
		for (unsigned i = 0; i < ARRAY_COUNT(flags); i++) {
			const struct path_message message = {SEND_SEND, 8, SEND_SIGNALED | flags[i],
							     0};
			unsigned payloads = 0;

			paths_end_bursts();
			path_post_receives(path, 0, PATHS_BURST);
			for (uint32_t number = 0; number < PATHS_BURST; number++)
				payloads += path_post(path, number, &message);
			assert_int_equal(payloads, PATHS_PAYLOADS);
			paths_take();
			for (uint32_t number = 0; number < PATHS_BURST; number++)
				path_expect_received(path, number, &message);
			paths_expect_all_sent(0, PATHS_BURST);
		}
}

/* A zcopy send uses PSNs, too: a payload record behind it would stand for the wrong one. Payload
 * records of 25 to 48 bytes take as much of the ring as a zcopy record. */
static void test_a_zcopy_message_ends_a_burst(void **state)
{
	static const uint32_t zcopy_sizes[] = {ZCOPY_BYTES_MIN, 4096};
	static const uint32_t burst_sizes[] = {8, 24, 25, 48, 49, 511};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(zcopy_sizes) * ARRAY_COUNT(burst_sizes); i++) {
		const struct path_message by_zcopy = {SEND_SEND, zcopy_sizes[i % 2], SEND_SIGNALED,
						      0};
		const struct path_message message = {SEND_SEND, burst_sizes[i / 2], SEND_SIGNALED,
						     0};
		struct requester *requester = &paths[PATH_RC][0].qp->qp.requester;

		assert_true(burst_of_around(&message, PATH_RC, PATH_RC, &by_zcopy) > 0);
		paths_expect_all_sent(0, 2 * PATHS_HALF + 1);
		/* Nothing was retried. */
		assert_int_equal(requester->retries_left,
				 paths[PATH_RC][0].qp->qp.attributes.retry_count);
	}
}

/* A WRITE by RMA uses PSNs, too. It goes as soon as the peer has read the packets before it, which
 * may happen while a list is being posted. */
static void test_a_write_by_rma_ends_a_burst(void **state)
{
	const struct path_message write = {SEND_RDMA_WRITE, 8, SEND_SIGNALED, 0};
	time_ns start = runtime_now();
	uint64_t tail;

	(void)state;
	do {
		assert_false(pair_is_overdue(start));
		tail = pair_channel()->out.tail;
		(void)path_post(PATH_UC, 0, &write);
		paths_expect_all_sent(0, 1);
		paths_take();
		paths_end_bursts();
	} while (pair_channel()->out.tail != tail);
	path_post_receives(PATH_UC, 0, PATHS_HALF);
	path_post_receives(PATH_UC, PATHS_HALF + 1, PATHS_HALF);
	assert_int_equal(path_post_plain(PATH_UC, 0, PATHS_HALF), PATHS_HALF - BURST_POSTS - 1);
	paths_take();
	channel_release(pair_channel());
	tail = pair_channel()->out.tail;
	(void)path_post(PATH_UC, PATHS_HALF, &write);
	assert_int_equal(pair_channel()->out.tail, tail);
	(void)path_post_plain(PATH_UC, PATHS_HALF + 1, PATHS_HALF);
	paths_take();
	path_expect_plain(PATH_UC, 0, PATHS_HALF);
	path_expect_plain(PATH_UC, PATHS_HALF + 1, PATHS_HALF);
	paths_expect_all_sent(0, 2 * PATHS_HALF + 1);
	/* An unreliable connection reports no lost message, so the test compares the PSNs. */
	assert_int_equal(paths[PATH_UC][1].qp->qp.responder.expected_psn.value,
			 paths[PATH_UC][0].qp->qp.requester.next_psn.value);
}

/* RC gets RNR NAKs; on UC and UD the messages without a receive request wait in the ring. */
static void test_a_burst_continues_when_receives_are_posted(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		paths_end_bursts();
		path_post_receives(path, 0, PATHS_HALF);
		assert_int_equal(path_post_plain(path, 0, PATHS_BURST), PATHS_PAYLOADS);
		paths_take();
		path_expect_plain(path, 0, PATHS_HALF);
		paths_take();
		assert_null(cq_first(pair.ends[1].cq));
		if (path != PATH_RC)
			assert_true(channel_holds_back(pair_channel()));
		for (uint32_t number = PATHS_HALF; number < PATHS_BURST; number++) {
			path_post_receives(path, number, 1);
			path_expect_plain(path, number, 1);
		}
		paths_expect_all_sent(0, PATHS_BURST);
		paths_expect_nothing();
	}
}

/* The receiver drops the messages left in the ring; another connection still finds its own behind
 * them. */
static void expect_lost(unsigned path)
{
	paths_expect_nothing();
	path_post_receives(PATH_OTHER, 0, PATHS_BURST);
	paths_end_bursts();
	assert_int_equal(path_post_plain(PATH_OTHER, 0, PATHS_BURST), PATHS_PAYLOADS);
	paths_take();
	path_expect_plain(PATH_OTHER, 0, PATHS_BURST);
	paths_expect_all_sent(0, PATHS_BURST);
	/* Nobody would acknowledge these messages. */
	assert_int_equal(qp_object_destroy(paths[path][0].qp), 0);
	paths[path][0].qp = NULL;
}

/* On UC and UD the receiver has taken PATHS_HALF messages already, and the rest waits. */
static void begin_burst(unsigned path)
{
	const struct path_message message = {SEND_SEND, 8, 0, 0};

	paths_end_bursts();
	if (path != PATH_RC)
		path_post_receives(path, 0, PATHS_HALF);
	for (uint32_t number = 0; number < PATHS_BURST; number++)
		assert_int_equal(path_post(path, number, &message), number > BURST_POSTS);
	if (path == PATH_RC)
		return;
	paths_take();
	path_expect_plain(path, 0, PATHS_HALF);
	assert_true(pair_channel()->burst_in.payloads < PATHS_PAYLOADS);
}

static void test_a_queue_pair_in_error_takes_nothing_of_a_burst(void **state)
{
	const struct qp_attributes error = {.state = QP_ERROR};

	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		assert_int_equal(
			qp_object_modify(paths[path][1].qp, runtime_now(), &error, QP_HAS_STATE),
			0);
		expect_lost(path);
	}
}

static void test_a_destroyed_queue_pair_takes_nothing_of_a_burst(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		begin_burst(path);
		assert_int_equal(qp_object_destroy(paths[path][1].qp), 0);
		paths[path][1].qp = NULL;
		expect_lost(path);
	}
}

/* The receiver runs with SOFTIB_FAST=0. */
static void test_a_receiver_without_the_fast_path_takes_bursts_as_packets(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		paths_end_bursts();
		path_post_receives(path, 0, PATHS_BURST);
		assert_int_equal(path_post_plain(path, 0, PATHS_BURST), PATHS_PAYLOADS);
		pair_runtime()->may_go_fast = false;
		adapter_progress(pair.ends[1].adapter, runtime_now());
		assert_int_equal(pair_channel()->burst_in.payloads, PATHS_PAYLOADS);
		path_expect_plain(path, 0, PATHS_BURST);
		paths_expect_all_sent(0, PATHS_BURST);
		pair_runtime()->may_go_fast = true;
	}
}

/* The key is checked for each message. The deregistration takes the lock. */
static void test_unmapped_memory_ends_a_burst(void **state)
{
	struct memory *memory = &adapter_hca(pair.ends[0].adapter)->memory;

	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		struct region *region;
		struct path_message message = path_plain;

		paths_end_bursts();
		assert_int_equal(region_register(memory, pair.ends[0].pd, paths_bytes_of(0),
						 PAIR_BUFFER_BYTES / 2,
						 (uintptr_t)paths_bytes_of(0), 0, &region),
				 0);
		message.lkey = region->key;
		path_post_receives(path, 0, PATHS_BURST);
		for (uint32_t number = 0; number < PATHS_HALF; number++)
			assert_int_equal(path_post(path, number, &message), number > BURST_POSTS);
		assert_int_equal(region_deregister(memory, region), 0);
		paths_poll_between();
		assert_false(path_post(path, PATHS_HALF, &message));
		paths_take();
		path_expect_plain(path, 0, PATHS_HALF);
		paths_expect_all_sent(0, PATHS_HALF);
		paths_expect_sent(PATHS_HALF, COMPLETION_LOCAL_PROTECTION);
		paths_expect_nothing();
	}
}

/* A payload record has the headers of its template, so the receiver, its queue pair and the Q_Key
 * must be the same. The address handle may be another one. */
static void test_datagrams_to_another_destination_are_no_payload_records(void **state)
{
	(void)state;
	path_post_receives(PATH_UD, 0, PATHS_HALF);
	path_post_receives(PATH_OTHER_UD, PATHS_HALF, 1);
	path_post_receives(PATH_UD, PATHS_HALF + 1, 2);
	assert_int_equal(path_post_plain(PATH_UD, 0, PATHS_HALF), PATHS_HALF - BURST_POSTS - 1);
	assert_false(path_post_to(PATH_UD, PATH_OTHER_UD, PATHS_HALF, &path_plain));
	assert_false(path_post(PATH_UD, PATHS_HALF + 1, &path_plain));
	assert_false(path_post(PATH_UD, PATHS_HALF + 2, &path_plain));
	paths_take();
	path_expect_plain(PATH_UD, 0, PATHS_HALF);
	path_expect_from(PATH_UD, PATH_OTHER_UD, PATHS_HALF, &path_plain);
	path_expect_plain(PATH_UD, PATHS_HALF + 1, 2);
	paths_expect_all_sent(0, PATHS_HALF + 3);
	paths_expect_nothing();
}

/* A child must not write to its parent's ring. */
static void test_a_child_does_not_continue_its_parent_s_burst(void **state)
{
	int status;

	(void)state;
	path_post_receives(PATH_RC, 0, PATHS_HALF);
	assert_int_equal(path_post_plain(PATH_RC, 0, PATHS_HALF), PATHS_HALF - BURST_POSTS - 1);
	adapter_unlock(pair.ends[0].adapter);

	pid_t child = fork();

	if (child == 0) {
		struct pair_end *end = &paths[PATH_RC][0];
		const struct sge sge = {(uintptr_t)paths_bytes_of(0), 8, pair.ends[0].region->key};
		const struct send_request request = {
			.opcode = SEND_SEND, .flags = SEND_SIGNALED, .sge_count = 1, .sges = &sge};

		_exit(pair_post_at_once(end, &request) ||
		      adapter_post_by_template(end->adapter, end->qp, 0, SEND_SIGNALED, &sge));
	}
	adapter_lock(pair.ends[0].adapter);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	path_expect_plain(PATH_RC, 0, PATHS_HALF);
	paths_expect_all_sent(0, PATHS_HALF);
	paths_expect_nothing();
}

static int begin_before_the_wrap(void **state)
{
	pair.first_psn = 0xfffff0;
	paths_begin(state);
	pair.first_psn = 0;
	return 0;
}

static void test_psns_wrap_within_a_burst(void **state)
{
	test_posts_in_a_row_are_a_burst(state);
	for (unsigned path = 0; path < PATH_TYPES; path++)
		assert_true(paths[path][0].qp->qp.requester.next_psn.value < PATHS_BURST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		path_test(test_posts_in_a_row_are_a_burst),
		path_test(test_every_size_up_to_the_largest_payload_record),
		path_test(test_posts_with_something_between_them_are_no_burst),
		path_test(test_messages_in_between_keep_their_order),
		path_test(test_another_queue_pair_between_keeps_its_order),
		path_test(test_requests_without_completion_go_along),
		path_test(test_solicited_and_inline_messages_are_bursts_of_their_own),
		path_test(test_a_zcopy_message_ends_a_burst),
		path_test(test_a_write_by_rma_ends_a_burst),
		path_test(test_a_burst_continues_when_receives_are_posted),
		path_test(test_a_queue_pair_in_error_takes_nothing_of_a_burst),
		path_test(test_a_destroyed_queue_pair_takes_nothing_of_a_burst),
		path_test(test_a_receiver_without_the_fast_path_takes_bursts_as_packets),
		path_test(test_unmapped_memory_ends_a_burst),
		path_test(test_datagrams_to_another_destination_are_no_payload_records),
		path_test(test_a_child_does_not_continue_its_parent_s_burst),
		cmocka_unit_test_setup_teardown(test_psns_wrap_within_a_burst,
						begin_before_the_wrap, paths_end),
	};

	return cmocka_run_group_tests(tests, paths_start, pair_end_all);
}
