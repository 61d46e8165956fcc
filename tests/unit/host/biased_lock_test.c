/* SPDX-License-Identifier: Apache-2.0 */
/* A lock with a favoured thread: nobody is in with another, and the favour goes where it is used. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "host/biased_lock.h"

enum { TURNS = 20000, RARE_TURNS = 300, THREADS = 4, FAVOUR_ENDS = 1000 };

static struct biased_lock lock;
static uint64_t first, second; /* always the same, for whoever holds the lock */

static int setup(void **state)
{
	(void)state;
	biased_lock_init(&lock);
	first = second = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	biased_lock_destroy(&lock);
	return 0;
}

static void take_turns(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		biased_lock_take(&lock);
		assert_true(first == second);
		first++;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		second++;
		biased_lock_leave(&lock);
	}
}

static void *rarely(void *context)
{
	(void)context;
	biased_lock_never_favour_me(&lock);
	take_turns(RARE_TURNS);
	return NULL;
}

static void *often(void *context)
{
	(void)context;
	take_turns(TURNS);
	return NULL;
}

static void test_the_first_to_take_it_is_favoured(void **state)
{
	(void)state;
	take_turns(1);
	if (!lock.has_favour)
		skip();
	assert_ptr_equal(lock.favoured, this_thread());
	biased_lock_take(&lock);
	assert_int_equal(lock.is_held, 1);
	biased_lock_leave(&lock);
	assert_int_equal(lock.is_held, 0);
}

static void test_a_helper_is_kept_out_and_never_favoured(void **state)
{
	pthread_t helper;

	(void)state;
	take_turns(1);
	assert_int_equal(pthread_create(&helper, NULL, rarely, NULL), 0);
	take_turns(TURNS);
	pthread_join(helper, NULL);
	assert_int_equal(first, 1 + RARE_TURNS + TURNS);
	assert_int_equal(first, second);
	if (lock.has_favour)
		assert_ptr_equal(lock.favoured, this_thread());
}

static void test_the_favour_follows_a_thread_that_works_alone(void **state)
{
	pthread_t worker;

	(void)state;
	take_turns(10);
	assert_int_equal(pthread_create(&worker, NULL, often, NULL), 0);
	pthread_join(worker, NULL);
	if (lock.has_favour)
		assert_ptr_not_equal(lock.favoured, this_thread());
	assert_int_equal(first, 10 + TURNS);
}

static void test_threads_that_take_turns_end_with_a_mutex(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, often, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(first, THREADS * TURNS);
	assert_int_equal(first, second);
	/* Each of two threads in turn, until nobody is favoured any more. */
	for (unsigned i = 0; i < FAVOUR_ENDS && lock.has_favour; i++) {
		pthread_t one;

		take_turns(40);
		assert_int_equal(pthread_create(&one, NULL, rarely, NULL), 0);
		pthread_join(one, NULL);
		lock.never_favoured = NULL;
		assert_int_equal(pthread_create(&one, NULL, often, NULL), 0);
		pthread_join(one, NULL);
	}
	assert_false(lock.has_favour);
	assert_null(lock.favoured);
	take_turns(10);
}

#define lock_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		lock_test(test_the_first_to_take_it_is_favoured),
		lock_test(test_a_helper_is_kept_out_and_never_favoured),
		lock_test(test_the_favour_follows_a_thread_that_works_alone),
		lock_test(test_threads_that_take_turns_end_with_a_mutex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
