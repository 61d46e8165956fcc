/* SPDX-License-Identifier: Apache-2.0 */
/* M_Keys on a command line: refused values, and the default key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "launch/mkey_settings.h"

static void test_numbers_out_of_range_are_refused(void **state)
{
	(void)state;
	assert_null(mkey_settings_refusal(MKEY_KEY, "0xffffffffffffffff"));
	assert_non_null(mkey_settings_refusal(MKEY_KEY, "0x10000000000000000"));
	assert_non_null(mkey_settings_refusal(MKEY_KEY, "-1"));
	assert_non_null(mkey_settings_refusal(MKEY_KEY, ""));
	assert_null(mkey_settings_refusal(MKEY_PROTECTION_LEVEL, "3"));
	assert_non_null(mkey_settings_refusal(MKEY_PROTECTION_LEVEL, "4"));
	assert_null(mkey_settings_refusal(MKEY_LEASE_PERIOD, "65535"));
	assert_non_null(mkey_settings_refusal(MKEY_LEASE_PERIOD, "65536"));
	assert_non_null(mkey_settings_refusal(MKEY_SECRET, ""));
}

static void test_keys_are_hidden_and_leased_unless_chosen_otherwise(void **state)
{
	struct mkey_settings settings = {0};

	(void)state;
	mkey_settings_take(&settings, MKEY_KEY, "0x12");
	assert_int_equal(mkey_settings_complete(&settings), 0);
	assert_int_equal(settings.key, 0x12);
	assert_int_equal(settings.protection_level, 1);
	assert_int_equal(settings.lease_period, 60);
	assert_false(settings.has_secret);
	settings = (struct mkey_settings){0};
	mkey_settings_take(&settings, MKEY_PROTECTION_LEVEL, "0");
	mkey_settings_take(&settings, MKEY_LEASE_PERIOD, "0");
	assert_int_equal(mkey_settings_complete(&settings), 0);
	assert_int_equal(settings.protection_level, 0);
	assert_int_equal(settings.lease_period, 0);
}

static void test_secret_that_can_not_be_read_is_an_error(void **state)
{
	struct mkey_settings settings = {.secret_path = "/nonexistent/secret"};

	(void)state;
	assert_true(mkey_settings_complete(&settings) < 0);
	assert_false(settings.has_secret);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_out_of_range_are_refused),
		cmocka_unit_test(test_keys_are_hidden_and_leased_unless_chosen_otherwise),
		cmocka_unit_test(test_secret_that_can_not_be_read_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
