/* SPDX-License-Identifier: Apache-2.0 */
/* A program that polls but has no processor is told apart from one that waits, computes or spins on
 * memory. */
#include "runtime/program_use.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>
#include "runtime/process_runtime.h"

enum { SLEEPS = 20, POLLS_MIN = 50 };

static struct program_watch watch;

static int begin(void **state)
{
	(void)state;
	watch.last = (struct program_use){.polls = 1000, .processor_ns = SECONDS(3), .sleeps = 7};
	watch.sleeps = watch.last.sleeps;
	return 0;
}

/* Since the last sample. */
static bool is_polling_after(uint64_t polls, time_ns processor_ns, uint64_t sleeps)
{
	const struct program_use now = {watch.last.polls + polls,
					watch.last.processor_ns + processor_ns,
					watch.last.sleeps + sleeps};

	return program_watch_is_polling(&watch, now, POLLS_MIN);
}

static void test_who_polls_often_is_a_poller(void **state)
{
	(void)state;
	assert_true(is_polling_after(20000, MILLISECONDS(1), 0));
	assert_true(is_polling_after(POLLS_MIN, MILLISECONDS(1), 0));
	/* Whatever else the program does. */
	assert_true(is_polling_after(POLLS_MIN, MILLISECONDS(1), 3));
}

static void test_who_polls_whenever_it_runs_is_a_poller(void **state)
{
	(void)state;
	assert_true(is_polling_after(20000, MILLISECONDS(1), 0));
	/* The program had no processor, or hardly any. */
	for (unsigned i = 0; i < 100; i++)
		assert_true(is_polling_after(0, 0, 0));
	assert_true(is_polling_after(3, MICROSECONDS(2), 0));
	assert_true(is_polling_after(0, 0, 0));
}

/* However much the program polled before. */
static void test_who_runs_and_does_something_else_is_none(void **state)
{
	(void)state;
	assert_true(is_polling_after(1000000, MILLISECONDS(1), 0));
	assert_false(is_polling_after(0, MILLISECONDS(1), 0));
	assert_false(is_polling_after(POLLS_MIN / 2, MILLISECONDS(1), 0));
}

static void test_who_went_to_sleep_is_none(void **state)
{
	(void)state;
	assert_true(is_polling_after(20000, MILLISECONDS(1), 0));
	assert_false(is_polling_after(0, 0, 1));
	/* The program still polls. */
	assert_false(is_polling_after(0, 0, 0));
	assert_true(is_polling_after(20000, MILLISECONDS(1), 0));
	assert_true(is_polling_after(0, 0, 0));
}

/* As far as anybody can tell, in the same time in which it polled, after its last poll. */
static void test_who_polled_and_went_to_sleep_is_none(void **state)
{
	(void)state;
	assert_true(is_polling_after(20000, MILLISECONDS(1), 1));
	assert_false(is_polling_after(0, 0, 0));
	assert_true(is_polling_after(20000, MILLISECONDS(1), 0));
	assert_true(is_polling_after(0, 0, 0));
}

/* Only the fact that the program slept counts. */
static void *sleep_some_times(void *context)
{
	const struct timespec moment = {.tv_nsec = 1000};

	for (unsigned i = 0; i < SLEEPS; i++)
		(void)ppoll(NULL, 0, &moment, NULL);
	return context;
}

/* The test is the progress thread, and a thread of the test is the program. */
static void test_sleeps_are_the_program_s_own(void **state)
{
	struct process_runtime *runtime = calloc(1, sizeof(*runtime));
	struct program_use before, now;
	pthread_t program;

	(void)state;
	assert_non_null(runtime);
	before = program_use_now(runtime);
	sleep_some_times(NULL);
	now = program_use_now(runtime);
	assert_int_equal(now.sleeps, before.sleeps);
	assert_true(now.processor_ns >= before.processor_ns);

	assert_int_equal(pthread_create(&program, NULL, sleep_some_times, NULL), 0);
	assert_int_equal(pthread_join(program, NULL), 0);
	now = program_use_now(runtime);
	assert_true(now.sleeps - before.sleeps >= SLEEPS);
	/* The test made the program do so. */
	runtime->progress.naps = now.sleeps - before.sleeps;
	runtime->progress.poll_count = 5;
	now = program_use_now(runtime);
	assert_int_equal(now.sleeps, before.sleeps);
	assert_int_equal(now.polls - before.polls, 5);
	free(runtime);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_who_polls_often_is_a_poller, begin),
		cmocka_unit_test_setup(test_who_polls_whenever_it_runs_is_a_poller, begin),
		cmocka_unit_test_setup(test_who_runs_and_does_something_else_is_none, begin),
		cmocka_unit_test_setup(test_who_went_to_sleep_is_none, begin),
		cmocka_unit_test_setup(test_who_polled_and_went_to_sleep_is_none, begin),
		cmocka_unit_test(test_sleeps_are_the_program_s_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
