/* SPDX-License-Identifier: Apache-2.0 */
/* Partition membership and the ranges of LIDs (transport 8.10, 10.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "wire/pkey.h"

static void test_one_of_the_two_must_be_a_full_member(void **state)
{
	(void)state;
	assert_true(pkey_matches(0xffff, 0xffff));
	assert_true(pkey_matches(0xffff, 0x7fff));
	assert_true(pkey_matches(0x7fff, 0xffff));
	assert_false(pkey_matches(0x7fff, 0x7fff));
	assert_false(pkey_matches(0x8001, 0x8002));
	assert_false(pkey_matches(0x8001, 0x0002));
}

static void test_base_zero_matches_nothing(void **state)
{
	(void)state;
	assert_false(pkey_matches(0x8000, 0x8000));
	assert_false(pkey_matches(0x0000, 0x8000));
	assert_false(pkey_matches(0, 0));
	assert_false(pkey_may_send(0, 0));
	assert_false(pkey_may_send(0x8000, 0x8000));
}

static void test_members_send_under_no_more_than_their_own_membership(void **state)
{
	(void)state;
	assert_true(pkey_may_send(0x8001, 0x8001));
	assert_true(pkey_may_send(0x8001, 0x0001));
	assert_true(pkey_may_send(0x0001, 0x0001));
	assert_false(pkey_may_send(0x0001, 0x8001));
	assert_false(pkey_may_send(0x8001, 0x8002));
}

static void test_every_lid_is_of_one_kind(void **state)
{
	(void)state;
	for (unsigned lid = 0; lid <= 0xffff; lid++) {
		bool is_unicast = lid >= 1 && lid <= 0xbfff;
		bool is_multicast = lid >= 0xc000 && lid <= 0xfffe;

		assert_int_equal(lid_is_unicast((uint16_t)lid), is_unicast);
		assert_int_equal(lid_is_multicast((uint16_t)lid), is_multicast);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_of_the_two_must_be_a_full_member),
		cmocka_unit_test(test_base_zero_matches_nothing),
		cmocka_unit_test(test_members_send_under_no_more_than_their_own_membership),
		cmocka_unit_test(test_every_lid_is_of_one_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
