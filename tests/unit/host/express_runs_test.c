/* SPDX-License-Identifier: Apache-2.0 */
/* Runs from end to end on a fake softibd: SENDs posted in a row, what comes between them and what
 * becomes of their receiver. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "host/express_lane.h"
#include "host/pull_lane.h"
#include "host/receive.h"
#include "host/runs.h"
#include "unit/host/host_pair.h"
#include "wire/packet.h"

enum {
	RUN = 40, /* posts; the first ones, and the model, are no repeats */
	REPEATS = RUN - RUN_POSTS - 1,
	HALF = 10,
	STEP_BYTES = 8192,
	RECEIVED_AT = PAIR_BUFFER_BYTES / 2,
	IMMEDIATE = 0x12345678,
};

/* One queue pair of each type at both ends; and another connection. */
enum { RC, UC, UD, TYPES, OTHER = TYPES, LANES };

static struct pair_end lanes[LANES][2];

static bool is_datagram(unsigned lane)
{
	return lanes[lane][0].qp->qp.type == QP_UD;
}

static uint8_t *bytes_of(uint32_t number)
{
	return pair.ends[0].buffer + number * STEP_BYTES;
}

static uint8_t *place_of(uint32_t number)
{
	return pair.ends[1].buffer + RECEIVED_AT + number * STEP_BYTES;
}

static void post_receives(unsigned lane, uint32_t first, uint32_t count)
{
	for (uint32_t number = first; number < first + count; number++) {
		const struct sge sge = {(uintptr_t)place_of(number), STEP_BYTES,
					pair.ends[1].region->key};
		const struct receive_request request = {
			.wr_id = number, .sge_count = 1, .sges = &sge};

		memset(place_of(number), 0xee, STEP_BYTES);
		assert_int_equal(qp_object_post_receive(lanes[lane][1].qp, 0, &request), 0);
	}
}

struct message {
	enum send_opcode opcode;
	uint32_t byte_count;
	uint32_t flags;
	uint32_t lkey; /* 0: the buffer's */
};

static const struct message plain = {SEND_SEND, 8, SEND_SIGNALED, 0};

/* As leaving the lock does. The helper, which would take it then, stays out whatever it is told. */
static void end_run(void)
{
	pair_attachment()->run = (struct run_out){0};
	pair_attachment()->helper_mode = HELPER_STAYING_OUT;
}

/* As the next one of a list that ibv_post_send was given. Returns whether it is a repeat. */
static bool post(unsigned lane, uint32_t number, const struct message *message)
{
	static const struct address_vector address = {.dlid = 2, .port_number = 1};
	struct pair_end *end = &lanes[lane][0];
	const struct sge sge = {(uintptr_t)bytes_of(number), message->byte_count,
				message->lkey ? message->lkey : pair.ends[0].region->key};
	const struct send_request request = {
		.wr_id = number,
		.opcode = message->opcode,
		.flags = message->flags,
		.immediate_or_rkey = IMMEDIATE,
		.remote_address = (uintptr_t)place_of(number),
		.remote_key = pair.ends[1].region->key,
		.address = &address,
		.address_pd = end->pd,
		.remote_qpn = lanes[lane][1].qp->qp.qpn,
		.remote_qkey = PAIR_QKEY,
		.sge_count = 1,
		.sges = &sge,
	};
	uint64_t tail = pair_channel()->out.tail;

	pair_fill(bytes_of(number), message->byte_count, number);
	if (!(message->opcode == SEND_RDMA_WRITE
		      ? adapter_place_listed(end->adapter, end->qp, &request)
		      : adapter_post_listed(end->adapter, end->qp, &request))) {
		assert_int_equal(qp_post_send(&end->qp->qp, adapter_now(end->adapter), &request), 0);
		adapter_send(end->adapter, end->qp);
		end_run();
		return false;
	}
	return pair_channel()->out.tail - tail < RING_CACHE_LINE;
}

static unsigned post_plain(unsigned lane, uint32_t first, uint32_t count)
{
	unsigned repeats = 0;

	for (uint32_t number = first; number < first + count; number++)
		repeats += post(lane, number, &plain);
	return repeats;
}

/* Until there is nothing to take, by the lane as far as that goes. */
static void take(void)
{
	enum express_round round;

	do {
		round = express_lane_round(pair_attachment());
		if (round == EXPRESS_LONG_WAY)
			adapter_progress(pair.ends[1].adapter, attachment_now());
	} while (round == EXPRESS_DONE);
}

