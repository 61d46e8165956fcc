/* SPDX-License-Identifier: Apache-2.0 */
/* SENDs that are posted and sent in one go: they leave the same state as queued ones, and only go
 * if they are valid and nothing holds them back. */
#include "runtime/fast/short_send.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "runtime/fast/send_form.h"
#include "net/transport/requester.h"
#include "unit/runtime/runtime_pair.h"

enum { MESSAGES_MAX = BURST_POSTS + 4 };

static struct qp *qp(void)
{
	return &pair.ends[0].qp->qp;
}

static struct sge usual_sge(uint32_t byte_count)
{
	return (struct sge){(uintptr_t)pair.ends[0].buffer, byte_count, pair.ends[0].region->key};
}

static struct send_request request_of(const struct sge *sge, uint32_t flags, uint64_t wr_id)
{
	return (struct send_request){
		.wr_id = wr_id,
		.opcode = SEND_SEND,
		.flags = flags,
		.sge_count = 1,
		.sges = sge,
	};
}

/* The test holds the lock all the time. The progress thread, which waits for the lock, handles
 * timers. */
static void begin(void)
{
	for (unsigned i = 0; i < MESSAGES_MAX; i++)
		pair_post_receive(&pair.ends[1], i, 4096);
	adapter_lock(pair.ends[0].adapter);
	pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
	qp()->templates->burst = (struct send_burst){0};
}

/* Uses the receive requests that are left after so many. */
static void use_up_receives(unsigned used_count)
{
	struct completion completion;

	for (unsigned i = used_count; i < MESSAGES_MAX; i++) {
		pair_post_send(&pair.ends[0], SEND_SEND, i, 1);
		pair_poll_one(&pair.ends[1], &completion);
		pair_poll_one(&pair.ends[0], &completion);
	}
}

/* Releases the lock and receives the messages. Both buffers are equal until the test changes the
 * first. */
static void end(unsigned sent_count)
{
	struct completion completion;

	adapter_unlock(pair.ends[0].adapter);
	for (unsigned i = 0; i < sent_count; i++) {
		pair_poll_one(&pair.ends[1], &completion);
		assert_int_equal(completion.status, COMPLETION_SUCCESS);
		pair_poll_one(&pair.ends[0], &completion);
		assert_int_equal(completion.status, COMPLETION_SUCCESS);
	}
	use_up_receives(sent_count);
}

static bool post(const struct sge *sge, uint32_t flags)
{
	const struct send_request request = request_of(sge, flags, 8);

	return short_send_post(pair.ends[0].adapter, qp(), &request);
}

/* Something else happens between two posts. */
static void turn_between(void)
{
	pair_runtime()->turn += 2;
}

/* ibv_post_send for a SEND that may match the last one of its queue pair. */
static bool post_by_template(const struct sge *sge, uint32_t flags)
{
	return adapter_post_by_template(pair.ends[0].adapter, pair.ends[0].qp, 8, flags, sge);
}

/* Posts a SEND for later ones to match. */
static void remember(uint32_t byte_count, uint32_t flags)
{
	const struct sge sge = usual_sge(byte_count);

	assert_true(post(&sge, flags));
	turn_between();
}

/* Posts to the engine, which makes the packet. */
static void post_to_engine(const struct sge *sge, uint32_t flags)
{
	const struct send_request request = request_of(sge, flags, 8);

	assert_int_equal(qp_post_send(qp(), adapter_now(pair.ends[0].adapter), &request), 0);
	adapter_send(pair.ends[0].adapter, pair.ends[0].qp);
	pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
}

static int start(void **state)
{
	if (pair_start_connected(state) != 0)
		return -1;
	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 0; i < 4; i++)
		pair_send_and_check(8, i);
	return 0;
}

struct left_behind {
	/* The last slot. */
	uint64_t wr_id;
	uint32_t byte_count, opcode, flags, sge_count, packet_count, first_psn;
	uint8_t data[sizeof(struct sge)];
	uint32_t psn, messages, cursor, tail, started;
	uint64_t position, packets, words;
};

