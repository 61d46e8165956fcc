/* SPDX-License-Identifier: Apache-2.0 */
/* Short WRITEs and READs by RMA leave the same state as requests of any other form. */
#include "runtime/rma/rma_short.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "ipc/rma_area.h"
#include "runtime/rma/rma_state.h"
#include "runtime/rma/rma_target.h"
#include "runtime/packets/transmit.h"
#include "unit/runtime/runtime_pair.h"
#include "unit/runtime/shared_pages.h"

/* From or to the first end's buffer, in this many SGEs: the short form takes requests with one. */
static void request_at(enum send_opcode opcode, uint64_t address, uint32_t byte_count,
		       unsigned part_count, uint64_t wr_id)
{
	struct pair_end *end = &pair.ends[0];
	const uint32_t first = part_count == 2 ? byte_count / 2 : byte_count;
	struct sge sges[2] = {
		{(uintptr_t)end->buffer, first, end->region->key},
		{(uintptr_t)end->buffer + first, byte_count - first, end->region->key}};
	struct send_request request = {
		.wr_id = wr_id,
		.opcode = opcode,
		.flags = SEND_SIGNALED,
		.remote_address = address,
		.remote_key = pair.ends[1].region->key,
		.sge_count = part_count,
		.sges = sges,
	};
	struct completion completion;

	adapter_lock(end->adapter);

	time_ns now = adapter_now(end->adapter);

	assert_int_equal(qp_object_post_send(end->qp, now, &request), 0);
	adapter_transmit(end->adapter, now);
	adapter_unlock(end->adapter);
	pair_poll_one(end, &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(completion.wr_id, wr_id);
	assert_int_equal(completion.byte_count, byte_count);
}

/* Posts as ibv_post_send does, and asserts whether the request was carried out at once. */
static void post_at(enum send_opcode opcode, uint64_t address, uint32_t byte_count, uint32_t flags,
		    uint64_t wr_id)
{
	struct pair_end *end = &pair.ends[0];
	const struct sge sge = {(uintptr_t)end->buffer, byte_count, end->region->key};
	const struct send_request request = {
		.wr_id = wr_id,
		.opcode = opcode,
		.flags = flags,
		.remote_address = address,
		.remote_key = pair.ends[1].region->key,
		.sge_count = 1,
		.sges = &sge,
	};
	struct completion completion;

	assert_true(pair_post_at_once(end, &request));
	if (!(flags & SEND_SIGNALED))
		return;
	pair_poll_one(end, &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(completion.wr_id, wr_id);
	assert_int_equal(completion.byte_count, byte_count);
}

static void write_at(uint64_t address, uint32_t byte_count, uint64_t wr_id)
{
	request_at(SEND_RDMA_WRITE, address, byte_count, 1, wr_id);
}

static int start(void **state)
{
	if (pair_start_connected(state) != 0)
		return -1;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);
	for (unsigned i = 0; i < 20; i++)
		write_at(page_begin(), 8, i);
	return pair.ends[0].qp->qp.owner_rma ? 0 : -1;
}

static void test_writes_go_to_the_shared_pages(void **state)
{
	static const uint32_t sizes[] = {1, 3, 4, 8, 13, 64, 1000, 1024, 1025, 5000, 100000};

	(void)state;
	share(PLACE + 1);
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		uint64_t offset = 4096 * (i % 3) + i;

		pair_fill(pair.ends[0].buffer, sizes[i], i);
		memset(pair.ends[1].buffer, 0, 200000);
		write_at(page_begin() + offset, sizes[i], i);
		assert_memory_equal(shared() + offset, pair.ends[0].buffer, sizes[i]);
		/* No part of it went by packets. */
		for (unsigned j = 0; j < 200000; j++)
			assert_int_equal(pair.ends[1].buffer[j], 0);
	}
	share(0);
}

