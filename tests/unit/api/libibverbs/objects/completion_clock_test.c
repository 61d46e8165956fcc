/* SPDX-License-Identifier: Apache-2.0 */
/* Times of completions as a CQ shows them: monotonic stamps, and wall-clock times made from them.
 */
#include "api/libibverbs/objects/completion_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_stamps_never_run_backwards(void **state)
{
	struct completion_clock clock = {0};

	(void)state;
	assert_int_equal(completion_clock_stamp(&clock, 100), 100);
	assert_int_equal(completion_clock_stamp(&clock, 90), 100);
	assert_int_equal(completion_clock_stamp(&clock, 101), 101);
}

static void test_jitter_of_readings_does_not_turn_the_wall_clock_back(void **state)
{
	const time_ns day = SECONDS(86400);
	struct completion_clock clock = {0};
	struct wall_reading reading = {1000, day + 1010, 1020};

	(void)state;
	assert_int_equal(completion_clock_wall(&clock, 500, reading), day + 490);
	/* The same completion is read again: nothing changes. */
	reading = (struct wall_reading){2000, day + 2000, 2001};
	assert_int_equal(completion_clock_wall(&clock, 500, reading), day + 490);
	/* The reading says 30 ns less than the one before. */
	reading = (struct wall_reading){3000, day + 3000, 3040};
	assert_int_equal(completion_clock_wall(&clock, 510, reading), day + 490);
	/* One that was interrupted is worth nothing. */
	reading = (struct wall_reading){4000, day + 4000, 4000 + SECONDS(1)};
	assert_int_equal(completion_clock_wall(&clock, 3000, reading), day + 2960);
	/* The wall clock was set. */
	reading = (struct wall_reading){5000, 5000, 5000};
	assert_int_equal(completion_clock_wall(&clock, 4000, reading), 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stamps_never_run_backwards),
		cmocka_unit_test(test_jitter_of_readings_does_not_turn_the_wall_clock_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