static struct left_behind left_behind(void)
{
	const struct requester *requester = &qp()->requester;
	const struct send_slot *slot =
		send_queue_slot(&requester->queue, requester->queue.tail - 1);
	const struct flow *flow = qp()->owner_route;
	struct left_behind left = {
		.wr_id = slot->wr_id,
		.byte_count = slot->byte_count,
		.opcode = slot->opcode,
		.flags = slot->flags,
		.sge_count = slot->sge_count,
		.packet_count = slot->packet_count,
		.first_psn = slot->first_psn.value,
		.psn = requester->next_psn.value,
		.messages = requester->messages_started.value,
		.cursor = requester->cursor,
		.tail = requester->queue.tail,
		.started = requester->queue.started,
		.position = qp()->owner_position,
		.packets = flow->counters->packets,
		.words = flow->counters->words,
	};

	/* Inline bytes, or the SGE. */
	memcpy(left.data, slot->data,
	       !slot->sge_count && slot->byte_count < sizeof(left.data) ? slot->byte_count
									: sizeof(left.data));
	return left;
}

/* Each SEND changes the state by the same step as the SEND before it. */
static void expect_one_further(const struct left_behind before[static 2],
			       const struct left_behind *after)
{
	assert_int_equal(after->wr_id, before[1].wr_id);
	assert_int_equal(after->byte_count, before[1].byte_count);
	assert_int_equal(after->opcode, before[1].opcode);
	assert_int_equal(after->flags, before[1].flags);
	assert_int_equal(after->sge_count, before[1].sge_count);
	assert_int_equal(after->packet_count, 1);
	assert_int_equal(after->first_psn, before[1].first_psn + 1);
	assert_memory_equal(after->data, before[1].data, sizeof(after->data));
	assert_int_equal(after->psn, before[1].psn + 1);
	assert_int_equal(after->messages, before[1].messages + 1);
	assert_int_equal(after->cursor, before[1].cursor + 1);
	assert_int_equal(after->tail, before[1].tail + 1);
	assert_int_equal(after->started, before[1].started + 1);
	assert_int_equal(after->packets, before[1].packets + 1);
	assert_int_equal(after->words - before[1].words, before[1].words - before[0].words);
	assert_true(after->position > before[1].position);
}

/* The engine, a record with the whole packet, a burst's template and a payload record. */
static void test_each_form_leaves_the_same_state(void **state)
{
	static const uint32_t sizes[] = {1, 3, 8, 13, 20, 64, 500};

	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_COUNT(sizes); i++) {
		const uint32_t byte_count = sizes[i / 2];
		const uint32_t flags =
			SEND_SIGNALED | (i % 2 && byte_count <= 64 ? SEND_INLINE : 0);
		const struct sge sge = usual_sge(byte_count);
		struct left_behind left[MESSAGES_MAX + 1];

		pair_fill(pair.ends[0].buffer, byte_count, i);
		memset(pair.ends[1].buffer, 0, 4096);
		begin();
		assert_true(post(&sge, flags)); /* sets the fields that stay the same */
		left[0] = left_behind();
		post_to_engine(&sge, flags);
		left[1] = left_behind();
		for (unsigned j = 2; j < MESSAGES_MAX; j++) {
			assert_true(post(&sge, flags));
			left[j] = left_behind();
			expect_one_further(&left[j - 2], &left[j]);
			/* The timer has no date until a thread with the time sets it. */
			assert_int_equal(qp()->requester.retry_deadline, RETRY_UNDATED);
		}
		assert_true(qp()->templates->burst.payload_bytes == byte_count);
		assert_int_equal(qp()->templates->burst.streak, BURST_POSTS_PAYLOAD);
		end(MESSAGES_MAX);
		assert_memory_equal(pair.ends[1].buffer, pair.ends[0].buffer, byte_count);
	}
}