/* And READs read from there. */
static void test_reads_come_from_the_shared_pages(void **state)
{
	static const uint32_t sizes[] = {1, 8, 1024, 1025, 50000};

	(void)state;
	share(PLACE + 1);
	memset(pair.ends[1].buffer, 0, 200000);
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		uint64_t offset = 4096 * (i % 3) + i;

		pair_fill(pair.ends[0].buffer, sizes[i], i + 50);
		write_at(page_begin() + offset, sizes[i], i);
		memset(pair.ends[0].buffer, 0xee, sizes[i] + 1);
		request_at(SEND_RDMA_READ, page_begin() + offset, sizes[i], 1, i);
		assert_memory_equal(pair.ends[0].buffer, shared() + offset, sizes[i]);
		assert_int_equal(pair.ends[0].buffer[sizes[i]], 0xee);
	}
	share(0);
}

/* Memory that is not shared is accessed by system calls, in the short form too. */
static void test_what_is_not_shared_is_written_and_read_too(void **state)
{
	static const uint32_t sizes[] = {1, 8, 1025, 50000};

	(void)state;
	share(0);
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		uint8_t *there = (uint8_t *)page_begin() + i;

		pair_fill(pair.ends[0].buffer, sizes[i], i + 70);
		memset(there, 0xee, sizes[i] + 1);
		write_at((uintptr_t)there, sizes[i], i);
		assert_memory_equal(there, pair.ends[0].buffer, sizes[i]);
		assert_int_equal(there[sizes[i]], 0xee);
		memset(pair.ends[0].buffer, 0, sizes[i]);
		request_at(SEND_RDMA_READ, (uintptr_t)there, sizes[i], 1, i);
		assert_memory_equal(there, pair.ends[0].buffer, sizes[i]);
	}
}

/* If the peer took its grant back in between, the success of one request says nothing about the
 * next. */
static void test_what_was_taken_back_is_not_used_any_more(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		pair_fill(pair.ends[0].buffer, 64, i + 90);
		share(i % 2 ? 0 : PLACE + 1);
		write_at(page_begin(), 64, i);
		assert_memory_equal(i % 2 ? (const uint8_t *)page_begin() : shared(),
				    pair.ends[0].buffer, 64);
	}
	share(PLACE + 1);
	write_at(page_begin(), 64, 8);
	__atomic_store_n(&pair_runtime()->rkey_export.header->shared_is_off, 1, __ATOMIC_SEQ_CST);
	pair_fill(pair.ends[0].buffer, 64, 99);
	write_at(page_begin(), 64, 9);
	assert_memory_equal((const uint8_t *)page_begin(), pair.ends[0].buffer, 64);
	share(0);
}

/* A peer that is moving its pages takes packets for them. */
static void test_what_moves_is_not_written_to(void **state)
{
	struct rkey_export_header *header = pair_runtime()->rkey_export.header;
	const struct rma *rma = pair.ends[0].qp->qp.owner_rma;

	(void)state;
	share(0);
	write_at(page_begin(), 64, 1);
	for (unsigned is_moving = 0; is_moving < 2; is_moving++) {
		const uint32_t before = rma->message_count;

		__atomic_store_n(&header->is_moving, is_moving, __ATOMIC_SEQ_CST);
		pair_fill(pair.ends[0].buffer, 64, is_moving + 70);
		write_at(page_begin(), 64, 2);
		assert_memory_equal((const uint8_t *)page_begin(), pair.ends[0].buffer, 64);
		assert_int_equal(rma->message_count - before, !is_moving);
	}
	/* Pages in the shared part do not move. */
	share(PLACE + 1);
	write_at(page_begin(), 64, 3);
	assert_memory_equal(shared(), pair.ends[0].buffer, 64);
	__atomic_store_n(&header->is_moving, 0, __ATOMIC_SEQ_CST);
	share(0);
}

/* The same requests in the short form, in the general form and without being posted: every counter
 * grows by the same number. */
