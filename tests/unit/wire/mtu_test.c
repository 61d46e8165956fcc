/* SPDX-License-Identifier: Apache-2.0 */
/* MTU codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "wire/mtu.h"

static void test_only_codes_1_to_5_mean_something(void **state)
{
	(void)state;
	static const uint32_t bytes[] = {0, 256, 512, 1024, 2048, 4096, 0, 0};

	for (unsigned code = 0; code < 8; code++)
		assert_int_equal(mtu_bytes(code), bytes[code]);
	assert_int_equal(mtu_bytes(~0u), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_codes_1_to_5_mean_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
