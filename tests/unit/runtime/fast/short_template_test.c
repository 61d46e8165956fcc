/* SPDX-License-Identifier: Apache-2.0 */
/* Single SENDs by the send template: they leave the same state as any other SEND, and only go while
 * the template holds. */
#include "runtime/fast/send_template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "runtime/fast/template_send.h"
#include "runtime/fast/short_send.h"
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

/* Leaves the state that a poll leaves. */
static void poll_between(void)
{
	pair_runtime()->burst.qp = NULL;
}

/* The test holds the lock all the time. The progress thread, which waits for the lock, handles
 * timers. */
static void begin(void)
{
	for (unsigned i = 0; i < MESSAGES_MAX; i++)
		pair_post_receive(&pair.ends[1], i, 4096);
	adapter_lock(pair.ends[0].adapter);
	pair_runtime()->progress_mode = PROGRESS_STAYING_OUT;
	poll_between();
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
	/* Uses up the receive requests that are left. */
	for (unsigned i = sent_count; i < MESSAGES_MAX; i++) {
		pair_post_send(&pair.ends[0], SEND_SEND, i, 1);
		pair_poll_one(&pair.ends[1], &completion);
		pair_poll_one(&pair.ends[0], &completion);
	}
}

/* Two equal SENDs in a row, each alone, make the template. */
static void remember(uint32_t byte_count, uint32_t flags)
{
	const struct sge sge = usual_sge(byte_count);

	for (unsigned i = 0; i < 2; i++) {
		const struct send_request request = request_of(&sge, flags, 7);

		assert_true(short_send_post(pair.ends[0].adapter, qp(), &request));
		poll_between();
	}
	assert_ptr_equal(pair_runtime()->send_template.qp, qp());
}

static bool post_by_template(const struct sge *sge, uint32_t flags)
{
	return template_send_single(pair_runtime(), flags, sge);
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
	uint32_t psn, messages, cursor, tail, started, posts;
	uint64_t position, packets, words, retry_deadline;
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
		.posts = pair_runtime()->burst.posts,
		.position = qp()->owner_position,
		.packets = flow->counters->packets,
		.words = flow->counters->words,
		.retry_deadline = requester->retry_deadline,
	};

	memcpy(left.data, slot->data, sizeof(left.data));
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
	assert_memory_equal(after->data, before[1].data, sizeof(struct sge));
	assert_int_equal(after->psn, before[1].psn + 1);
	assert_int_equal(after->messages, before[1].messages + 1);
	assert_int_equal(after->cursor, before[1].cursor + 1);
	assert_int_equal(after->tail, before[1].tail + 1);
	assert_int_equal(after->started, before[1].started + 1);
	assert_int_equal(after->packets, before[1].packets + 1);
	assert_int_equal(after->words - before[1].words, before[1].words - before[0].words);
	assert_int_equal(after->retry_deadline, before[1].retry_deadline);
	assert_true(after->position > before[1].position);
}

static void test_templated_messages_leave_the_state_of_others(void **state)
{
	static const uint32_t sizes[] = {1, 3, 8, 13, 20, 64, 500};

	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_COUNT(sizes); i++) {
		const uint32_t byte_count = sizes[i / 2];
		const uint32_t flags =
			SEND_SIGNALED | (i % 2 && byte_count <= 64 ? SEND_INLINE : 0);
		const struct sge sge = usual_sge(byte_count);
		const struct send_request request = request_of(&sge, flags, 8);
		struct left_behind before[2], after;

		pair_fill(pair.ends[0].buffer, byte_count, i);
		memset(pair.ends[1].buffer, 0, 4096);
		begin();
		remember(byte_count, flags);
		before[0] = left_behind();
		assert_true(short_send_post(pair.ends[0].adapter, qp(), &request));
		before[1] = left_behind();
		poll_between();
		assert_true(post_by_template(&sge, flags));
		template_send_book(pair.ends[0].adapter, 8, flags, &sge);
		after = left_behind();
		expect_one_further(before, &after);
		end(4);
		if (byte_count > 1)
			assert_memory_equal(pair.ends[1].buffer + 1, pair.ends[0].buffer + 1,
					    byte_count - 1);
	}
}

/* SENDs posted in a row by the template leave the same state as payload records posted without it,
 * while there is room. */
static void test_payload_records_leave_the_state_of_others(void **state)
{
	const struct sge sge = usual_sge(8), longer = usual_sge(12);
	const struct send_request request = request_of(&sge, SEND_SIGNALED, 8);
	struct adapter *adapter = pair.ends[0].adapter;
	struct burst_out *burst = &pair_runtime()->burst;
	struct left_behind before[2], after;

	(void)state;
	pair_fill(pair.ends[0].buffer, 12, 77);
	begin();
	for (unsigned i = 0; i < BURST_POSTS + 1; i++)
		assert_true(short_send_post(adapter, qp(), &request));
	assert_true(burst->room);
	assert_ptr_equal(pair_runtime()->send_template.qp, qp());
	before[0] = left_behind();
	assert_true(template_send_payload_any(adapter, qp(), &request));
	before[1] = left_behind();
	assert_false(template_send_payload(adapter, 8, SEND_SIGNALED, &longer));
	assert_true(template_send_payload(adapter, 8, SEND_SIGNALED, &sge));
	after = left_behind();
	expect_one_further(before, &after);
	assert_int_equal(after.position - before[1].position,
			 before[1].position - before[0].position);

	const uint32_t room = burst->room;

	burst->room = 0;
	assert_false(template_send_payload(adapter, 8, SEND_SIGNALED, &sge));
	burst->room = room;
	__atomic_add_fetch(&pair.softibd.page->generation, 1, __ATOMIC_SEQ_CST);
	assert_false(template_send_payload(adapter, 8, SEND_SIGNALED, &sge));
	__atomic_sub_fetch(&pair.softibd.page->generation, 1, __ATOMIC_SEQ_CST);
	end(BURST_POSTS + 3);
	assert_memory_equal(pair.ends[1].buffer + 1, pair.ends[0].buffer + 1, 7);
}

