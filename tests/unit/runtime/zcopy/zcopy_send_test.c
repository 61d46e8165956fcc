/* SPDX-License-Identifier: Apache-2.0 */
/* Messages sent by reference (zcopy), on a fake softibd: which ones are, that the outcome is the
 * same, and that the receiver fetches no message that its sender took back. Covers:
 * runtime/zcopy/zcopy_receive.c */
#include "runtime/zcopy/zcopy_send.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "runtime/rma/shared_mr.h"
#include "unit/runtime/runtime_pair.h"

static int share_buffer(void **state)
{
	struct pair_end *end = &pair.ends[0];

	if (pair_start_connected(state) != 0)
		return -1;
	adapter_lock(end->adapter);
	pair_share_buffer(end);
	adapter_unlock(end->adapter);
	return 0;
}

static void warm_up(void)
{
	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 0; i < 4; i++)
		pair_send_and_check(8, i);
}

/* With the lock held: nobody receives before the test says so. Returns how many bytes of the ring
 * the message took. */
static uint64_t send_locked(enum send_opcode opcode, uint32_t byte_count, uint32_t seed)
{
	struct pair_end *end = &pair.ends[0];
	const struct sge sge = {(uintptr_t)end->buffer, byte_count, end->region->key};
	const struct send_request request = {
		.wr_id = seed,
		.opcode = opcode,
		.flags = SEND_SIGNALED,
		.immediate_or_rkey = 0x12345678,
		.sge_count = 1,
		.sges = &sge,
	};
	uint64_t tail = pair_channel()->out.tail;

	pair_fill(end->buffer, byte_count, seed);
	assert_int_equal(qp_post_send(&end->qp->qp, adapter_now(end->adapter), &request), 0);
	hca_ready_add(adapter_hca(end->adapter), &end->qp->qp);
	adapter_transmit(end->adapter, adapter_now(end->adapter));
	return pair_channel()->out.tail - tail;
}

static uint64_t send(enum send_opcode opcode, uint32_t byte_count, uint32_t seed)
{
	adapter_lock(pair.ends[0].adapter);

	uint64_t ring_bytes = send_locked(opcode, byte_count, seed);

	adapter_unlock(pair.ends[0].adapter);
	return ring_bytes;
}

static void test_long_messages_take_a_line_of_the_ring(void **state)
{
	static const uint32_t sizes[] = {1024, 1025, 4096, 65536, 100001, PAIR_BUFFER_BYTES};

	(void)state;
	warm_up();
	for (uint32_t i = 0; i < 10 * ARRAY_COUNT(sizes); i++) {
		uint32_t byte_count = sizes[i % ARRAY_COUNT(sizes)];

		pair_post_receive(&pair.ends[1], i, PAIR_BUFFER_BYTES);
		assert_int_equal(send(SEND_SEND, byte_count, i), RING_CACHE_LINE);
		pair_take_both(byte_count, i);
		/* Their PSNs are used: the next message is no duplicate and leaves no gap. */
		pair_send_and_check(16, i);
	}
}

static void test_short_ones_do_not(void **state)
{
	(void)state;
	warm_up();
	pair_post_receive(&pair.ends[1], 1, PAIR_BUFFER_BYTES);
	assert_true(send(SEND_SEND, ZCOPY_BYTES_MIN - 1, 1) > ZCOPY_BYTES_MIN);
	pair_take_both(ZCOPY_BYTES_MIN - 1, 1);
}

static void test_they_are_posted_and_sent_in_one_go(void **state)
{
	time_ns start = runtime_now();
	unsigned fast_count = 0;

	(void)state;
	warm_up();
	for (uint32_t i = 0; fast_count < 100; i++) {
		uint32_t byte_count = 1024 + i * 977 % 200000;

		pair_post_receive(&pair.ends[1], i, PAIR_BUFFER_BYTES);
		fast_count += pair_post_as_verbs(byte_count, 0, i);
		pair_take_both(byte_count, i);
		assert_false(pair_is_overdue(start));
	}
}