static void test_the_books_are_those_of_the_long_way(void **state)
{
	struct books before[3], after[3];

	(void)state;
	share(PLACE + 1);
	for (unsigned way = 0; way < 3; way++) {
		before[way] = books();
		for (uint32_t i = 0; i < 200; i++) {
			enum send_opcode opcode = i % 3 ? SEND_RDMA_WRITE : SEND_RDMA_READ;

			if (way == 2)
				post_at(opcode, page_begin() + i, 2 + i * 51, SEND_SIGNALED, i);
			else
				request_at(opcode, page_begin() + i, 2 + i * 51, way + 1, i);
		}
		after[way] = books();
	}
	share(0);
#define EXPECT_SAME(member)                                                                        \
	assert_int_equal(after[0].member - before[0].member, after[1].member - before[1].member);  \
	assert_int_equal(after[0].member - before[0].member, after[2].member - before[2].member)
	EXPECT_SAME(psn);
	EXPECT_SAME(messages);
	EXPECT_SAME(packets);
	EXPECT_SAME(words);
	EXPECT_SAME(returned_packets);
	EXPECT_SAME(returned_words);
#undef EXPECT_SAME
	/* And the responder agrees about all of them. */
	pair_send_and_check(100, 3);
}

/* Whether the bytes are shared or not, written or read, with a completion or without. */
static void test_what_is_not_posted_is_written_and_read_too(void **state)
{
	static const uint32_t sizes[] = {1, 8, 1025, 100000};

	(void)state;
	for (unsigned i = 0; i < 4 * ARRAY_COUNT(sizes); i++) {
		const bool is_shared = i % 2, is_signaled = i / 2 % 2;
		const uint32_t byte_count = sizes[i / 4];
		const uint32_t flags = is_signaled ? SEND_SIGNALED : 0;
		const uint8_t *there = is_shared ? shared() : (const uint8_t *)page_begin();

		share(is_shared ? PLACE + 1 : 0);
		pair_fill(pair.ends[0].buffer, byte_count, i + 170);
		post_at(SEND_RDMA_WRITE, page_begin(), byte_count, flags, i);
		assert_memory_equal(there, pair.ends[0].buffer, byte_count);
		memset(pair.ends[0].buffer, 0xee, byte_count + 1);
		post_at(SEND_RDMA_READ, page_begin(), byte_count, flags, i);
		assert_memory_equal(there, pair.ends[0].buffer, byte_count);
		assert_int_equal(pair.ends[0].buffer[byte_count], 0xee);
	}
	share(0);
	/* This frees the slots of the unsignaled requests, and the responder has counted them all.
	 */
	pair_send_and_check(100, 4);
}

static bool post_listed(uint32_t byte_count, uint32_t key)
{
	struct pair_end *end = &pair.ends[0];
	const struct sge sge = {(uintptr_t)end->buffer, byte_count, end->region->key};
	const struct send_request request = {
		.opcode = SEND_RDMA_WRITE,
		.flags = SEND_SIGNALED,
		.remote_address = page_begin(),
		.remote_key = key,
		.sge_count = 1,
		.sges = &sge,
	};

	return pair_carry_out(end, &request);
}

/* The test holds the lock meanwhile. */
static void test_a_long_list_is_not_carried_out_in_one_go(void **state)
{
	enum { BYTES = 100000, LIST_MAX = 200 };
	struct pair_end *end = &pair.ends[0];
	struct completion completion;
	unsigned count = 0;

	(void)state;
	adapter_lock(end->adapter);
	pair_runtime()->rounds.rma_bytes = 0;
	while (count < LIST_MAX && post_listed(BYTES, pair.ends[1].region->key)) {
		count++;
		assert_non_null(cq_first(end->cq));
		cq_advance(end->cq);
	}
	assert_int_equal(count, (RUNTIME_RMA_BYTES_MAX + BYTES - 1) / BYTES);
	pair_runtime()->rounds.rma_bytes = 0;
	assert_true(post_listed(BYTES, pair.ends[1].region->key));
	adapter_unlock(end->adapter);
	pair_poll_one(end, &completion);
}