static void test_messages_by_template_leave_the_state_of_others(void **state)
{
	static const uint32_t sizes[] = {1, 3, 8, 13, 20, 64, 500};

	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_COUNT(sizes); i++) {
		const uint32_t byte_count = sizes[i / 2];
		const uint32_t flags =
			SEND_SIGNALED | (i % 2 && byte_count <= 64 ? SEND_INLINE : 0);
		const struct sge sge = usual_sge(byte_count);
		struct left_behind left[MESSAGES_MAX];

		pair_fill(pair.ends[0].buffer, byte_count, i);
		memset(pair.ends[1].buffer, 0, 4096);
		begin();
		remember(byte_count, flags);
		left[0] = left_behind();
		remember(byte_count, flags);
		left[1] = left_behind();
		/* Single messages by the template never become a burst. */
		for (unsigned j = 2; j < MESSAGES_MAX; j++) {
			assert_true(post_by_template(&sge, flags));
			left[j] = left_behind();
			expect_one_further(&left[j - 2], &left[j]);
			assert_int_equal(left[j].position - left[j - 1].position,
					 left[1].position - left[0].position);
			assert_int_equal(qp()->requester.retry_deadline, RETRY_UNDATED);
			assert_int_equal(qp()->requester.asked_psn.value, left[j].psn);
			turn_between();
		}
		end(MESSAGES_MAX);
		assert_memory_equal(pair.ends[1].buffer, pair.ends[0].buffer, byte_count);
	}
}

/* Their bytes may lie in another region, and only the sender sees whether they are signaled. */
static void test_messages_by_template_may_differ_in_region_and_completion(void **state)
{
	struct memory *memory = &adapter_hca(pair.ends[0].adapter)->memory;
	struct sge sge = usual_sge(8);
	struct completion completion;
	struct region *region;

	(void)state;
	begin();
	assert_int_equal(region_register(memory, pair.ends[0].pd, pair.ends[0].buffer + 4096, 4096,
					 0x1000, 0, &region),
			 0);
	remember(8, SEND_SIGNALED);
	assert_true(post_by_template(&sge, 0));
	assert_int_equal(left_behind().flags, 0);
	turn_between();
	sge = (struct sge){0x1000 + 4096 - 8, 8, region->key};
	pair_fill(pair.ends[0].buffer + 8192 - 8, 8, 5);
	assert_true(post_by_template(&sge, SEND_SIGNALED));
	assert_int_equal(left_behind().flags, SEND_SIGNALED);
	turn_between();
	sge.address++;
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	sge.address--;
	/* The key ends with its region. */
	assert_int_equal(region_deregister(memory, region), 0);
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	adapter_unlock(pair.ends[0].adapter);
	for (unsigned i = 0; i < 3; i++)
		pair_poll_one(&pair.ends[1], &completion);
	for (unsigned i = 0; i < 2; i++)
		pair_poll_one(&pair.ends[0], &completion);
	assert_memory_equal(pair.ends[1].buffer, pair.ends[0].buffer + 8192 - 8, 8);
	use_up_receives(3);
}

/* Whether the SEND may leave at once; if so it finds the bytes that the memory's check finds. */
static bool finds_payload(const struct send_request *request, const uint8_t **ret_payload)
{
	struct fast_packet packet;

	if (!fast_may_post(qp(), qp()->type, request, &packet))
		return false;
	*ret_payload = packet.payload;
	return true;
}