static void test_requests_that_do_not_match_the_template_are_left(void **state)
{
	const uint64_t buffer_end = (uintptr_t)pair.ends[0].buffer + PAIR_BUFFER_BYTES;
	struct sge sge;

	(void)state;
	begin();
	remember(8, SEND_SIGNALED);
	sge = usual_sge(8);
	assert_false(post_by_template(&sge, SEND_SIGNALED | SEND_SOLICITED));
	assert_false(post_by_template(&sge, SEND_SIGNALED | SEND_INLINE));
	assert_false(post_by_template(&sge, SEND_SIGNALED | SEND_FENCE));
	sge.byte_count = 9;
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
	template_send_book(pair.ends[0].adapter, 9, SEND_SIGNALED, &sge);
	end(3);
}

/* The queue pair, the ring or another process forbids it at this moment. */
static void test_requests_that_may_not_go_at_once_are_left(void **state)
{
	struct requester *requester = &qp()->requester;
	struct list other;

	(void)state;
	begin();
	remember(8, SEND_SIGNALED);

	const struct sge sge = usual_sge(8);
	const struct requester before = *requester;
	struct channel *channel = pair_runtime()->send_template.channel;

#define EXPECT_LEFT(change, undo)                                                                  \
	change;                                                                                    \
	assert_false(post_by_template(&sge, SEND_SIGNALED));                                       \
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
	EXPECT_LEFT(qp()->header_cache.sends--, qp()->header_cache.sends++);
	EXPECT_LEFT(channel->out.head_seen -= channel->out.data_bytes,
		    channel->out.head_seen += channel->out.data_bytes);
	EXPECT_LEFT(__atomic_add_fetch(&pair.softibd.page->generation, 1, __ATOMIC_SEQ_CST),
		    __atomic_sub_fetch(&pair.softibd.page->generation, 1, __ATOMIC_SEQ_CST));
	/* Others wait for room, or the queue pair has something else to send first. */
	list_init(&other);
	EXPECT_LEFT(list_append(&channel->waiting, &other), list_remove(&other));
	EXPECT_LEFT(list_append(&channel->waiting, &qp()->ready_link),
		    list_remove(&qp()->ready_link));
	/* SENDs posted in a row go as a burst, also after the first poll in between. */
	EXPECT_LEFT(pair_runtime()->burst.qp = qp(), poll_between());
	EXPECT_LEFT(pair_runtime()->burst.posts = BURST_POSTS_PAYLOAD,
		    pair_runtime()->burst.posts = 1);
#undef EXPECT_LEFT_WITH
#undef EXPECT_LEFT
	assert_true(post_by_template(&sge, SEND_SIGNALED));
	template_send_book(pair.ends[0].adapter, 9, SEND_SIGNALED, &sge);
	end(3);
}

/* There is no template for a program that alternates between queue pairs or sends anything unusual.
 */
static void test_unusual_requests_make_no_template(void **state)
{
	struct sge sge = usual_sge(8);
	struct send_request request = request_of(&sge, SEND_SIGNALED, 1);

	(void)state;
	begin();
	remember(8, SEND_SIGNALED);
	pair_runtime()->burst.last = NULL;
	assert_true(short_send_post(pair.ends[0].adapter, qp(), &request));
	assert_null(pair_runtime()->send_template.qp);
	poll_between();
	request.opcode = SEND_SEND_IMMEDIATE;
	assert_true(short_send_post(pair.ends[0].adapter, qp(), &request));
	assert_null(pair_runtime()->send_template.qp);
	poll_between();
	request.opcode = SEND_SEND;
	pair_runtime()->progress_mode = PROGRESS_LISTENING;
	pair_runtime()->progress_wakes_at = 0;
	assert_true(short_send_post(pair.ends[0].adapter, qp(), &request));
	assert_null(pair_runtime()->send_template.qp);
	pair_runtime()->progress_mode = PROGRESS_STAYING_OUT;
	end(5);
}

/* Leaving the lock after anything but a poll or a templated post ends the template. */
static void test_the_lock_forgets(void **state)
{
	const struct sge sge = usual_sge(8);

	(void)state;
	begin();
	remember(8, SEND_SIGNALED);
	runtime_unlock(pair_runtime());
	assert_false(adapter_post_by_template(pair.ends[0].adapter, pair.ends[0].qp, 1,
					      SEND_SIGNALED, &sge));
	adapter_lock(pair.ends[0].adapter);
	end(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_templated_messages_leave_the_state_of_others),
		cmocka_unit_test(test_payload_records_leave_the_state_of_others),
		cmocka_unit_test(test_requests_that_do_not_match_the_template_are_left),
		cmocka_unit_test(test_requests_that_may_not_go_at_once_are_left),
		cmocka_unit_test(test_unusual_requests_make_no_template),
		cmocka_unit_test(test_the_lock_forgets),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