static void test_immediate_data_comes_along(void **state)
{
	struct completion received, sent;

	(void)state;
	warm_up();
	pair_post_receive(&pair.ends[1], 7, PAIR_BUFFER_BYTES);
	assert_int_equal(send(SEND_SEND_IMMEDIATE, 5000, 3), RING_CACHE_LINE);
	pair_poll_one(&pair.ends[1], &received);
	pair_poll_one(&pair.ends[0], &sent);
	assert_int_equal(received.byte_count, 5000);
	assert_int_equal(received.flags, COMPLETION_HAS_IMMEDIATE);
	assert_int_equal(received.immediate_or_rkey, 0x12345678);
	assert_memory_equal(pair.ends[0].buffer, pair.ends[1].buffer, 5000);
}

static void test_a_receiver_without_the_fast_path_takes_them_as_packets(void **state)
{
	(void)state;
	warm_up();
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t byte_count = 1024 + i * 5003;

		pair_post_receive(&pair.ends[1], i, PAIR_BUFFER_BYTES);
		adapter_lock(pair.ends[0].adapter);
		assert_int_equal(send_locked(SEND_SEND, byte_count, i), RING_CACHE_LINE);
		pair_runtime()->may_go_fast = false;
		adapter_progress(pair.ends[1].adapter, adapter_now(pair.ends[1].adapter));
		pair_runtime()->may_go_fast = true;
		adapter_unlock(pair.ends[0].adapter);
		pair_take_both(byte_count, i);
	}
}

static void test_a_receiver_that_is_not_ready_is_asked_again(void **state)
{
	(void)state;
	warm_up();
	adapter_lock(pair.ends[0].adapter);
	(void)send_locked(SEND_SEND, 9000, 5);
	adapter_progress(pair.ends[1].adapter, adapter_now(pair.ends[1].adapter));
	adapter_unlock(pair.ends[0].adapter);
	pair_post_receive(&pair.ends[1], 5, PAIR_BUFFER_BYTES);
	pair_take_both(9000, 5);
}

/* Before a second thread starts, pages move back; memory that a zcopy send references stays where
 * it is. */
static void test_messages_outlive_the_sharing(void **state)
{
	const uint8_t *buffer = pair.ends[0].buffer;

	(void)state;
	warm_up();
	pair_post_receive(&pair.ends[1], 6, PAIR_BUFFER_BYTES);
	adapter_lock(pair.ends[0].adapter);
	assert_false(zcopy_is_sending_from(pair_runtime(), buffer, PAIR_BUFFER_BYTES));
	assert_int_equal(send_locked(SEND_SEND, 9000, 6), RING_CACHE_LINE);
	assert_true(zcopy_is_sending_from(pair_runtime(), buffer, 1));
	assert_true(zcopy_is_sending_from(pair_runtime(), buffer + 8999, 1));
	assert_false(zcopy_is_sending_from(pair_runtime(), buffer + 9000, 1));
	assert_false(zcopy_is_sending_from(pair_runtime(), buffer - 1, 1));
	pair_runtime()->rkey_export.header->shared_is_off = 1;
	pair_runtime()->rkey_export.shared_mr->is_on = false;
	adapter_progress(pair.ends[1].adapter, adapter_now(pair.ends[1].adapter));
	assert_non_null(cq_first(pair.ends[1].cq));
	adapter_unlock(pair.ends[0].adapter);
	pair_take_both(9000, 6);
	adapter_lock(pair.ends[0].adapter);
	assert_false(zcopy_is_sending_from(pair_runtime(), buffer, PAIR_BUFFER_BYTES));
	pair_runtime()->rkey_export.header->shared_is_off = 0;
	pair_runtime()->rkey_export.shared_mr->is_on = true;
	adapter_unlock(pair.ends[0].adapter);
}

/* Two queue pairs may have one serial, and a sender need not have a timer. */
static void test_what_another_took_back_is_asked_for_at_once(void **state)
{
	(void)state;
	warm_up();
	for (unsigned is_long_way = 0; is_long_way < 2; is_long_way++) {
		pair_post_receive(&pair.ends[1], 7, PAIR_BUFFER_BYTES);
		adapter_lock(pair.ends[0].adapter);
		assert_int_equal(send_locked(SEND_SEND, 9000, 7), RING_CACHE_LINE);
		zcopy_revoke(&pair.ends[0].qp->qp);
		pair_runtime()->may_go_fast = !is_long_way;
		adapter_progress(pair.ends[1].adapter, adapter_now(pair.ends[1].adapter));
		pair_runtime()->may_go_fast = true;
		assert_null(cq_first(pair.ends[1].cq));
		assert_true(pair.ends[1].qp->qp.responder.nak_was_sent);
		adapter_unlock(pair.ends[0].adapter);
		pair_take_both(9000, 7);
	}
}

