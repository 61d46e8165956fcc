/* SPDX-License-Identifier: Apache-2.0 */
/* WRITEs by the RMA template: they leave the same state as any other WRITE, and only go while
 * nothing has changed. */
#include "runtime/fast/send_template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "ipc/rma_area.h"
#include "runtime/rma/rma_state.h"
#include "runtime/rma/rma_target.h"
#include "unit/runtime/runtime_pair.h"
#include "unit/runtime/shared_pages.h"

/* A WRITE of the first end; the test can change each of its fields. */
struct write {
	uint64_t wr_id;
	uint32_t flags;
	struct sge sge;
	struct remote_place remote;
};

static struct write usual_write(void)
{
	struct pair_end *end = &pair.ends[0];

	return (struct write){
		.flags = SEND_SIGNALED,
		.sge = {(uintptr_t)end->buffer, 8, end->region->key},
		.remote = {page_begin(), pair.ends[1].region->key},
	};
}

static struct send_request request_of(const struct write *write)
{
	return (struct send_request){
		.wr_id = write->wr_id,
		.opcode = SEND_RDMA_WRITE,
		.flags = write->flags,
		.remote_address = write->remote.address,
		.remote_key = write->remote.key,
		.sge_count = 1,
		.sges = &write->sge,
	};
}

static bool post_write(const struct write *write)
{
	const struct send_request request = request_of(write);

	return adapter_rma(pair.ends[0].adapter, pair.ends[0].qp, &request);
}

static const uint8_t *post_by_template(const struct write *write)
{
	return adapter_rma_by_template(pair.ends[0].adapter, pair.ends[0].qp, write->wr_id,
				       write->flags, &write->sge, &write->remote);
}

/* Does what a poll does that finds completions. Returns how many there were. */
static unsigned take_completions(uint64_t *ret_last_wr_id)
{
	struct pair_end *end = &pair.ends[0];
	const struct completion *completion;
	unsigned count = 0;

	adapter_lock(end->adapter);
	while ((completion = cq_first(end->cq))) {
		assert_int_equal(completion->status, COMPLETION_SUCCESS);
		assert_int_equal(completion->opcode, COMPLETED_WRITE);
		*ret_last_wr_id = completion->wr_id;
		cq_advance(end->cq);
		count++;
	}
	adapter_unlock_unchanged(end->adapter);
	return count;
}

static bool has_template(void)
{
	adapter_lock(pair.ends[0].adapter);

	const bool has = pair_runtime()->rma_template.qp != NULL;

	adapter_unlock_unchanged(pair.ends[0].adapter);
	return has;
}

/* Two equal WRITEs in a row make the template; the progress thread may have held the lock since. */
static void remember(const struct write *write)
{
	const time_ns start = adapter_now(pair.ends[0].adapter);
	uint64_t wr_id;

	do {
		assert_false(pair_is_overdue(start));
		for (unsigned i = 0; i < 2; i++)
			assert_true(post_write(write));
		take_completions(&wr_id);
	} while (!has_template());
}

static void expect_by_template(const struct write *write)
{
	const time_ns start = adapter_now(pair.ends[0].adapter);

	while (!post_by_template(write)) {
		assert_false(pair_is_overdue(start));
		remember(write);
	}
}

static int start(void **state)
{
	if (pair_start_connected(state) != 0)
		return -1;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);

	struct pair_end *end = &pair.ends[0];
	const struct write write = usual_write();
	const struct send_request request = request_of(&write);
	struct completion completion;

	/* One of them asks the peer for a grant. */
	while (!post_write(&write)) {
		adapter_lock(end->adapter);
		if (qp_post_send(&end->qp->qp, 0, &request) != 0)
			return -1;
		adapter_send(end->adapter, end->qp);
		adapter_unlock(end->adapter);
		pair_poll_one(end, &completion);
	}
	pair_poll_one(end, &completion);
	return pair.ends[0].qp->qp.owner_rma ? 0 : -1;
}

