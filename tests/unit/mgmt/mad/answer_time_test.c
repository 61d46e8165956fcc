/* SPDX-License-Identifier: Apache-2.0 */
/* The bound on response times, computed from the responses that came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/mad/answer_time.h"

static void test_nothing_is_known_before_the_first_answer(void **state)
{
	const struct answer_time answer_time = {0};

	(void)state;
	assert_int_equal(answer_time_bound(&answer_time), 0);
}

static void test_first_answer_leaves_room_for_slower_ones(void **state)
{
	struct answer_time answer_time = {0};

	(void)state;
	answer_time_learn(&answer_time, 1000);
	assert_int_equal(answer_time_bound(&answer_time), 3000);
}

static void test_steady_answers_narrow_the_bound(void **state)
{
	struct answer_time answer_time = {0};

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		answer_time_learn(&answer_time, 1000);
	assert_in_range(answer_time_bound(&answer_time), 990, 1100);
}

/* Slower responses raise the bound at once; faster ones lower it step by step. */
static void test_bound_follows_what_answers_take(void **state)
{
	struct answer_time answer_time = {0};

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		answer_time_learn(&answer_time, 1000);
	answer_time_learn(&answer_time, 9000);
	assert_in_range(answer_time_bound(&answer_time), 9000, 12000);
	for (unsigned i = 0; i < 200; i++)
		answer_time_learn(&answer_time, 1000);
	assert_in_range(answer_time_bound(&answer_time), 990, 1100);
}

/* On a virtual clock a response may take no time at all, and that is a known time too. */
static void test_answers_in_no_time_are_known(void **state)
{
	struct answer_time answer_time = {0};

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		answer_time_learn(&answer_time, 0);
		assert_true(answer_time_bound(&answer_time) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_known_before_the_first_answer),
		cmocka_unit_test(test_first_answer_leaves_room_for_slower_ones),
		cmocka_unit_test(test_steady_answers_narrow_the_bound),
		cmocka_unit_test(test_bound_follows_what_answers_take),
		cmocka_unit_test(test_answers_in_no_time_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