/* Addresses around both ends of the region. */
static void test_payloads_are_those_of_the_region(void **state)
{
	static const uint32_t sizes[] = {1, 8, 100};
	const struct pair_end *end_0 = &pair.ends[0];
	const uint64_t edges[] = {(uintptr_t)end_0->buffer,
				  (uintptr_t)end_0->buffer + PAIR_BUFFER_BYTES};

	(void)state;
	begin();
	for (unsigned i = 0; i < 2 * ARRAY_COUNT(sizes); i++)
		for (int offset = -200; offset <= 200; offset++) {
			const struct sge sge = {edges[i % 2] + (uint64_t)offset, sizes[i / 2],
						end_0->region->key};
			const struct send_request request = request_of(&sge, SEND_SIGNALED, 1);
			const uint8_t *payload = NULL;
			const uint8_t *expected =
				memory_place(qp()->environment->memory, end_0->pd, sge.lkey,
					     sge.address, sizes[i / 2], 0);

			assert_int_equal(finds_payload(&request, &payload), expected != NULL);
			assert_ptr_equal(payload, expected);
		}
	end(0);
}

/* Inline bytes need no key. */
static void test_inline_bytes_are_anywhere(void **state)
{
	uint8_t bytes[8];
	const struct sge sges[] = {{(uintptr_t)bytes, 8, 12345}, {UINT64_MAX - 7, 8, 0}};
	const uint8_t *payload;

	(void)state;
	begin();
	for (unsigned i = 0; i < ARRAY_COUNT(sges); i++) {
		struct send_request request = request_of(&sges[i], SEND_INLINE, 1);

		assert_true(finds_payload(&request, &payload));
		assert_int_equal((uintptr_t)payload, sges[i].address);
		request.flags = 0;
		assert_false(finds_payload(&request, &payload));
	}
	end(0);
}

static void test_requests_that_need_the_engine_are_left(void **state)
{
	const uint64_t buffer_end = (uintptr_t)pair.ends[0].buffer + PAIR_BUFFER_BYTES;
	struct sge sges[2] = {usual_sge(8), usual_sge(8)};
	struct send_request request = request_of(sges, SEND_SIGNALED, 1);

	(void)state;
	begin();
	assert_false(post(&sges[0], SEND_SIGNALED | SEND_FENCE));
	sges[0].lkey ^= 1;
	assert_false(post(&sges[0], SEND_SIGNALED));
	sges[0] = usual_sge(8);
	sges[0].address--;
	assert_false(post(&sges[0], SEND_SIGNALED));
	sges[0].address = buffer_end - 7;
	assert_false(post(&sges[0], SEND_SIGNALED));
	sges[0] = usual_sge(qp()->requester.queue.inline_bytes_max + 1);
	assert_false(post(&sges[0], SEND_SIGNALED | SEND_INLINE));
	sges[0] = usual_sge(8);
	request.sge_count = 2;
	assert_false(short_send_post(pair.ends[0].adapter, qp(), &request));
	request.sge_count = 0;
	assert_false(short_send_post(pair.ends[0].adapter, qp(), &request));
	request.sge_count = 1;
	request.opcode = SEND_SEND_INVALIDATE;
	assert_false(short_send_post(pair.ends[0].adapter, qp(), &request));
	sges[0].address = buffer_end - 8;
	assert_true(post(&sges[0], SEND_SIGNALED));
	end(1);
}

static void test_requests_that_do_not_match_the_last_one_are_left(void **state)
{
	const uint64_t buffer_end = (uintptr_t)pair.ends[0].buffer + PAIR_BUFFER_BYTES;
	struct sge sge = usual_sge(8);
	struct send_request request = request_of(&sge, SEND_SIGNALED, 8);

	(void)state;
	begin();
	remember(8, SEND_SIGNALED);
	assert_false(post_by_template(&sge, SEND_SIGNALED | SEND_SOLICITED));
	assert_false(post_by_template(&sge, SEND_SIGNALED | SEND_INLINE));
	assert_false(post_by_template(&sge, SEND_SIGNALED | SEND_FENCE));
	for (sge.byte_count = 0; sge.byte_count < 100; sge.byte_count++)
		if (sge.byte_count != 8)
			assert_false(post_by_template(&sge, SEND_SIGNALED));
	sge = usual_sge(8);
	sge.lkey ^= 1;
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	sge = usual_sge(8);
	sge.address--;
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	sge.address = buffer_end - 7;
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	sge.address = buffer_end - 8;
	assert_true(post_by_template(&sge, SEND_SIGNALED));
	turn_between();
	/* The last one had no payload, or immediate data. */
	sge = usual_sge(0);
	assert_true(post(&sge, SEND_SIGNALED));
	turn_between();
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	sge = usual_sge(8);
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	request.opcode = SEND_SEND_IMMEDIATE;
	assert_true(short_send_post(pair.ends[0].adapter, qp(), &request));
	turn_between();
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	end(4);
}