/* Each counter grows as it does without the template, and the responder agrees. */
static void test_templated_writes_leave_the_state_of_others(void **state)
{
	static const uint32_t sizes[] = {1, 3, 8, 13, 64, 1024, 5000};
	struct write write = usual_write();
	uint64_t wr_id = 0;

	(void)state;
	share(PLACE + 1);
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct books by_post[2], by_template[2];
		const uint8_t *went_to;

		write.sge.byte_count = sizes[i];
		remember(&write);
		by_post[0] = books();
		assert_true(post_write(&write));
		by_post[1] = books();
		assert_int_equal(take_completions(&wr_id), 1);

		write.wr_id = 1000 + i;
		write.sge.address += i;
		write.remote.address = page_begin() + 4096 * (i % 3) + i;
		pair_fill((uint8_t *)(uintptr_t)write.sge.address, sizes[i], i);
		do {
			remember(&write);
			memset(shared(), 0, 20000);
			by_template[0] = books();
			went_to = post_by_template(&write);
		} while (!went_to);
		by_template[1] = books();
		assert_memory_equal(went_to, (void *)(uintptr_t)write.sge.address, sizes[i]);
		assert_memory_equal(shared() + (write.remote.address - page_begin()),
				    (void *)(uintptr_t)write.sge.address, sizes[i]);
		assert_int_equal(take_completions(&wr_id), 1);
		assert_int_equal(wr_id, 1000 + i);
		assert_int_equal(by_template[1].psn - by_template[0].psn,
				 by_post[1].psn - by_post[0].psn);
		assert_int_equal(by_template[1].messages - by_template[0].messages, 1);
		assert_int_equal(by_template[1].packets - by_template[0].packets,
				 by_post[1].packets - by_post[0].packets);
		assert_int_equal(by_template[1].words - by_template[0].words,
				 by_post[1].words - by_post[0].words);
		assert_int_equal(by_template[1].returned_packets - by_template[0].returned_packets,
				 1);
		assert_int_equal(by_template[1].returned_words - by_template[0].returned_words,
				 by_post[1].returned_words - by_post[0].returned_words);
	}
	share(0);
	pair_send_and_check(100, 2);
}

static void test_requests_that_do_not_match_the_template_are_left(void **state)
{
	const struct write usual = usual_write();
	const uint64_t end = (uintptr_t)pair.ends[0].buffer + PAIR_BUFFER_BYTES;

	(void)state;
	share(PLACE + 1);
	for (unsigned i = 0; i < 9; i++) {
		struct write write = usual;

		switch (i) {
		case 0:
			write.flags |= SEND_SOLICITED;
			break;
		case 1:
			write.flags |= SEND_INLINE;
			break;
		case 2:
			write.sge.byte_count = 9;
			break;
		case 3:
			write.sge.lkey ^= 1;
			break;
		case 4:
			write.sge.address = (uintptr_t)pair.ends[0].buffer - 1;
			break;
		case 5:
			write.sge.address = end - 7;
			break;
		case 6:
			write.remote.key ^= 1;
			break;
		case 7:
			write.remote.address = page_begin() - 1;
			break;
		case 8:
			write.remote.address += PAIR_BUFFER_BYTES;
			break;
		}
		remember(&usual);
		assert_false(post_by_template(&write));
	}
	/* The last bytes of the region. */
	struct write last = usual;

	last.sge.address = end - 8;
	expect_by_template(&last);
	share(0);
}

/* Inline bytes need no key. */
static void test_inline_bytes_have_no_key(void **state)
{
	uint64_t outside = 0x1122334455667788;
	struct write write = usual_write();

	(void)state;
	share(PLACE + 1);
	write.flags |= SEND_INLINE;
	remember(&write);
	write.sge = (struct sge){(uintptr_t)&outside, 8, 12345};
	expect_by_template(&write);
	assert_memory_equal(shared(), &outside, 8);
	share(0);
}

/* Values that others change while nobody here holds the lock, each changed where they write it. */
static uint32_t *word_of_others(unsigned index)
{
	const struct rma_template *template = &pair_runtime()->rma_template;
	const struct peer_memory *peer_memory = &pair_channel()->peer->peer_memory;
	const struct rkey_export *rkey_export = &pair_runtime()->rkey_export;

	switch (index) {
	case 0:
		return &pair.softibd.page->generation;
	case 1:
		return &rkey_export->header->shared_is_off;
	case 2:
		return (uint32_t *)((uint8_t *)rkey_export->keys +
				    ((const uint8_t *)template->sequence_at -
				     (const uint8_t *)peer_memory->keys));
	default:
		return (uint32_t *)template->serial_at;
	}
}