static const struct completion *next_completion(const struct pair_end *end)
{
	time_ns start = attachment_now();

	while (!cq_first(end->cq)) {
		assert_false(pair_is_overdue(start));
		adapter_progress(end->adapter, attachment_now());
	}
	return cq_first(end->cq);
}

static void expect_received(unsigned lane, uint32_t number, const struct message *message)
{
	const struct completion *completion = next_completion(&pair.ends[1]);
	uint32_t room = is_datagram(lane) ? GRH_BYTES : 0;
	bool has_immediate = message->opcode == SEND_SEND_IMMEDIATE;
	uint8_t expected[STEP_BYTES];

	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	assert_int_equal(completion->wr_id, number);
	assert_int_equal(completion->qpn, lanes[lane][1].qp->qp.qpn);
	assert_int_equal(completion->source_qpn, lanes[lane][0].qp->qp.qpn);
	assert_int_equal(completion->byte_count, message->byte_count + room);
	assert_int_equal(completion->flags, has_immediate ? COMPLETION_HAS_IMMEDIATE : 0);
	assert_int_equal(completion->is_solicited, !!(message->flags & SEND_SOLICITED));
	if (has_immediate)
		assert_int_equal(completion->immediate_or_rkey, IMMEDIATE);
	pair_fill(expected, message->byte_count, number);
	assert_memory_equal(place_of(number) + room, expected, message->byte_count);
	/* And nothing behind it: pad bytes are not payload. */
	assert_int_equal(place_of(number)[room + message->byte_count], 0xee);
	cq_advance(pair.ends[1].cq);
}

static void expect_sent(uint32_t number, enum completion_status status)
{
	const struct completion *completion = next_completion(&pair.ends[0]);

	assert_int_equal(completion->status, status);
	assert_int_equal(completion->wr_id, number);
	cq_advance(pair.ends[0].cq);
}

static void expect_plain(unsigned lane, uint32_t first, uint32_t count)
{
	for (uint32_t number = first; number < first + count; number++)
		expect_received(lane, number, &plain);
}

static void expect_all_sent(uint32_t first, uint32_t count)
{
	for (uint32_t number = first; number < first + count; number++)
		expect_sent(number, COMPLETION_SUCCESS);
}

static void expect_nothing(void)
{
	take();
	assert_null(cq_first(pair.ends[0].cq));
	assert_null(cq_first(pair.ends[1].cq));
}

/* Finds its way. */
static void warm_up(unsigned lane)
{
	end_run();
	for (unsigned i = 0; i < 3; i++) {
		post_receives(lane, 0, 1);
		(void)post(lane, 0, &plain);
		take();
		expect_plain(lane, 0, 1);
		expect_all_sent(0, 1);
	}
	end_run();
}

static int start(void **state)
{
	if (pair_start_connected(state) != 0)
		return -1;
	adapter_lock(pair.ends[0].adapter);
	pair_share_buffer(&pair.ends[0]);
	adapter_unlock(pair.ends[0].adapter);
	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 0; i < 4; i++)
		pair_send_and_check(8, i);
	return 0;
}

/* New queue pairs. The lock is the test's, so that neither helper nor fake softibd take part. */
static int begin(void **state)
{
	(void)state;
	pair_connect_another_as(QP_RC, lanes[RC]);
	pair_connect_another_as(QP_UC, lanes[UC]);
	pair_make_datagram_ends(lanes[UD]);
	pair_connect_another_as(QP_RC, lanes[OTHER]);
	adapter_lock(pair.ends[0].adapter);
	pair_channel()->patience.max_ns = pair_channel()->patience.left_ns = SECONDS(1000);
	for (unsigned lane = 0; lane < LANES; lane++)
		warm_up(lane);
	return 0;
}

static int end(void **state)
{
	bool is_empty = !cq_first(pair.ends[0].cq) && !cq_first(pair.ends[1].cq);

	(void)state;
	for (unsigned lane = 0; lane < LANES; lane++)
		for (unsigned i = 0; i < 2; i++)
			if (lanes[lane][i].qp)
				assert_int_equal(qp_object_destroy(lanes[lane][i].qp), 0);
	for (unsigned i = 0; i < 2; i++)
		while (cq_first(pair.ends[i].cq))
			cq_advance(pair.ends[i].cq);
	adapter_unlock(pair.ends[0].adapter);
	return is_empty ? 0 : -1;
}

