/* SPDX-License-Identifier: Apache-2.0 */
/* WRITEs that are carried out instead of being posted: they leave the same state as queued ones,
 * and only if the target still allows it. */
#include "runtime/rma/rma.h"

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
	uint64_t remote_address;
	uint32_t remote_key;
};

static struct write usual_write(void)
{
	struct pair_end *end = &pair.ends[0];

	return (struct write){
		.flags = SEND_SIGNALED,
		.sge = {(uintptr_t)end->buffer, 8, end->region->key},
		.remote_address = page_begin(),
		.remote_key = pair.ends[1].region->key,
	};
}

static struct send_request request_of(const struct write *write)
{
	return (struct send_request){
		.wr_id = write->wr_id,
		.opcode = SEND_RDMA_WRITE,
		.flags = write->flags,
		.remote_address = write->remote_address,
		.remote_key = write->remote_key,
		.sge_count = 1,
		.sges = &write->sge,
	};
}

static bool post_write(const struct write *write)
{
	const struct send_request request = request_of(write);

	return pair_post_at_once(&pair.ends[0], &request);
}

/* Posts the WRITE to the send queue. RMA carries it out, too. */
static void queue_write(const struct write *write)
{
	struct pair_end *end = &pair.ends[0];
	const struct send_request request = request_of(write);

	adapter_lock(end->adapter);
	assert_int_equal(qp_post_send(&end->qp->qp, 0, &request), 0);
	adapter_send(end->adapter, end->qp);
	adapter_unlock(end->adapter);
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
	adapter_unlock(end->adapter);
	return count;
}

/* The WRITE is not carried out, and nothing has changed. */
static void expect_left(const struct write *write)
{
	const struct books before = books();
	uint8_t bytes[64];

	memcpy(bytes, shared(), sizeof(bytes));
	pair_fill(pair.ends[0].buffer, 8, (uint32_t)before.psn + 1);
	assert_false(post_write(write));
	assert_memory_equal(shared(), bytes, sizeof(bytes));

	const struct books after = books();

	assert_int_equal(after.psn, before.psn);
	assert_int_equal(after.messages, before.messages);
	assert_int_equal(after.packets, before.packets);
	assert_null(cq_first(pair.ends[0].cq));
}

static void expect_carried_out(const struct write *write)
{
	uint64_t wr_id;

	assert_true(post_write(write));
	assert_memory_equal(shared() + (write->remote_address - page_begin()),
			    (const void *)(uintptr_t)write->sge.address, write->sge.byte_count);
	assert_int_equal(take_completions(&wr_id), 1);
	assert_int_equal(wr_id, write->wr_id);
}

static int start(void **state)
{
	if (pair_start_connected(state) != 0)
		return -1;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);

	struct pair_end *end = &pair.ends[0];
	const struct write write = usual_write();
	struct completion completion;

	/* One of them asks the peer for a grant. */
	while (!post_write(&write)) {
		queue_write(&write);
		pair_poll_one(end, &completion);
	}
	pair_poll_one(end, &completion);
	return pair.ends[0].qp->qp.owner_rma ? 0 : -1;
}

/* Each counter grows as it does for a queued WRITE, and the responder agrees. */
static void test_writes_leave_the_state_of_queued_ones(void **state)
{
	static const uint32_t sizes[] = {1, 3, 8, 13, 64, 1024, 5000};
	struct write write = usual_write();
	uint64_t wr_id = 0;

	(void)state;
	share(PLACE + 1);
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct books before[2], after[2];

		for (unsigned is_queued = 0; is_queued < 2; is_queued++) {
			const uint64_t offset = 4096 * (i % 3) + i + is_queued;

			write.wr_id = 1000 + 2 * i + is_queued;
			write.sge.byte_count = sizes[i];
			write.sge.address += i;
			write.remote_address = page_begin() + offset;
			pair_fill((uint8_t *)(uintptr_t)write.sge.address, sizes[i], i + is_queued);
			memset(shared(), 0, 20000);
			before[is_queued] = books();
			if (is_queued)
				queue_write(&write);
			else
				assert_true(post_write(&write));
			after[is_queued] = books();
			assert_memory_equal(shared() + offset, (void *)(uintptr_t)write.sge.address,
					    sizes[i]);
			assert_int_equal(shared()[offset + sizes[i]], 0);
			assert_int_equal(take_completions(&wr_id), 1);
			assert_int_equal(wr_id, write.wr_id);
			assert_int_equal(after[is_queued].messages - before[is_queued].messages, 1);
			assert_int_equal(after[is_queued].returned_packets -
						 before[is_queued].returned_packets,
					 1);
		}
#define EXPECT_SAME(member)                                                                        \
	assert_int_equal(after[0].member - before[0].member, after[1].member - before[1].member)
		EXPECT_SAME(psn);
		EXPECT_SAME(packets);
		EXPECT_SAME(words);
		EXPECT_SAME(returned_words);
#undef EXPECT_SAME
	}
	share(0);
	pair_send_and_check(100, 2);
}