/* Inline bytes need no key, and no region. */
static void test_inline_bytes_by_template_are_anywhere(void **state)
{
	uint8_t bytes[8];
	const struct sge sge = {(uintptr_t)bytes, 8, 12345};

	(void)state;
	pair_fill(bytes, 8, 99);
	begin();
	remember(8, SEND_SIGNALED | SEND_INLINE);
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	assert_true(post_by_template(&sge, SEND_SIGNALED | SEND_INLINE));
	adapter_unlock(pair.ends[0].adapter);

	struct completion completion;

	for (unsigned i = 0; i < 4; i++)
		pair_poll_one(&pair.ends[i % 2], &completion);
	assert_memory_equal(pair.ends[1].buffer, bytes, 8);
	use_up_receives(2);
}

static bool is_left(const struct sge *sge)
{
	return !post(sge, SEND_SIGNALED) && !post_by_template(sge, SEND_SIGNALED);
}

/* The peer shows that it has read up to this distance from the tail. */
static void show_head(struct channel *channel, uint64_t distance, uint64_t *ret_head_before)
{
	struct ring_producer *out = &channel->out;

	*ret_head_before = out->shared->head;
	out->head_seen = out->tail - distance;
	__atomic_store_n(&out->shared->head, out->head_seen, __ATOMIC_SEQ_CST);
}

/* The queue pair, the ring or another process forbids it at this moment. */
static void test_requests_that_may_not_go_at_once_are_left(void **state)
{
	struct requester *requester = &qp()->requester;
	struct list other;
	uint64_t head;

	(void)state;
	begin();

	const struct sge sge = usual_sge(8);

	remember(8, SEND_SIGNALED);

	const struct requester before = *requester;
	struct flow *flow = qp()->templates->send.route;
	struct channel *channel = flow->channel;

#define EXPECT_LEFT(change, undo)                                                                  \
	change;                                                                                    \
	assert_true(is_left(&sge));                                                                \
	undo
#define EXPECT_LEFT_WITH(member, value)                                                            \
	EXPECT_LEFT(requester->member = (value), *requester = before)
	EXPECT_LEFT_WITH(hold, HOLD_UNTIL_ACKNOWLEDGED);
	EXPECT_LEFT_WITH(rnr_deadline, 5);
	EXPECT_LEFT_WITH(credits, CREDITS_COUNTED);
	EXPECT_LEFT_WITH(cursor, before.cursor - 1);
	EXPECT_LEFT_WITH(queue.started, before.queue.started - 1);
	EXPECT_LEFT_WITH(queue.head, before.queue.tail - before.queue.requests_max);
	EXPECT_LEFT_WITH(oldest_psn, psn_from(before.next_psn.value - PSNS_OUTSTANDING_MAX));
	EXPECT_LEFT(flow->state = FLOW_RESOLVING, flow->state = FLOW_DIRECT);
	EXPECT_LEFT(__atomic_add_fetch(&pair.softibd.page->generation, 1, __ATOMIC_SEQ_CST),
		    __atomic_sub_fetch(&pair.softibd.page->generation, 1, __ATOMIC_SEQ_CST));
	EXPECT_LEFT(pair_runtime()->may_go_fast = false, pair_runtime()->may_go_fast = true);
	/* Others wait for room, or the queue pair has something else to send first. */
	list_init(&other);
	EXPECT_LEFT(list_append(&channel->waiting, &other), list_remove(&other));
	EXPECT_LEFT(list_append(&channel->waiting, &qp()->ready_link),
		    list_remove(&qp()->ready_link));
	show_head(channel, channel->out.data_bytes, &head);
	EXPECT_LEFT((void)0, show_head(channel, channel->out.tail - head, &head));
	/* What a modify changes. */
	EXPECT_LEFT(qp()->state = QP_SQD; invalidate(qp()->environment), qp()->state = QP_RTS;
		    invalidate(qp()->environment));
	EXPECT_LEFT(qp()->attributes.rate_limit = 5;
		    invalidate(qp()->environment), qp()->attributes.rate_limit = 0;
		    invalidate(qp()->environment));
#undef EXPECT_LEFT_WITH
#undef EXPECT_LEFT
	assert_memory_equal(requester, &before, sizeof(before));
	/* The epoch has ended, so that nothing is known of the last SEND. */
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	assert_true(post(&sge, SEND_SIGNALED));
	turn_between();
	assert_true(post_by_template(&sge, SEND_SIGNALED));
	end(3);
}

