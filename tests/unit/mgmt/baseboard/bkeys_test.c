/* SPDX-License-Identifier: Apache-2.0 */
/* The B_Keys of a baseboard manager: one for all ports, or one per port. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/baseboard/bkeys.h"

static void test_one_key_for_all_ports(void **state)
{
	const struct bkeys keys = {.key = 7}, none = {0};

	(void)state;
	assert_int_equal(bkey_of(&keys, 1), 7);
	assert_int_equal(bkey_of(&keys, 2), 7);
	assert_int_equal(bkey_of(&none, 1), 0);
}

static void test_secret_gives_each_port_its_own(void **state)
{
	const struct bkeys keys = {.key = 7, .has_secret = true, .secret = {1, 2}};

	(void)state;
	assert_int_not_equal(bkey_of(&keys, 1), bkey_of(&keys, 2));
	assert_int_not_equal(bkey_of(&keys, 1), 7);
	assert_int_equal(bkey_of(&keys, 1), bkey_of(&keys, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_key_for_all_ports),
		cmocka_unit_test(test_secret_gives_each_port_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