static void test_changes_by_others_end_the_template(void **state)
{
	const struct write write = usual_write();

	(void)state;
	share(PLACE + 1);
	for (unsigned i = 0; i < 4; i++) {
		uint8_t before[8];

		remember(&write);
		memcpy(before, shared(), 8);
		pair_fill(pair.ends[0].buffer, 8, i + 7);

		uint32_t *word = word_of_others(i);

		__atomic_add_fetch(word, 2, __ATOMIC_SEQ_CST);
		assert_false(post_by_template(&write));
		__atomic_sub_fetch(word, 2, __ATOMIC_SEQ_CST);
		assert_memory_equal(shared(), before, 8);
		expect_by_template(&write);
		assert_memory_equal(shared(), pair.ends[0].buffer, 8);
	}
	share(0);
}

/* Any other use of the lock ends the template; a poll that finds nothing does not. */
static void test_other_uses_of_the_lock_end_the_template(void **state)
{
	struct pair_end *end = &pair.ends[0];
	const struct write write = usual_write();
	const time_ns start_time = adapter_now(end->adapter);
	uint64_t wr_id;
	bool has_progressed;

	(void)state;
	share(PLACE + 1);
	remember(&write);
	adapter_lock(end->adapter);
	adapter_unlock(end->adapter);
	assert_false(post_by_template(&write));

	remember(&write);
	pair_post_receive(&pair.ends[1], 5, 100);
	remember(&write);
	(void)pair_post_as_verbs(100, SEND_SIGNALED, 5);
	assert_false(post_by_template(&write));
	pair_take_both(100, 5);

	do {
		assert_false(pair_is_overdue(start_time));
		remember(&write);
		adapter_lock(end->adapter);
		has_progressed = adapter_poll(end->adapter);
		adapter_unlock_unchanged(end->adapter);
	} while (has_progressed || !post_by_template(&write));
	assert_int_equal(take_completions(&wr_id), 1);
	share(0);
}

/* Unsignaled requests keep their slots until a signaled one is done. */
static void test_a_full_queue_is_left(void **state)
{
	struct qp *qp = &pair.ends[0].qp->qp;
	struct write write = usual_write();
	unsigned count = 0;
	uint64_t wr_id;

	(void)state;
	share(PLACE + 1);
	remember(&write); /* signaled: all slots are free */
	write.flags = 0;
	while (post_by_template(&write) || post_write(&write))
		assert_true(++count <= qp->requester.queue.requests_max);
	assert_int_equal(count, qp->requester.queue.requests_max);
	assert_false(post_by_template(&write));
	/* As if the slots had been freed. */
	qp->requester.queue.head = qp->requester.queue.done;
	write.flags = SEND_SIGNALED;
	assert_true(post_write(&write));
	assert_int_equal(take_completions(&wr_id), 1);
	share(0);
}

/* This ends the queue pair, so it comes last. */
static void test_a_completion_without_room_ends_the_queue_pair(void **state)
{
	struct pair_end *end = &pair.ends[0];
	const struct write write = usual_write();

	(void)state;
	share(PLACE + 1);
	remember(&write);
	for (unsigned i = 0; end->qp->qp.state == QP_RTS; i++) {
		assert_true(i <= end->cq->ring.slot_count);
		if (!post_by_template(&write))
			assert_true(post_write(&write));
	}
	assert_null(pair_runtime()->rma_template.qp);
	assert_false(post_by_template(&write));
	assert_false(post_write(&write));
	share(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_templated_writes_leave_the_state_of_others),
		cmocka_unit_test(test_requests_that_do_not_match_the_template_are_left),
		cmocka_unit_test(test_inline_bytes_have_no_key),
		cmocka_unit_test(test_changes_by_others_end_the_template),
		cmocka_unit_test(test_other_uses_of_the_lock_end_the_template),
		cmocka_unit_test(test_a_full_queue_is_left),
		cmocka_unit_test(test_a_completion_without_room_ends_the_queue_pair),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