/* Queued requests go first, and requests that the target does not allow go by packets. */
static void test_what_has_to_wait_or_fails_is_left_to_be_posted(void **state)
{
	struct pair_end *end = &pair.ends[0];
	const struct sge sge = {(uintptr_t)end->buffer, 8, end->region->key};
	struct send_request request = {
		.opcode = SEND_RDMA_WRITE,
		.remote_address = page_begin(),
		.remote_key = pair.ends[1].region->key,
		.sge_count = 1,
		.sges = &sge,
	};
	struct completion completion;

	(void)state;
	adapter_lock(end->adapter);
	assert_int_equal(qp_post_send(&end->qp->qp, 0, &request), 0);
	assert_false(post_listed(8, request.remote_key));
	adapter_send(end->adapter, end->qp);
	assert_true(post_listed(8, request.remote_key));
	assert_false(post_listed(8, request.remote_key ^ 1));
	assert_true(post_listed(8, request.remote_key));
	adapter_unlock(end->adapter);
	pair_poll_one(end, &completion);
	pair_poll_one(end, &completion);

	/* A grant that was taken back is requested again. */
	adapter_lock(end->adapter);
	rma_target_end(&pair.ends[1].qp->qp);
	assert_false(post_listed(8, request.remote_key));
	adapter_unlock(end->adapter);
	for (unsigned i = 0; i < 20; i++)
		write_at(page_begin(), 8, i);
	post_at(SEND_RDMA_WRITE, page_begin(), 8, SEND_SIGNALED, 2);
}

/* The same error as by packets. It ends the queue pair, so it comes last. */
static void test_a_wrong_key_is_told_by_the_packets_way(void **state)
{
	struct pair_end *end = &pair.ends[0];
	const struct sge sge = {(uintptr_t)end->buffer, 8, end->region->key};
	const struct send_request request = {
		.wr_id = 5,
		.opcode = SEND_RDMA_WRITE,
		.remote_address = page_begin(),
		.remote_key = pair.ends[1].region->key ^ 1,
		.sge_count = 1,
		.sges = &sge,
	};
	struct completion completion;

	(void)state;
	post_at(SEND_RDMA_WRITE, page_begin(), 8, 0, 4);
	assert_false(pair_post_at_once(end, &request));
	adapter_lock(end->adapter);
	assert_int_equal(qp_post_send(&end->qp->qp, 0, &request), 0);
	adapter_send(end->adapter, end->qp);
	adapter_unlock(end->adapter);
	pair_poll_one(end, &completion);
	assert_int_equal(completion.status, COMPLETION_REMOTE_ACCESS);
	assert_int_equal(completion.wr_id, 5);
	assert_false(pair_post_at_once(end, &request));
}

static void test_the_edges_of_a_region_are_not_shared(void **state)
{
	(void)state;
	share(PLACE + 1);
	pair_fill(pair.ends[0].buffer, 64, 9);
	/* Across the start of the whole pages, if the buffer starts before it. */
	if ((uintptr_t)pair.ends[1].buffer % 4096 == 0)
		skip();
	write_at(page_begin() - 8, 64, 1);
	assert_memory_equal((uint8_t *)page_begin() - 8, pair.ends[0].buffer, 64);
	share(0);
}

/* The peer's statement of where its pages are is untrusted. */
static void test_places_that_there_are_not_are_not_used(void **state)
{
	static const uint64_t places[] = {RKEY_EXPORT_SHARED_BYTES + 1,
					  RKEY_EXPORT_SHARED_BYTES - 3, UINT64_MAX,
					  UINT64_MAX - 4096};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(places); i++) {
		share(places[i]);
		pair_fill(pair.ends[0].buffer, 64, i);
		write_at(page_begin() + 4096, 64, i);
		assert_memory_equal((uint8_t *)page_begin() + 4096, pair.ends[0].buffer, 64);
	}
	share(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_go_to_the_shared_pages),
		cmocka_unit_test(test_reads_come_from_the_shared_pages),
		cmocka_unit_test(test_what_is_not_shared_is_written_and_read_too),
		cmocka_unit_test(test_what_was_taken_back_is_not_used_any_more),
		cmocka_unit_test(test_what_moves_is_not_written_to),
		cmocka_unit_test(test_the_books_are_those_of_the_long_way),
		cmocka_unit_test(test_the_edges_of_a_region_are_not_shared),
		cmocka_unit_test(test_places_that_there_are_not_are_not_used),
		cmocka_unit_test(test_what_is_not_posted_is_written_and_read_too),
		cmocka_unit_test(test_a_long_list_is_not_carried_out_in_one_go),
		cmocka_unit_test(test_what_has_to_wait_or_fails_is_left_to_be_posted),
		cmocka_unit_test(test_a_wrong_key_is_told_by_the_packets_way),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
