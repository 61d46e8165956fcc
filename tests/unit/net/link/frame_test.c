/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of frames: bounded, reused, and cleared when taken again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/link/frame.h"
#include "net/link/frame_crc.h"

static void test_pool_gives_no_more_than_its_bound(void **state)
{
	struct frame_pool pool;
	struct frame *frames[128];

	(void)state;
	frame_pool_init(&pool, 128);
	for (unsigned i = 0; i < 128; i++) {
		frames[i] = frame_take(&pool);
		assert_non_null(frames[i]);
	}
	assert_null(frame_take(&pool));
	frame_give_back(&pool, frames[5]);
	assert_ptr_equal(frame_take(&pool), frames[5]);
	assert_null(frame_take(&pool));
	frame_pool_release(&pool);
}

static void test_taken_frame_remembers_nothing(void **state)
{
	struct frame_pool pool;
	struct frame *frame;

	(void)state;
	frame_pool_init(&pool, 64);
	frame = frame_take(&pool);
	frame->source = &pool;
	frame->credit_blocks = 9;
	frame->has_crcs = true;
	frame_give_back(&pool, frame);
	assert_ptr_equal(frame_take(&pool), frame);
	assert_null(frame->source);
	assert_int_equal(frame->credit_blocks, 0);
	assert_false(frame->has_crcs);
	frame_pool_release(&pool);
}

static void test_frames_of_different_sizes_do_not_mix(void **state)
{
	struct frame_pool pool;
	struct frame *tiny, *small, *large;

	(void)state;
	frame_pool_init(&pool, 64);
	tiny = frame_take_for(&pool, FRAME_TINY_BYTES);
	assert_int_equal(tiny->size, FRAME_TINY);
	assert_int_equal(frame_take_for(&pool, FRAME_TINY_BYTES + 1)->size, FRAME_SMALL);
	small = frame_take_for(&pool, FRAME_SMALL_BYTES);
	large = frame_take_for(&pool, FRAME_SMALL_BYTES + 1);
	assert_int_equal(small->size, FRAME_SMALL);
	assert_int_equal(large->size, FRAME_LARGE);
	memset(tiny->bytes, 3, FRAME_TINY_BYTES);
	memset(small->bytes, 1, FRAME_SMALL_BYTES);
	memset(large->bytes, 2, PACKET_BYTES_MAX);
	frame_give_back(&pool, tiny);
	frame_give_back(&pool, small);
	frame_give_back(&pool, large);
	assert_ptr_equal(frame_take(&pool), large);
	assert_ptr_equal(frame_take_for(&pool, FRAME_SMALL_BYTES), small);
	assert_ptr_equal(frame_take_for(&pool, 1), tiny);
	/* When a size has run out, the next larger one is used. */
	for (unsigned i = 0; i < 63; i++)
		assert_int_equal(frame_take_for(&pool, 1)->size, FRAME_TINY);
	for (unsigned i = 0; i < 62; i++)
		assert_int_equal(frame_take_for(&pool, 1)->size, FRAME_SMALL);
	assert_int_equal(frame_take_for(&pool, 1)->size, FRAME_LARGE);
	frame_pool_release(&pool);
}

static void test_copy_is_the_same_packet_in_its_own_place(void **state)
{
	struct frame_pool pool;
	struct frame *frame, *copy;

	(void)state;
	frame_pool_init(&pool, 64);
	frame = frame_take(&pool);
	copy = frame_take_for(&pool, 100);
	frame->byte_count = 100;
	frame->vl = 3;
	frame->source = &pool;
	memset(frame->bytes, 7, 100);
	frame_copy(copy, frame);
	assert_int_equal(copy->byte_count, 100);
	assert_int_equal(copy->vl, 3);
	assert_int_equal(copy->size, FRAME_TINY);
	assert_null(copy->source);
	assert_memory_equal(copy->bytes, frame->bytes, 100);
	frame_pool_release(&pool);
}

/* A tiny frame can stand for a large packet when it is copied, checked or corrupted. */
static void test_packet_without_its_payload_is_copied_and_broken_within_its_room(void **state)
{
	struct frame_pool pool;
	struct frame *frame, *copy;

	(void)state;
	frame_pool_init(&pool, 64);
	frame = frame_take_for(&pool, 40);
	copy = frame_take_for(&pool, 40);
	memset(frame->bytes, 7, FRAME_TINY_BYTES);
	frame->byte_count = 4096;
	assert_int_equal(frame->size, FRAME_TINY);
	assert_int_equal(frame_stored_bytes(frame), FRAME_TINY_BYTES);
	frame_copy(copy, frame);
	assert_int_equal(copy->byte_count, 4096);
	assert_memory_equal(copy->bytes, frame->bytes, FRAME_TINY_BYTES);
	for (uint64_t bit = 0; bit < 9 * (uint64_t)copy->byte_count; bit++) {
		frame_append_crcs(copy);
		assert_int_equal(frame_check_crcs(copy), FRAME_CRCS_RIGHT);
		frame_flip_bit(copy, bit);
		assert_int_equal(frame_check_crcs(copy), FRAME_VCRC_WRONG);
	}
	frame_pool_release(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool_gives_no_more_than_its_bound),
		cmocka_unit_test(test_taken_frame_remembers_nothing),
		cmocka_unit_test(test_frames_of_different_sizes_do_not_mix),
		cmocka_unit_test(test_copy_is_the_same_packet_in_its_own_place),
		cmocka_unit_test(
			test_packet_without_its_payload_is_copied_and_broken_within_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
