/* SPDX-License-Identifier: Apache-2.0 */
/* Which line will be written next. */
#include "base/cache_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const uint8_t places[3][64];

static void test_nothing_is_guessed_at_first(void **state)
{
	struct cache_line_guess guess = {0};

	(void)state;
	cache_line_want_next(&guess);
	cache_line_written(&guess, places[0]);
	assert_null(guess.next);
}

static void test_the_same_place_twice_is_expected_again(void **state)
{
	struct cache_line_guess guess = {0};

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		cache_line_written(&guess, places[1]);
	assert_ptr_equal(guess.next, places[1]);
	cache_line_want_next(&guess);
	cache_line_written(&guess, places[1]);
	assert_ptr_equal(guess.next, places[1]);
}

/* Its reader is at the last one. */
static void test_who_goes_on_leaves_the_last_place_alone(void **state)
{
	struct cache_line_guess guess = {0};

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		cache_line_written(&guess, places[0]);
	for (unsigned i = 1; i < 9; i++) {
		cache_line_written(&guess, places[i % 3]);
		assert_null(guess.next);
	}
}

/* What was written may be gone: asking for it does no harm. */
static void test_asking_for_what_is_not_there_does_no_harm(void **state)
{
	const struct cache_line_guess guess = {.next = (const uint8_t *)(uintptr_t)0xdead0000};

	(void)state;
	cache_line_want_next(&guess);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_guessed_at_first),
		cmocka_unit_test(test_the_same_place_twice_is_expected_again),
		cmocka_unit_test(test_who_goes_on_leaves_the_last_place_alone),
		cmocka_unit_test(test_asking_for_what_is_not_there_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
