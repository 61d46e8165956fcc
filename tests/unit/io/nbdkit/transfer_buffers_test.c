/* SPDX-License-Identifier: Apache-2.0 */
/* Transfer buffers: each has one owner, and who finds none waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <pthread.h>
#include "io/nbdkit/transfer_buffers.h"

enum { THREADS = 48, TURNS = 500, BYTES = 64, WAIT_MS = 60000 };

static struct transfer_buffers buffers;

static int set_up(void **state)
{
	(void)state;
	return transfer_buffers_open(&buffers);
}

static int tear_down(void **state)
{
	(void)state;
	transfer_buffers_close(&buffers);
	return 0;
}

static void test_all_buffers_are_different(void **state)
{
	uint8_t *taken[TRANSFER_BUFFERS];

	(void)state;
	for (unsigned i = 0; i < TRANSFER_BUFFERS; i++) {
		taken[i] = transfer_buffers_take(&buffers, WAIT_MS);
		memset(taken[i], (int)i, TRANSFER_BUFFER_BYTES);
	}
	assert_int_equal(buffers.is_free, 0);
	assert_null(transfer_buffers_take(&buffers, 0));
	for (unsigned i = 0; i < TRANSFER_BUFFERS; i++) {
		assert_int_equal(taken[i][0], i);
		assert_int_equal(taken[i][TRANSFER_BUFFER_BYTES - 1], i);
		transfer_buffers_return(&buffers, taken[i]);
	}
	assert_int_equal(buffers.is_free, UINT32_MAX);
}

static void test_the_buffer_that_came_back_is_taken_next(void **state)
{
	(void)state;

	uint8_t *first = transfer_buffers_take(&buffers, WAIT_MS),
		*second = transfer_buffers_take(&buffers, WAIT_MS);

	transfer_buffers_return(&buffers, first);
	assert_ptr_equal(transfer_buffers_take(&buffers, WAIT_MS), first);
	transfer_buffers_return(&buffers, second);
	assert_ptr_equal(transfer_buffers_take(&buffers, WAIT_MS), second);
	transfer_buffers_return(&buffers, first);
	transfer_buffers_return(&buffers, second);
}

static void *take_one(void *context)
{
	(void)context;
	return transfer_buffers_take(&buffers, WAIT_MS);
}

static void test_who_finds_none_gets_the_one_that_comes_back(void **state)
{
	uint8_t *taken[TRANSFER_BUFFERS];
	pthread_t thread;
	void *got;

	(void)state;
	for (unsigned i = 0; i < TRANSFER_BUFFERS; i++)
		taken[i] = transfer_buffers_take(&buffers, WAIT_MS);
	assert_int_equal(pthread_create(&thread, NULL, take_one, NULL), 0);
	transfer_buffers_return(&buffers, taken[7]);
	assert_int_equal(pthread_join(thread, &got), 0);
	assert_ptr_equal(got, taken[7]);
	for (unsigned i = 0; i < TRANSFER_BUFFERS; i++)
		transfer_buffers_return(&buffers, taken[i]);
}

/* Returns NULL, or itself if another thread wrote to its buffer. */
static void *take_turns(void *context)
{
	const uint8_t *mark = context;
	void *fault = NULL;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		uint8_t *buffer = transfer_buffers_take(&buffers, WAIT_MS);

		memset(buffer, *mark, BYTES);
		for (unsigned i = 0; i < BYTES; i++)
			if (((volatile uint8_t *)buffer)[i] != *mark)
				fault = context;
		transfer_buffers_return(&buffers, buffer);
	}
	return fault;
}

static void test_more_threads_than_buffers(void **state)
{
	uint8_t marks[THREADS];
	pthread_t threads[THREADS];
	void *fault;

	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		marks[i] = (uint8_t)i;
		assert_int_equal(pthread_create(&threads[i], NULL, take_turns, &marks[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &fault), 0);
		assert_null(fault);
	}
	assert_int_equal(buffers.is_free, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_buffers_are_different, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_buffer_that_came_back_is_taken_next,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_who_finds_none_gets_the_one_that_comes_back,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_more_threads_than_buffers, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
