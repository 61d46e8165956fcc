/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a fabric: names, values and usage come from one table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "launch/start_options.h"

/* clang-format off */
static const struct option rows[] = {
	START_LONG_OPTIONS
	{NULL, 0, NULL, 0},
};
/* clang-format on */

static void test_what_is_taken_can_be_handed_on(void **state)
{
	unsigned count = 0;

	(void)state;
	for (const struct option *row = rows; row->name; row++, count++) {
		const char *name = start_option_name((enum start_option)row->val);

		assert_true(start_option_is(row->val));
		assert_memory_equal(name, "--", 2);
		assert_string_equal(name + 2, row->name);
	}
	assert_int_equal(count, START_OPTION_END - START_OPTION_NONE - 1);
	assert_false(start_option_is('n'));
	assert_false(start_option_is(UINT8_MAX));
	assert_false(start_option_is(START_OPTION_END));
	assert_false(start_option_is('?'));
}

static void test_usage_names_every_option(void **state)
{
	(void)state;
	for (const struct option *row = rows; row->name; row++)
		assert_non_null(strstr(START_OPTIONS_USAGE,
				       start_option_name((enum start_option)row->val)));
}

static void test_numbers_out_of_range_are_refused(void **state)
{
	static const char *const bad_hosts[] = {
		"", "0", "-1", "+1", "10001", "2x", " 2", "0x2", "99999999999999999999"};
	static const char *const bad_lmcs[] = {"", "8", "-1", "1.5", "10", "two"};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad_hosts) / sizeof(bad_hosts[0]); i++)
		assert_non_null(start_option_refusal(START_OPTION_HOSTS, bad_hosts[i]));
	for (unsigned i = 0; i < sizeof(bad_lmcs) / sizeof(bad_lmcs[0]); i++)
		assert_non_null(start_option_refusal(START_OPTION_LMC, bad_lmcs[i]));
	for (unsigned count = 0; count < 20; count++) {
		bool is_good = count == 1 || count == 2 || count == 4 || count == 8 || count == 15;
		char text[8];

		snprintf(text, sizeof(text), "%u", count);
		assert_int_equal(!start_option_refusal(START_OPTION_VLS, text), is_good);
	}
	assert_non_null(start_option_refusal(START_OPTION_TCAS, "1001"));
	assert_non_null(start_option_refusal(START_OPTION_TCAS, "-1"));
	assert_null(start_option_refusal(START_OPTION_TCAS, "1000"));
	assert_null(start_option_refusal(START_OPTION_HOSTS, "1"));
	assert_null(start_option_refusal(START_OPTION_HOSTS, "10000"));
	assert_null(start_option_refusal(START_OPTION_LMC, "0"));
	assert_null(start_option_refusal(START_OPTION_LMC, "7"));
}

static void test_options_without_a_value_and_files_are_taken_as_they_are(void **state)
{
	(void)state;
	assert_null(start_option_refusal(START_OPTION_PACED, NULL));
	assert_null(start_option_refusal(START_OPTION_QOS, "no such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_taken_can_be_handed_on),
		cmocka_unit_test(test_usage_names_every_option),
		cmocka_unit_test(test_numbers_out_of_range_are_refused),
		cmocka_unit_test(test_options_without_a_value_and_files_are_taken_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
