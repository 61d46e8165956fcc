/* SPDX-License-Identifier: Apache-2.0 */
/* Times, and the specification's time codes (transport 8.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/time.h"

static void test_codes_are_powers_of_two_of_4096_ns(void **state)
{
	(void)state;
	assert_int_equal(time_from_code(0), 4096);
	assert_int_equal(time_from_code(14), 67108864);
	assert_int_equal(time_from_code(31), (time_ns)4096 << 31);
	assert_int_equal(time_from_code(32 + 3), time_from_code(3));
}

static void test_never_is_later_than_any_time(void **state)
{
	(void)state;
	assert_int_equal(time_earlier(TIME_NEVER, SECONDS(5)), 5000000000);
	assert_int_equal(time_earlier(MILLISECONDS(1), MICROSECONDS(999)), 999000);
	assert_int_equal(time_earlier(TIME_NEVER, TIME_NEVER), TIME_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes_are_powers_of_two_of_4096_ns),
		cmocka_unit_test(test_never_is_later_than_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