static void test_posts_in_a_row_are_a_run(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++) {
		end_run();
		post_receives(lane, 0, RUN);
		assert_int_equal(post_plain(lane, 0, RUN), REPEATS);
		take();
		assert_int_equal(pair_channel()->run_in.repeats, REPEATS);
		expect_plain(lane, 0, RUN);
		expect_all_sent(0, RUN);
	}
}

static void test_every_size_up_to_the_largest_repeat(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++)
		for (uint32_t size = 0; size <= RING_REPEAT_BYTES_MAX + 1; size++) {
			const struct message message = {SEND_SEND, size, SEND_SIGNALED, 0};
			bool may_repeat = size && size <= RING_REPEAT_BYTES_MAX;
			unsigned repeats = 0;

			end_run();
			post_receives(lane, 0, HALF);
			for (uint32_t i = 0; i < HALF; i++)
				repeats += post(lane, i, &message);
			assert_int_equal(repeats, may_repeat ? HALF - RUN_POSTS - 1 : 0);
			take();
			for (uint32_t i = 0; i < HALF; i++)
				expect_received(lane, i, &message);
			expect_all_sent(0, HALF);
		}
}

/* As when the program polls between two posts. */
static void look_elsewhere(void)
{
	pair_attachment()->run.qp = NULL;
}

static void test_who_had_a_run_begins_the_next_at_once(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++) {
		end_run();
		post_receives(lane, 0, 2 * HALF);
		assert_int_equal(post_plain(lane, 0, HALF), HALF - RUN_POSTS - 1);
		look_elsewhere();
		assert_int_equal(post_plain(lane, HALF, HALF), HALF - 1);
		take();
		expect_plain(lane, 0, 2 * HALF);
		expect_all_sent(0, 2 * HALF);
	}
}

static void test_who_had_a_run_and_now_waits_has_none(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++) {
		end_run();
		post_receives(lane, 0, RUN);
		(void)post_plain(lane, 0, HALF);
		for (uint32_t i = HALF; i < RUN; i++) {
			look_elsewhere();
			assert_false(post(lane, i, &plain));
		}
		assert_true(run_posts(&pair_attachment()->run, &lanes[lane][0].qp->qp) < RUN_POSTS);
		take();
		expect_plain(lane, 0, RUN);
		expect_all_sent(0, RUN);
	}
}

/* The send queue holds no more. */
static void test_a_full_send_queue_ends_a_run(void **state)
{
	struct send_queue *queue = &lanes[RC][0].qp->qp.requester.queue;
	uint32_t requests_max = queue->requests_max;

	(void)state;
	end_run();
	queue->requests_max = HALF;
	post_receives(RC, 0, 2 * HALF);
	assert_int_equal(post_plain(RC, 0, HALF), HALF - RUN_POSTS - 1);
	assert_int_equal(pair_attachment()->run.room, 0);
	take();
	expect_plain(RC, 0, HALF);
	expect_all_sent(0, HALF);
	queue->requests_max = requests_max;
	assert_int_equal(post_plain(RC, HALF, HALF), HALF - 1);
	take();
	expect_plain(RC, HALF, HALF);
	expect_all_sent(HALF, HALF);
}

/* Somebody who waits for each answer has no use for one. */
static void test_posts_with_something_between_them_are_none(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++)
		for (uint32_t i = 0; i < RUN; i++) {
			post_receives(lane, i, 1);
			assert_false(post(lane, i, &plain));
			take();
			expect_plain(lane, i, 1);
			expect_all_sent(i, 1);
			end_run();
		}
}

/* Posts HALF, one that is different by the given lane, and HALF. */
static void run_around(unsigned lane, unsigned odd_lane, const struct message *odd)
{
	bool takes_receive = odd->opcode != SEND_RDMA_WRITE;

	end_run();
	post_receives(lane, 0, HALF);
	if (takes_receive)
		post_receives(odd_lane, HALF, 1);
	post_receives(lane, HALF + 1, HALF);
	assert_int_equal(post_plain(lane, 0, HALF), HALF - RUN_POSTS - 1);
	assert_false(post(odd_lane, HALF, odd));
	(void)post_plain(lane, HALF + 1, HALF);
	take();
	expect_plain(lane, 0, HALF);
	if (takes_receive)
		expect_received(odd_lane, HALF, odd);
	expect_plain(lane, HALF + 1, HALF);
}

