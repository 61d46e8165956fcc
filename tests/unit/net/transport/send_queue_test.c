/* SPDX-License-Identifier: Apache-2.0 */
/* Posting: what fits into a slot, and when the queue is full. */
#include "net/transport/send_queue.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/transport/completion.h"

static void test_queue_takes_exactly_what_was_asked(void **state)
{
	struct send_queue queue;
	struct send_request request = {.opcode = SEND_SEND};

	(void)state;
	assert_int_equal(send_queue_init(&queue, 5, 1, 0), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), 0);
	assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), -ENOMEM);
	queue.head++;
	assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), 0);
	send_queue_release(&queue);
}

static void test_positions_wrap(void **state)
{
	struct send_queue queue;
	struct send_request request = {.opcode = SEND_SEND};

	(void)state;
	assert_int_equal(send_queue_init(&queue, 4, 1, 0), 0);
	queue.head = queue.done = queue.started = queue.tail = UINT32_MAX - 1;
	for (uint64_t i = 0; i < 4; i++) {
		request.wr_id = i;
		assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), 0);
	}
	assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), -ENOMEM);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(send_queue_slot(&queue, queue.head + (uint32_t)i)->wr_id, i);
	send_queue_release(&queue);
}

static void test_too_many_sges_are_refused(void **state)
{
	struct send_queue queue;
	struct sge sges[3] = {{.byte_count = 1}, {.byte_count = 2}, {.byte_count = 3}};
	struct send_request request = {.opcode = SEND_SEND, .sge_count = 3, .sges = sges};

	(void)state;
	assert_int_equal(send_queue_init(&queue, 4, 2, 0), 0);
	assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), -EINVAL);
	request.sge_count = 2;
	assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), 0);
	assert_int_equal(send_queue_slot(&queue, 0)->byte_count, 3);
	assert_memory_equal(send_slot_sges(send_queue_slot(&queue, 0)), sges,
			    2 * sizeof(struct sge));
	send_queue_release(&queue);
}

static void test_inline_data_of_many_pieces_needs_only_bytes(void **state)
{
	struct send_queue queue;
	struct sge sges[3] = {
		{.address = (uintptr_t) "abc", .byte_count = 3},
		{.address = 0, .byte_count = 0},
		{.address = (uintptr_t) "de", .byte_count = 2},
	};
	struct send_request request = {
		.opcode = SEND_SEND, .flags = SEND_INLINE, .sge_count = 3, .sges = sges};

	(void)state;
	assert_int_equal(send_queue_init(&queue, 4, 1, 5), 0);
	assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), 0);
	assert_memory_equal(send_queue_slot(&queue, 0)->data, "abcde", 5);
	sges[2].byte_count = 3;
	assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), -EINVAL);
	send_queue_release(&queue);
}

static void test_messages_above_1_gib_are_marked(void **state)
{
	struct send_queue queue;
	struct sge sges[2] = {{.byte_count = UINT32_MAX}, {.byte_count = UINT32_MAX}};
	struct send_request request = {.opcode = SEND_SEND, .sge_count = 2, .sges = sges};

	(void)state;
	assert_int_equal(send_queue_init(&queue, 4, 2, 0), 0);
	assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), 0);
	assert_int_equal(send_queue_slot(&queue, 0)->fault, COMPLETION_LOCAL_LENGTH);
	sges[0].byte_count = MESSAGE_BYTES_MAX;
	request.sge_count = 1;
	assert_int_equal(send_queue_post(&queue, &request, SEND_CONNECTED), 0);
	assert_int_equal(send_queue_slot(&queue, 1)->fault, COMPLETION_SUCCESS);
	send_queue_release(&queue);
}

static void test_absurd_sizes_are_refused(void **state)
{
	struct send_queue queue;

	(void)state;
	assert_int_equal(send_queue_init(&queue, 4, SEND_SGES_MAX + 1, 0), -EINVAL);
	assert_int_equal(send_queue_init(&queue, 4, 1, SEND_INLINE_BYTES_MAX + 1), -EINVAL);
	assert_int_equal(send_queue_init(&queue, 0, 0, 0), 0);
	send_queue_release(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_takes_exactly_what_was_asked),
		cmocka_unit_test(test_positions_wrap),
		cmocka_unit_test(test_too_many_sges_are_refused),
		cmocka_unit_test(test_inline_data_of_many_pieces_needs_only_bytes),
		cmocka_unit_test(test_messages_above_1_gib_are_marked),
		cmocka_unit_test(test_absurd_sizes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
