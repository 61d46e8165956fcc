/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a management class: literal bytes (management 6.2, 6.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "wire/class_key_info.h"

static void test_fields_lie_where_the_reference_puts_them(void **state)
{
	const struct class_key_info info = {
		.key = 0x0102030405060708, .protect_bit = 1, .lease_period = 60, .violations = 9};
	const uint8_t expected[CLASS_KEY_INFO_BYTES] = {1,    2, 3, 4,	5, 6, 7, 8,
							0x80, 0, 0, 60, 0, 9, 0, 0};
	uint8_t bytes[CLASS_KEY_INFO_BYTES];

	(void)state;
	class_key_info_encode(&info, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
	expect_fields_apart(&class_key_info_layout);
	expect_round_trips(&class_key_info_layout, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_lie_where_the_reference_puts_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