/* The flow has been resolved anew, and its path is narrower than before. */
static void test_messages_above_the_mtu_of_the_flow_are_left(void **state)
{
	const struct sge sge = usual_sge(300);

	(void)state;
	begin();
	remember(300, SEND_SIGNALED);

	struct flow *flow = qp()->templates->send.route;

	flow->mtu = 256;

	const bool is_kept = is_left(&sge);

	flow->mtu = 1024;
	end(is_kept ? 1 : 2);
	assert_true(is_kept);
}

static void test_forms_that_are_not_allowed_are_not_used(void **state)
{
	const struct sge sge = usual_sge(8);

	(void)state;
	begin();
	pair_runtime()->forms = 1u << FORM_PACKETS;
	invalidate(qp()->environment);
	assert_true(is_left(&sge));
	pair_runtime()->forms = SEND_FORMS_ALL;
	end(0);
}

/* Posts in a row are a burst, also those that match the one before: a full post makes its template,
 * and payload records follow. */
static void test_posts_in_a_row_are_a_burst(void **state)
{
	const struct sge sge = usual_sge(8);

	(void)state;
	begin();
	assert_true(post(&sge, SEND_SIGNALED));
	for (unsigned i = 1; i < BURST_POSTS; i++)
		assert_true(post_by_template(&sge, SEND_SIGNALED));
	assert_false(post_by_template(&sge, SEND_SIGNALED));
	assert_true(post(&sge, SEND_SIGNALED));
	assert_int_equal(qp()->templates->burst.payload_bytes, 8);
	for (unsigned i = 0; i < 3; i++) {
		const uint64_t end_before = qp()->templates->burst.end;

		assert_true(post_by_template(&sge, SEND_SIGNALED));
		assert_int_equal(qp()->templates->burst.end - end_before, 16);
	}
	end(BURST_POSTS + 4);
}

/* They need neither a message before them that is like them, nor a progress thread that stays out.
 */