static void test_what_comes_between_keeps_its_place(void **state)
{
	static const struct message odd[] = {
		{SEND_SEND_IMMEDIATE, 8, SEND_SIGNALED, 0},
		{SEND_SEND_IMMEDIATE, 4, SEND_SIGNALED, 0}, /* as long as a model of 8 bytes */
		{SEND_SEND, 100, SEND_SIGNALED, 0},
		{SEND_SEND, 24, SEND_SIGNALED, 0},
		{SEND_SEND, 7, SEND_SIGNALED, 0}, /* the same but for a pad byte */
		{SEND_SEND, 0, SEND_SIGNALED, 0},
		{SEND_SEND, 8, SEND_SIGNALED | SEND_SOLICITED, 0},
		{SEND_SEND, 8, SEND_SIGNALED | SEND_INLINE, 0},
		{SEND_SEND, 8, SEND_SIGNALED | SEND_FENCE, 0},
		{SEND_RDMA_WRITE, 8, SEND_SIGNALED, 0},
	};

	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++)
		for (unsigned i = 0; i < ARRAY_COUNT(odd); i++) {
			if (is_datagram(lane) && odd[i].opcode == SEND_RDMA_WRITE)
				continue;
			run_around(lane, lane, &odd[i]);
			expect_all_sent(0, 2 * HALF + 1);
		}
}

static void test_another_queue_pair_between_keeps_its_place(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++) {
		const struct message unsignaled = {SEND_SEND, 8, 0, 0};

		run_around(lane, OTHER, &unsignaled);
		expect_all_sent(0, HALF);
		expect_all_sent(HALF + 1, HALF);
	}
}

/* Whether a completion is asked for is nobody's business but the sender's. */
static void test_requests_without_completion_go_along(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++) {
		unsigned repeats = 0;

		end_run();
		post_receives(lane, 0, RUN);
		for (uint32_t i = 0; i < RUN; i++) {
			const struct message message = {SEND_SEND, 8, i % 4 == 3 ? SEND_SIGNALED : 0,
							0};

			repeats += post(lane, i, &message);
		}
		assert_int_equal(repeats, REPEATS);
		take();
		expect_plain(lane, 0, RUN);
		for (uint32_t i = 3; i < RUN; i += 4)
			expect_sent(i, COMPLETION_SUCCESS);
	}
}

static void test_solicited_and_inline_ones_are_runs_of_their_own(void **state)
{
	static const uint32_t flags[] = {SEND_SOLICITED, SEND_INLINE, SEND_SOLICITED | SEND_INLINE};

	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++)
		for (unsigned i = 0; i < ARRAY_COUNT(flags); i++) {
			const struct message message = {SEND_SEND, 8, SEND_SIGNALED | flags[i], 0};
			unsigned repeats = 0;

			end_run();
			post_receives(lane, 0, RUN);
			for (uint32_t number = 0; number < RUN; number++)
				repeats += post(lane, number, &message);
			assert_int_equal(repeats, REPEATS);
			take();
			for (uint32_t number = 0; number < RUN; number++)
				expect_received(lane, number, &message);
			expect_all_sent(0, RUN);
		}
}

/* What is pulled has PSNs, too: a repeat behind it would have the wrong one. */
static void test_a_pulled_message_ends_a_run(void **state)
{
	static const uint32_t sizes[] = {PULL_LANE_BYTES_MIN, 4096};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		const struct message message = {SEND_SEND, sizes[i], SEND_SIGNALED, 0};
		struct requester *requester = &lanes[RC][0].qp->qp.requester;

		run_around(RC, RC, &message);
		expect_all_sent(0, 2 * HALF + 1);
		/* Nothing was asked for again. */
		assert_int_equal(requester->retries_left, lanes[RC][0].qp->qp.attributes.retry_count);
	}
}

/* A WRITE past the packets has PSNs, too. It goes as soon as the peer has read what was before it, which
 * it may do while a list is being posted. */
