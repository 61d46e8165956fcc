/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of frames: bounded, reused, and clean when taken again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/link/frame.h"

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
	frame->is_corrupt = true;
	frame_give_back(&pool, frame);
	assert_ptr_equal(frame_take(&pool), frame);
	assert_null(frame->source);
	assert_int_equal(frame->credit_blocks, 0);
	assert_false(frame->is_corrupt);
	frame_pool_release(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool_gives_no_more_than_its_bound),
		cmocka_unit_test(test_taken_frame_remembers_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
