/* SPDX-License-Identifier: Apache-2.0 */
/* Which copy method is chosen, on machines where the one or the other is faster. */
#include "runtime/rma/copy_method.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

enum { MESSAGE_BYTES = 8 << 20, PIECES = 8 };

static struct copy_method trials;

/* Copies this many messages, each method at its own speed. Returns how many went past the cache. */
static unsigned copy_messages(unsigned count, time_ns cached_ns, time_ns past_ns)
{
	unsigned past = 0;

	for (unsigned i = 0; i < count; i++) {
		past += trials.way == COPY_PAST_CACHE;
		for (unsigned piece = 0; piece < PIECES; piece++)
			copy_method_note(&trials, MESSAGE_BYTES, MESSAGE_BYTES / PIECES,
					 trials.way == COPY_CACHED ? cached_ns : past_ns);
	}
	return past;
}

static int set_up(void **state)
{
	(void)state;
	memset(&trials, 0, sizeof(trials));
	return 0;
}

/* The first lap of each method, one that counts and two that are not faster. */
static void test_the_faster_way_is_found_after_both_were_tried(void **state)
{
	(void)state;
	assert_int_equal(trials.way, COPY_CACHED);
	assert_int_equal(copy_messages(8, 300, 200), 4);
	assert_int_equal(copy_messages(128, 300, 200), 128);
	(void)set_up(state);
	assert_int_equal(copy_messages(8, 200, 300), 4);
	assert_int_equal(copy_messages(128, 200, 300), 0);
}

/* The data that the other method left in the caches disappears lap by lap. */
static void test_a_trial_goes_on_while_laps_get_faster(void **state)
{
	static const time_ns cached[] = {800, 700, 600, 500, 400, 300, 250, 200, 200};

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		assert_int_equal(trials.way, COPY_CACHED);
		(void)copy_messages(1, cached[i], 300);
	}
	(void)copy_messages(1, 200, 300);
	assert_int_equal(trials.way, COPY_PAST_CACHE);
	(void)copy_messages(4, 200, 300);
	assert_int_equal(copy_messages(128, 200, 300), 0);
	(void)set_up(state);
	for (time_ns i = 0; i < 16; i++)
		(void)copy_messages(1, 100000 >> i, 300);
	assert_int_equal(trials.way, COPY_PAST_CACHE);
}

static void test_the_slower_way_is_tried_ever_more_seldom(void **state)
{
	(void)state;
	(void)copy_messages(1000, 200, 300);
	assert_true(copy_messages(1000, 200, 300) <= 8);
	(void)copy_messages(10000, 200, 300);
	assert_true(copy_messages(8000, 200, 300) <= 8);
	assert_true(copy_messages(8000, 200, 300) >= 4);
}

static void test_another_state_of_the_machine_is_noticed(void **state)
{
	(void)state;
	(void)copy_messages(100, 200, 300);
	assert_true(copy_messages(1000, 400, 300) > 400);
	assert_true(copy_messages(1000, 200, 300) < 600);
}

/* One lap lost its processor in the middle of a copy, and one found other data in the cache than it
 * would have left there. */
static void test_slow_laps_and_the_first_one_decide_nothing(void **state)
{
	(void)state;
	(void)copy_messages(1, 100, 100);
	(void)copy_messages(1, 200, 300);
	(void)copy_messages(2, 90000, 90000);
	assert_int_equal(trials.way, COPY_PAST_CACHE);
	(void)copy_messages(1, 100, 100);
	(void)copy_messages(3, 200, 300);
	assert_int_equal(trials.way, COPY_CACHED);
	assert_int_equal(copy_messages(128, 200, 300), 0);
}

/* A clock that stands tells nothing, and a clock that leaps tells too much. */
static void test_strange_times_are_survived(void **state)
{
	(void)state;
	(void)copy_messages(100, 0, 0);
	assert_true(copy_messages(100, 0, 0) <= 100);
	(void)copy_messages(100, UINT64_MAX / 16, UINT64_MAX / 16);
	(void)copy_messages(100, 200, 300);
	copy_method_note(&trials, MESSAGE_BYTES, 0, UINT64_MAX);
	assert_true(trials.way < COPY_WAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_faster_way_is_found_after_both_were_tried, set_up),
		cmocka_unit_test_setup(test_a_trial_goes_on_while_laps_get_faster, set_up),
		cmocka_unit_test_setup(test_the_slower_way_is_tried_ever_more_seldom, set_up),
		cmocka_unit_test_setup(test_another_state_of_the_machine_is_noticed, set_up),
		cmocka_unit_test_setup(test_slow_laps_and_the_first_one_decide_nothing, set_up),
		cmocka_unit_test_setup(test_strange_times_are_survived, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
