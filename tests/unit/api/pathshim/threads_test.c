/* SPDX-License-Identifier: Apache-2.0 */
/* The hook is called before a second thread starts, by whatever function it is created. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <threads.h>

extern void (*softib_before_thread)(void);

static pthread_t teller;
static unsigned told_count;
static atomic_uint running_count;
static unsigned running_when_told;

static void told(void)
{
	teller = pthread_self();
	told_count++;
	running_when_told = atomic_load(&running_count);
}

static int set_up(void **state)
{
	(void)state;
	told_count = 0;
	running_when_told = 99;
	atomic_store(&running_count, 0);
	softib_before_thread = told;
	return 0;
}

static void *run(void *context)
{
	atomic_fetch_add(&running_count, 1);
	return context;
}

static int run_c11(void *context)
{
	atomic_fetch_add(&running_count, 1);
	return *(int *)context;
}

static void test_pthread_create_tells_first_and_starts_the_thread(void **state)
{
	pthread_t thread;
	void *result;
	int word;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, run, &word), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &word);
	assert_int_equal(told_count, 1);
	assert_int_equal(running_when_told, 0);
	assert_true(pthread_equal(teller, pthread_self()));
	assert_int_equal(atomic_load(&running_count), 1);
}

static void test_thrd_create_tells_first_and_starts_the_thread(void **state)
{
	thrd_t thread;
	int word = 42, result;

	(void)state;
	assert_int_equal(thrd_create(&thread, run_c11, &word), thrd_success);
	assert_int_equal(thrd_join(thread, &result), thrd_success);
	assert_int_equal(result, 42);
	/* The C library may make it of a pthread_create that is not ours, or of one that is. */
	assert_in_range(told_count, 1, 2);
	assert_int_equal(running_when_told, 0);
}

static void test_attributes_reach_the_thread(void **state)
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED), 0);
	assert_int_equal(pthread_create(&thread, &attributes, run, NULL), 0);
	while (!atomic_load(&running_count))
		thrd_yield();
	pthread_attr_destroy(&attributes);
	assert_int_equal(told_count, 1);
}

/* What can't be made is the C library's to say; who was told has been told. */
static void test_failure_is_passed_on(void **state)
{
	pthread_attr_t attributes;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(pthread_attr_setstacksize(&attributes, SIZE_MAX / 4 & ~0xfffful), 0);
	assert_int_equal(pthread_create(&thread, &attributes, run, NULL), EAGAIN);
	pthread_attr_destroy(&attributes);
	assert_int_equal(told_count, 1);
	assert_int_equal(atomic_load(&running_count), 0);
}

static void test_nobody_to_tell_is_no_hindrance(void **state)
{
	pthread_t thread;

	(void)state;
	softib_before_thread = NULL;
	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(told_count, 0);
	assert_int_equal(atomic_load(&running_count), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_pthread_create_tells_first_and_starts_the_thread,
				       set_up),
		cmocka_unit_test_setup(test_thrd_create_tells_first_and_starts_the_thread, set_up),
		cmocka_unit_test_setup(test_attributes_reach_the_thread, set_up),
		cmocka_unit_test_setup(test_failure_is_passed_on, set_up),
		cmocka_unit_test_setup(test_nobody_to_tell_is_no_hindrance, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