static void test_a_placed_write_ends_a_run(void **state)
{
	const struct message write = {SEND_RDMA_WRITE, 8, SEND_SIGNALED, 0};
	time_ns start = attachment_now();
	uint64_t tail;

	(void)state;
	do {
		assert_false(pair_is_overdue(start));
		tail = pair_channel()->out.tail;
		(void)post(UC, 0, &write);
		expect_all_sent(0, 1);
		take();
		end_run();
	} while (pair_channel()->out.tail != tail);
	post_receives(UC, 0, HALF);
	post_receives(UC, HALF + 1, HALF);
	assert_int_equal(post_plain(UC, 0, HALF), HALF - RUN_POSTS - 1);
	take();
	channel_release(pair_channel());
	tail = pair_channel()->out.tail;
	(void)post(UC, HALF, &write);
	assert_int_equal(pair_channel()->out.tail, tail);
	(void)post_plain(UC, HALF + 1, HALF);
	take();
	expect_plain(UC, 0, HALF);
	expect_plain(UC, HALF + 1, HALF);
	expect_all_sent(0, 2 * HALF + 1);
	/* Nobody misses a message on an unreliable connection; PSNs tell. */
	assert_int_equal(lanes[UC][1].qp->qp.responder.expected_psn.value,
			 lanes[UC][0].qp->qp.requester.next_psn.value);
}

/* A connection is told to come again; of the others, all that there is no room for waits. */
static void test_a_run_goes_on_when_receives_are_posted(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++) {
		end_run();
		post_receives(lane, 0, HALF);
		assert_int_equal(post_plain(lane, 0, RUN), REPEATS);
		take();
		expect_plain(lane, 0, HALF);
		take();
		assert_null(cq_first(pair.ends[1].cq));
		if (lane != RC)
			assert_true(channel_holds_back(pair_channel()));
		for (uint32_t number = HALF; number < RUN; number++) {
			post_receives(lane, number, 1);
			expect_plain(lane, number, 1);
		}
		expect_all_sent(0, RUN);
		expect_nothing();
	}
}

/* What is in the ring then is nobody's; others find theirs behind it. */
static void expect_lost(unsigned lane)
{
	expect_nothing();
	post_receives(OTHER, 0, RUN);
	end_run();
	assert_int_equal(post_plain(OTHER, 0, RUN), REPEATS);
	take();
	expect_plain(OTHER, 0, RUN);
	expect_all_sent(0, RUN);
	/* There is nobody who would acknowledge it. */
	assert_int_equal(qp_object_destroy(lanes[lane][0].qp), 0);
	lanes[lane][0].qp = NULL;
}

/* HALF of it was taken before, where that leaves the rest waiting. */
static void begin_run(unsigned lane)
{
	const struct message message = {SEND_SEND, 8, 0, 0};

	end_run();
	if (lane != RC)
		post_receives(lane, 0, HALF);
	for (uint32_t number = 0; number < RUN; number++)
		assert_int_equal(post(lane, number, &message), number > RUN_POSTS);
	if (lane == RC)
		return;
	take();
	expect_plain(lane, 0, HALF);
	assert_true(pair_channel()->run_in.repeats < REPEATS);
}

static void test_a_queue_pair_in_error_takes_nothing_of_a_run(void **state)
{
	const struct qp_attributes error = {.state = QP_ERROR};

	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++) {
		begin_run(lane);
		assert_int_equal(qp_object_modify(lanes[lane][1].qp, attachment_now(), &error,
						  QP_HAS_STATE),
				 0);
		expect_lost(lane);
	}
}

static void test_a_queue_pair_that_is_gone_takes_nothing_of_a_run(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++) {
		begin_run(lane);
		assert_int_equal(qp_object_destroy(lanes[lane][1].qp), 0);
		lanes[lane][1].qp = NULL;
		expect_lost(lane);
	}
}

/* SOFTIB_FAST=0 there. */
static void test_a_receiver_off_the_lane_takes_runs_as_packets(void **state)
{
	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++) {
		end_run();
		post_receives(lane, 0, RUN);
		assert_int_equal(post_plain(lane, 0, RUN), REPEATS);
		pair_attachment()->may_express = false;
		adapter_progress(pair.ends[1].adapter, attachment_now());
		assert_int_equal(pair_channel()->run_in.repeats, REPEATS);
		expect_plain(lane, 0, RUN);
		expect_all_sent(0, RUN);
		pair_attachment()->may_express = true;
	}
}

