/* SPDX-License-Identifier: Apache-2.0 */
/* The biased lock: it excludes every other thread, and the bias moves to the thread that uses the
 * lock. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <sched.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/biased_lock.h"

enum { TURNS = 20000, RARE_TURNS = 300, THREADS = 4, BIAS_ENDS = 1000, GETS_THE_BIAS = 40 };

static struct biased_lock lock;
static uint64_t first, second; /* equal whenever a thread holds the lock */

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

/* False if the kernel has no process fence, or after threads have alternated too often. */
static bool has_bias(void)
{
	return lock.bias <= &lock.biases[BIASED_LOCK_BIASES];
}

/* The bias of this thread, which takes the lock first. Skips the test if there is no bias. */
static struct bias *first_bias(void)
{
	take_turns(1);
	if (!has_bias())
		skip();
	return biased_lock_bias(&lock);
}

static void *rarely(void *context)
{
	(void)context;
	biased_lock_never_bias_to_me(&lock);
	take_turns(RARE_TURNS);
	return NULL;
}

static void *often(void *context)
{
	(void)context;
	take_turns(TURNS);
	return NULL;
}

static void *works_alone(void *context)
{
	(void)context;
	take_turns(GETS_THE_BIAS);
	return NULL;
}

/* A thread that has the bias and holds the lock until it is told to leave. */
struct holder {
	pthread_barrier_t is_in;
	pthread_barrier_t may_leave;
};

static void *takes_and_stays(void *context)
{
	struct holder *holder = context;

	take_turns(GETS_THE_BIAS);
	biased_lock_take(&lock);
	pthread_barrier_wait(&holder->is_in);
	pthread_barrier_wait(&holder->may_leave);
	biased_lock_leave(&lock);
	return NULL;
}

static void test_the_first_thread_to_take_the_lock_gets_the_bias(void **state)
{
	(void)state;

	const struct bias *mine = first_bias();

	assert_non_null(mine);
	biased_lock_take(&lock);
	assert_int_equal(mine->is_held, 1);
	biased_lock_leave(&lock);
	assert_int_equal(mine->is_held, 0);
	assert_true(biased_lock_try(&lock));
	assert_int_equal(mine->is_held, 1);
	biased_lock_leave(&lock);
	assert_int_equal(mine->is_held, 0);
}

/* The owner reads its bias and is preempted; another thread gets the bias meanwhile. */
static void test_a_bias_that_moved_to_another_thread_takes_no_lock(void **state)
{
	pthread_t worker;

	(void)state;

	struct bias *stale = first_bias();

	assert_int_equal(pthread_create(&worker, NULL, works_alone, NULL), 0);
	pthread_join(worker, NULL);
	assert_null(biased_lock_bias(&lock));
	assert_false(biased_lock_enter(&lock, stale));
	assert_false(biased_lock_try(&lock));
	take_turns(1);
}

static void test_a_stale_bias_does_not_release_the_lock_of_its_holder(void **state)
{
	struct holder holder;
	pthread_t worker;

	(void)state;

	struct bias *stale = first_bias();

	pthread_barrier_init(&holder.is_in, NULL, 2);
	pthread_barrier_init(&holder.may_leave, NULL, 2);
	assert_int_equal(pthread_create(&worker, NULL, takes_and_stays, &holder), 0);
	pthread_barrier_wait(&holder.is_in);
	assert_false(biased_lock_enter(&lock, stale));
	assert_int_equal(lock.bias->is_held, 1);
	pthread_barrier_wait(&holder.may_leave);
	pthread_join(worker, NULL);
	pthread_barrier_destroy(&holder.is_in);
	pthread_barrier_destroy(&holder.may_leave);
}

static void test_a_progress_thread_is_excluded_and_never_gets_the_bias(void **state)
{
	pthread_t progress;

	(void)state;
	take_turns(1);
	assert_int_equal(pthread_create(&progress, NULL, rarely, NULL), 0);
	take_turns(TURNS);
	pthread_join(progress, NULL);
	assert_int_equal(first, 1 + RARE_TURNS + TURNS);
	assert_int_equal(first, second);
	if (has_bias())
		assert_non_null(biased_lock_bias(&lock));
}

static unsigned alternating; /* the thread whose turn it is: 0 or 1 */

/* The word that the threads alternate by orders no memory, so only the lock orders their writes. */
static void alternate(unsigned me)
{
	for (unsigned i = 0; i < RARE_TURNS; i++) {
		while (__atomic_load_n(&alternating, __ATOMIC_RELAXED) != me)
			sched_yield();
		take_turns(1);
		__atomic_store_n(&alternating, !me, __ATOMIC_RELAXED);
	}
}

static void *alternates_without_bias(void *context)
{
	(void)context;
	biased_lock_never_bias_to_me(&lock);
	alternate(1);
	return NULL;
}

/* The biased thread never meets the other one in the lock, so it never takes the mutex. The thread
 * sanitizer reports a race here if the lock lacks an acquire or a release. */
static void test_each_holder_sees_what_the_holder_before_it_wrote(void **state)
{
	pthread_t other;

	(void)state;
	take_turns(1);
	alternating = 1;
	assert_int_equal(pthread_create(&other, NULL, alternates_without_bias, NULL), 0);
	alternate(0);
	pthread_join(other, NULL);
	assert_int_equal(first, 1 + 2 * RARE_TURNS);
	assert_int_equal(first, second);
	if (has_bias())
		assert_non_null(biased_lock_bias(&lock));
}

static void test_the_bias_follows_a_thread_that_works_alone(void **state)
{
	pthread_t worker;

	(void)state;
	take_turns(10);
	assert_int_equal(pthread_create(&worker, NULL, often, NULL), 0);
	pthread_join(worker, NULL);
	assert_null(biased_lock_bias(&lock));
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
	/* Two threads alternate until the lock gives no bias any more. */
	for (unsigned i = 0; i < BIAS_ENDS && has_bias(); i++) {
		pthread_t one;

		take_turns(GETS_THE_BIAS);
		assert_int_equal(pthread_create(&one, NULL, rarely, NULL), 0);
		pthread_join(one, NULL);
		lock.never_biased = NULL;
		assert_int_equal(pthread_create(&one, NULL, often, NULL), 0);
		pthread_join(one, NULL);
	}
	assert_false(has_bias());
	assert_null(biased_lock_bias(&lock));
	take_turns(10);
}

#define lock_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		lock_test(test_the_first_thread_to_take_the_lock_gets_the_bias),
		lock_test(test_a_bias_that_moved_to_another_thread_takes_no_lock),
		lock_test(test_a_stale_bias_does_not_release_the_lock_of_its_holder),
		lock_test(test_a_progress_thread_is_excluded_and_never_gets_the_bias),
		lock_test(test_each_holder_sees_what_the_holder_before_it_wrote),
		lock_test(test_the_bias_follows_a_thread_that_works_alone),
		lock_test(test_threads_that_take_turns_end_with_a_mutex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