static void test_requests_that_vary_go_at_once(void **state)
{
	static const struct {
		uint32_t byte_count, flags;
		enum send_opcode opcode;
	} cases[MESSAGES_MAX] = {
		{8, SEND_SIGNALED, SEND_SEND},
		{8, SEND_SIGNALED, SEND_SEND_IMMEDIATE},
		{0, SEND_SIGNALED, SEND_SEND},
		{0, SEND_SIGNALED | SEND_SOLICITED, SEND_SEND_IMMEDIATE},
		{1024, SEND_SIGNALED, SEND_SEND},
		{64, SEND_SIGNALED | SEND_INLINE, SEND_SEND},
		{7, SEND_SIGNALED | SEND_SOLICITED, SEND_SEND},
		{8, SEND_SIGNALED, SEND_SEND},
	};
	struct completion completion;

	(void)state;
	begin();
	pair_runtime()->progress.mode = PROGRESS_LISTENING;
	pair_runtime()->progress.wakes_at = 0;
	for (unsigned i = 0; i < MESSAGES_MAX; i++) {
		const struct sge sge = usual_sge(cases[i].byte_count);
		struct send_request request = request_of(&sge, cases[i].flags, i);

		request.opcode = cases[i].opcode;
		request.immediate_or_rkey = 100 + i;
		assert_true(short_send_post(pair.ends[0].adapter, qp(), &request));
	}
	pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
	adapter_unlock(pair.ends[0].adapter);
	for (unsigned i = 0; i < MESSAGES_MAX; i++) {
		const bool has_immediate = cases[i].opcode == SEND_SEND_IMMEDIATE;

		pair_poll_one(&pair.ends[1], &completion);
		assert_int_equal(completion.status, COMPLETION_SUCCESS);
		assert_int_equal(completion.byte_count, cases[i].byte_count);
		assert_int_equal(completion.is_solicited, !!(cases[i].flags & SEND_SOLICITED));
		assert_int_equal(completion.flags, has_immediate ? COMPLETION_HAS_IMMEDIATE : 0);
		assert_int_equal(completion.immediate_or_rkey, has_immediate ? 100 + i : 0);
		pair_poll_one(&pair.ends[0], &completion);
		assert_int_equal(completion.status, COMPLETION_SUCCESS);
		assert_int_equal(completion.wr_id, i);
	}
	assert_memory_equal(pair.ends[1].buffer, pair.ends[0].buffer, 1024);
}

/* Whoever drops flows ends the epoch, and the next message looks its flow up. */
static void test_the_flow_is_looked_up_in_each_epoch(void **state)
{
	const struct sge sge = usual_sge(8);

	(void)state;
	begin();
	assert_true(post(&sge, SEND_SIGNALED));

	struct flow *flow = qp()->templates->send.route;

	assert_non_null(flow);
	qp()->templates->send.route = &pair; /* must not be used any more */
	runtime_invalidate(pair_runtime());
	assert_true(post(&sge, SEND_SIGNALED));
	assert_ptr_equal(qp()->templates->send.route, flow);
	assert_ptr_equal(qp()->owner_route, flow);
	end(2);
}

/* It may name another channel or port, on which bursts and RMA rest. */
static void test_an_answer_about_the_flow_ends_the_epoch(void **state)
{
	const uint64_t before = qp()->environment->epoch;

	(void)state;
	__atomic_add_fetch(&pair.softibd.page->generation, 1, __ATOMIC_SEQ_CST);
	pair_send_and_check(8, 99);
	assert_true(qp()->environment->epoch > before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_form_leaves_the_same_state),
		cmocka_unit_test(test_messages_by_template_leave_the_state_of_others),
		cmocka_unit_test(test_messages_by_template_may_differ_in_region_and_completion),
		cmocka_unit_test(test_payloads_are_those_of_the_region),
		cmocka_unit_test(test_inline_bytes_are_anywhere),
		cmocka_unit_test(test_requests_that_need_the_engine_are_left),
		cmocka_unit_test(test_requests_that_do_not_match_the_last_one_are_left),
		cmocka_unit_test(test_inline_bytes_by_template_are_anywhere),
		cmocka_unit_test(test_requests_that_may_not_go_at_once_are_left),
		cmocka_unit_test(test_messages_above_the_mtu_of_the_flow_are_left),
		cmocka_unit_test(test_forms_that_are_not_allowed_are_not_used),
		cmocka_unit_test(test_posts_in_a_row_are_a_burst),
		cmocka_unit_test(test_requests_that_vary_go_at_once),
		cmocka_unit_test(test_the_flow_is_looked_up_in_each_epoch),
		cmocka_unit_test(test_an_answer_about_the_flow_ends_the_epoch),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