/* Its key is looked at for each. */
static void test_memory_that_is_gone_ends_a_run(void **state)
{
	struct memory *memory = &adapter_hca(pair.ends[0].adapter)->memory;

	(void)state;
	for (unsigned lane = 0; lane < TYPES; lane++) {
		struct region *region;
		struct message message = plain;

		end_run();
		assert_int_equal(region_register(memory, pair.ends[0].pd, bytes_of(0),
						 RUN * STEP_BYTES, (uintptr_t)bytes_of(0), 0,
						 &region),
				 0);
		message.lkey = region->key;
		post_receives(lane, 0, RUN);
		for (uint32_t number = 0; number < HALF; number++)
			assert_int_equal(post(lane, number, &message), number > RUN_POSTS);
		assert_int_equal(region_deregister(memory, region), 0);
		assert_false(post(lane, HALF, &message));
		take();
		expect_plain(lane, 0, HALF);
		expect_all_sent(0, HALF);
		expect_sent(HALF, COMPLETION_LOCAL_PROTECTION);
		expect_nothing();
	}
}

/* The same headers are asked for: address handle, queue pair and Q_Key. */
static void test_datagrams_to_somewhere_else_are_no_repeats(void **state)
{
	const struct pair_end *from = &lanes[UD][0];
	const struct run_out *run = &pair_attachment()->run;
	const struct sge sge = {(uintptr_t)bytes_of(HALF), 8, pair.ends[0].region->key};

	(void)state;
	post_receives(UD, 0, HALF);
	assert_int_equal(post_plain(UD, 0, HALF), HALF - RUN_POSTS - 1);
	assert_true(run->room);

	const struct address_vector same_address = *run->address;
	const struct send_request next = {
		.opcode = SEND_SEND,
		.flags = SEND_SIGNALED,
		.address = run->address,
		.address_pd = from->pd,
		.remote_qpn = run->remote_qpn,
		.remote_qkey = run->remote_qkey,
		.sge_count = 1,
		.sges = &sge,
	};
	struct send_request others[] = {next, next, next};

	others[0].address = &same_address;
	others[1].remote_qpn ^= 1;
	others[2].remote_qkey ^= 1;
	for (unsigned i = 0; i < ARRAY_COUNT(others); i++)
		assert_false(express_lane_repeat(from->adapter, &from->qp->qp, &others[i]));
	take();
	expect_plain(UD, 0, HALF);
	expect_all_sent(0, HALF);
	expect_nothing();
}

/* A child has no part in the ring. */
static void test_a_child_does_not_go_on_with_its_parent_s_run(void **state)
{
	int status;

	(void)state;
	post_receives(RC, 0, HALF);
	assert_int_equal(post_plain(RC, 0, HALF), HALF - RUN_POSTS - 1);
	attachment_unlock_posted(pair_attachment());

	pid_t child = fork();

	if (child == 0) {
		const struct sge sge = {(uintptr_t)bytes_of(0), 8, pair.ends[0].region->key};
		const struct send_request request = {.opcode = SEND_SEND,
						     .flags = SEND_SIGNALED,
						     .sge_count = 1,
						     .sges = &sge};

		_exit(adapter_post(lanes[RC][0].adapter, lanes[RC][0].qp, &request));
	}
	adapter_lock(pair.ends[0].adapter);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	expect_plain(RC, 0, HALF);
	expect_all_sent(0, HALF);
	expect_nothing();
}

static int begin_before_the_wrap(void **state)
{
	pair.first_psn = 0xfffff0;
	begin(state);
	pair.first_psn = 0;
	return 0;
}

static void test_psns_wrap_within_a_run(void **state)
{
	test_posts_in_a_row_are_a_run(state);
	for (unsigned lane = 0; lane < TYPES; lane++)
		assert_true(lanes[lane][0].qp->qp.requester.next_psn.value < RUN);
}

#define lane_test(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		lane_test(test_posts_in_a_row_are_a_run),
		lane_test(test_every_size_up_to_the_largest_repeat),
		lane_test(test_who_had_a_run_begins_the_next_at_once),
		lane_test(test_who_had_a_run_and_now_waits_has_none),
		lane_test(test_a_full_send_queue_ends_a_run),
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
		cmocka_unit_test_setup_teardown(test_psns_wrap_within_a_run, begin_before_the_wrap, end),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