/* Each differs from the WRITE before it. */
static void test_requests_that_vary_are_carried_out(void **state)
{
	const uint64_t end = (uintptr_t)pair.ends[0].buffer + PAIR_BUFFER_BYTES;
	struct write writes[5];

	(void)state;
	share(PLACE + 1);
	for (unsigned i = 0; i < ARRAY_COUNT(writes); i++) {
		writes[i] = usual_write();
		writes[i].wr_id = i;
	}
	writes[0].flags |= SEND_SOLICITED;
	writes[1].flags |= SEND_INLINE;
	writes[2].sge.byte_count = 9;
	writes[3].remote_address += 5000;
	writes[4].sge.address = end - 8; /* the last bytes of the region */
	for (unsigned i = 0; i < 3 * ARRAY_COUNT(writes); i++) {
		const struct write *write = &writes[i * 2 % ARRAY_COUNT(writes)];

		pair_fill((uint8_t *)(uintptr_t)write->sge.address, write->sge.byte_count, i);
		expect_carried_out(write);
	}
	share(0);
}

static void test_requests_outside_their_regions_are_left(void **state)
{
	const struct write usual = usual_write();
	const uint64_t end = (uintptr_t)pair.ends[0].buffer + PAIR_BUFFER_BYTES;
	struct write writes[7];

	(void)state;
	share(PLACE + 1);
	for (unsigned i = 0; i < ARRAY_COUNT(writes); i++)
		writes[i] = usual;
	writes[0].sge.lkey ^= 1;
	writes[1].sge.address = (uintptr_t)pair.ends[0].buffer - 1;
	writes[2].sge.address = end - 7;
	writes[3].remote_key ^= 1;
	writes[4].remote_address = (uintptr_t)pair.ends[1].buffer - 1;
	writes[5].remote_address += PAIR_BUFFER_BYTES;
	writes[6].sge.byte_count = 0;
	for (unsigned i = 0; i < ARRAY_COUNT(writes); i++) {
		expect_carried_out(&usual);
		expect_left(&writes[i]);
	}
	expect_carried_out(&usual);
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
	write.sge = (struct sge){(uintptr_t)&outside, 8, 12345};
	expect_carried_out(&write);
	write.flags &= ~(uint32_t)SEND_INLINE;
	expect_left(&write);
	share(0);
}

/* Values that others change while nobody here holds the lock, each changed where they write it. */
static uint32_t *word_of_others(unsigned index)
{
	const struct rma *rma = pair.ends[0].qp->qp.owner_rma;
	const struct peer_memory *peer_memory = &pair_channel()->peer->peer_memory;
	const struct rkey_export *rkey_export = &pair_runtime()->rkey_export;

	switch (index) {
	case 0:
		return &pair.softibd.page->generation;
	case 1:
		return &rma->channel->rma_out->grants[rma->index].serial;
	case 2:
		return &pair_channel()->out.shared->closed;
	default:
		return (uint32_t *)((uint8_t *)rkey_export->keys +
				    ((const uint8_t *)&rma->write_range.entry->sequence -
				     (const uint8_t *)peer_memory->keys));
	}
}

/* The topology's generation, a grant that was taken back, a closed ring, and a key that is being
 * changed. */
static void test_changes_by_others_are_noticed(void **state)
{
	const struct write write = usual_write();

	(void)state;
	share(PLACE + 1);
	for (unsigned i = 0; i < 4; i++) {
		expect_carried_out(&write);

		uint32_t *word = word_of_others(i);

		adapter_lock(pair.ends[0].adapter);
		__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);

		const struct send_request request = request_of(&write);
		const struct books before = books();
		uint8_t bytes[8];

		memcpy(bytes, shared(), sizeof(bytes));
		pair_fill(pair.ends[0].buffer, 8, i + 7);
		assert_false(pair_carry_out(&pair.ends[0], &request));
		__atomic_sub_fetch(word, 1, __ATOMIC_SEQ_CST);
		assert_memory_equal(shared(), bytes, 8);
		assert_int_equal(books().psn, before.psn);
		adapter_unlock(pair.ends[0].adapter);
		expect_carried_out(&write);
	}
	share(0);
}

