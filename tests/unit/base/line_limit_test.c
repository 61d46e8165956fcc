/* SPDX-License-Identifier: Apache-2.0 */
/* Few lines a second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/line_limit.h"

static unsigned admitted(struct line_limit *limit, time_ns now)
{
	unsigned count = 0;

	for (unsigned i = 0; i < 1000; i++)
		count += line_limit_admits(limit, now);
	return count;
}

static void test_a_second_has_few_lines(void **state)
{
	struct line_limit limit = {0};

	(void)state;
	assert_int_equal(admitted(&limit, 7), LINE_LIMIT_PER_SECOND);
	assert_int_equal(admitted(&limit, 7 + SECONDS(1) - 1), 0);
	assert_int_equal(admitted(&limit, 7 + SECONDS(1)), LINE_LIMIT_PER_SECOND);
}

static void test_lines_of_one_second_are_counted_together(void **state)
{
	struct line_limit limit = {0};
	unsigned count = 0;

	(void)state;
	for (time_ns now = 0; now < SECONDS(1); now += MILLISECONDS(100))
		count += line_limit_admits(&limit, now);
	assert_int_equal(count, LINE_LIMIT_PER_SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_second_has_few_lines),
		cmocka_unit_test(test_lines_of_one_second_are_counted_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
