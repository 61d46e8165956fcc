/* SPDX-License-Identifier: Apache-2.0 */
/* Keys derived from a secret: the same for all who have it, another for each port and use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/mad/derived_keys.h"

static void test_keys_differ_by_secret_use_and_port(void **state)
{
	static const uint8_t secret[SIPHASH_KEY_BYTES] = {1, 2, 3}, other[SIPHASH_KEY_BYTES] = {1};
	uint64_t key = derived_key(secret, KEY_FOR_BKEY, 0x100);

	(void)state;
	assert_int_equal(key, derived_key(secret, KEY_FOR_BKEY, 0x100));
	assert_int_not_equal(key, derived_key(secret, KEY_FOR_BKEY, 0x101));
	assert_int_not_equal(key, derived_key(secret, KEY_FOR_MKEY, 0x100));
	assert_int_not_equal(key, derived_key(other, KEY_FOR_BKEY, 0x100));
	assert_int_not_equal(key, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_differ_by_secret_use_and_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