/* Pages that are not shared any more are written where they are now. */
static void test_pages_that_left_the_shared_part_are_found(void **state)
{
	const struct write write = usual_write();
	uint32_t *is_off = &pair_runtime()->rkey_export.header->shared_is_off;
	uint64_t wr_id;

	(void)state;
	share(PLACE + 1);
	expect_carried_out(&write);
	__atomic_store_n(is_off, 1, __ATOMIC_SEQ_CST);
	pair_fill(pair.ends[0].buffer, 8, 77);
	assert_true(post_write(&write));
	assert_int_equal(take_completions(&wr_id), 1);
	assert_memory_equal((const void *)page_begin(), pair.ends[0].buffer, 8);
	assert_memory_not_equal(shared(), pair.ends[0].buffer, 8);
	__atomic_store_n(is_off, 0, __ATOMIC_SEQ_CST);
	expect_carried_out(&write);
	share(0);
}

/* A SEND that is not acknowledged holds later WRITEs back: the peer may still have to ask for the
 * SEND again. */
static void test_a_write_behind_a_send_waits_for_its_ack(void **state)
{
	struct pair_end *end = &pair.ends[0];
	const struct write write = usual_write();
	const struct send_request request = request_of(&write);
	const struct sge sge = write.sge;
	const struct send_request send = {.opcode = SEND_SEND,
					  .flags = SEND_SIGNALED,
					  .wr_id = 5,
					  .sge_count = 1,
					  .sges = &sge};

	(void)state;
	share(PLACE + 1);
	pair_post_receive(&pair.ends[1], 5, 100);
	pair_fill(end->buffer, 8, 5);
	adapter_lock(end->adapter);
	pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
	assert_true(pair_carry_out(end, &send));
	assert_false(pair_carry_out(end, &request));
	adapter_unlock(end->adapter);
	pair_take_both(8, 5);
	expect_carried_out(&write);
	share(0);
}

/* Only plain WRITEs and READs are carried out; SENDs are sent. */
static void test_other_operations_are_left(void **state)
{
	const struct write write = usual_write();

	(void)state;
	share(PLACE + 1);
	expect_carried_out(&write);
	for (unsigned opcode = 0; opcode <= SEND_RESYNC; opcode++) {
		struct send_request request = request_of(&write);
		const struct books before = books();
		uint8_t bytes[64];

		if (opcode == SEND_SEND || opcode == SEND_SEND_IMMEDIATE ||
		    opcode == SEND_RDMA_WRITE || opcode == SEND_RDMA_READ)
			continue;
		memcpy(bytes, shared(), sizeof(bytes));
		pair_fill(pair.ends[0].buffer, 8, opcode + 100);
		request.opcode = (enum send_opcode)opcode;
		assert_false(pair_post_at_once(&pair.ends[0], &request));
		assert_memory_equal(shared(), bytes, sizeof(bytes));
		assert_int_equal(books().psn, before.psn);
		assert_int_equal(books().messages, before.messages);
	}
	expect_carried_out(&write);
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
	expect_carried_out(&write); /* signaled: all slots are free */
	write.flags = 0;
	while (post_write(&write))
		assert_true(++count <= qp->requester.queue.requests_max);
	assert_int_equal(count, qp->requester.queue.requests_max);
	expect_left(&write);
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
	for (unsigned i = 0; end->qp->qp.state == QP_RTS; i++) {
		assert_true(i <= end->cq->ring.slot_count);
		assert_true(post_write(&write));
	}
	assert_false(post_write(&write));
	share(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_leave_the_state_of_queued_ones),
		cmocka_unit_test(test_requests_that_vary_are_carried_out),
		cmocka_unit_test(test_requests_outside_their_regions_are_left),
		cmocka_unit_test(test_inline_bytes_have_no_key),
		cmocka_unit_test(test_changes_by_others_are_noticed),
		cmocka_unit_test(test_pages_that_left_the_shared_part_are_found),
		cmocka_unit_test(test_a_write_behind_a_send_waits_for_its_ack),
		cmocka_unit_test(test_other_operations_are_left),
		cmocka_unit_test(test_a_full_queue_is_left),
		cmocka_unit_test(test_a_completion_without_room_ends_the_queue_pair),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