/* A record that a peer writes into a ring is untrusted. */
static void test_references_to_memory_that_is_not_shared_are_refused(void **state)
{
	static const struct zcopy_ticket tickets[] = {
		{.place = RKEY_EXPORT_SHARED_BYTES, .byte_count = 1},
		{.place = RKEY_EXPORT_SHARED_BYTES - 4095, .byte_count = 4096},
		{.place = UINT64_MAX, .byte_count = 4096},
		{.place = 0, .byte_count = 0},
		{.place = 0, .byte_count = UINT32_MAX},
		{.place = 0, .byte_count = 4096, .serial_index = RKEY_EXPORT_ZCOPY_SERIALS},
		{.place = 0, .byte_count = 4096, .serial_index = UINT16_MAX},
	};
	uint8_t body[64] = {0};

	(void)state;
	warm_up();
	pair_post_receive(&pair.ends[1], 1, PAIR_BUFFER_BYTES);
	adapter_lock(pair.ends[0].adapter);
	for (unsigned i = 0; i < ARRAY_COUNT(tickets); i++) {
		struct ring_record record = {.byte_count = 20 + sizeof(tickets[i]),
					     .kind = RECORD_ZCOPY,
					     .port = 1 << 8 | 1,
					     .packet_count = 4,
					     .body = body};
		uint64_t malformed = pair_runtime()->drops.malformed;

		memcpy(body + 20, &tickets[i], sizeof(tickets[i]));
		assert_null(zcopy_receive(pair_runtime(), pair_channel(), 0, &record));
		zcopy_receive_packets(pair_runtime(), pair_channel(), 0, &record);
		assert_int_equal(pair_runtime()->drops.malformed, malformed + 1);
		for (record.byte_count = 0; record.byte_count < 20 + sizeof(tickets[i]);
		     record.byte_count++)
			assert_null(zcopy_receive(pair_runtime(), pair_channel(), 0, &record));
	}
	adapter_unlock(pair.ends[0].adapter);
	/* The receive that was posted above is still there. */
	assert_int_equal(send(SEND_SEND, 2000, 9), RING_CACHE_LINE);
	pair_take_both(2000, 9);
}

/* This test comes last: the connection is over after it. */
static void test_what_was_taken_back_is_not_received(void **state)
{
	const struct qp_attributes attributes = {.state = QP_ERROR};
	struct completion sent;

	(void)state;
	warm_up();
	pair_post_receive(&pair.ends[1], 8, PAIR_BUFFER_BYTES);
	adapter_lock(pair.ends[0].adapter);
	assert_int_equal(send_locked(SEND_SEND, 9000, 8), RING_CACHE_LINE);
	assert_int_equal(qp_object_modify(pair.ends[0].qp, adapter_now(pair.ends[0].adapter),
					  &attributes, QP_HAS_STATE),
			 0);
	/* The program has the memory back, and uses it for something else. */
	memset(pair.ends[0].buffer, 0xff, 9000);
	adapter_progress(pair.ends[1].adapter, adapter_now(pair.ends[1].adapter));
	assert_null(cq_first(pair.ends[1].cq));
	assert_int_equal(receive_queue_count(pair.ends[1].qp->qp.receive_queue), 1);
	adapter_unlock(pair.ends[0].adapter);
	pair_poll_one(&pair.ends[0], &sent);
	assert_int_equal(sent.status, COMPLETION_FLUSHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_messages_take_a_line_of_the_ring),
		cmocka_unit_test(test_short_ones_do_not),
		cmocka_unit_test(test_they_are_posted_and_sent_in_one_go),
		cmocka_unit_test(test_immediate_data_comes_along),
		cmocka_unit_test(test_a_receiver_without_the_fast_path_takes_them_as_packets),
		cmocka_unit_test(test_a_receiver_that_is_not_ready_is_asked_again),
		cmocka_unit_test(test_messages_outlive_the_sharing),
		cmocka_unit_test(test_what_another_took_back_is_asked_for_at_once),
		cmocka_unit_test(test_references_to_memory_that_is_not_shared_are_refused),
		cmocka_unit_test(test_what_was_taken_back_is_not_received),
	};

	return cmocka_run_group_tests(tests, share_buffer, pair_end_all);
}
