/* SPDX-License-Identifier: Apache-2.0 */
/* The SA header: literal bytes (management 4.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "vectors/hex.h"
#include "wire/sa_mad.h"

static void test_sa_header_bytes(void **state)
{
	const struct sa_header header = {.sm_key = 0x0102030405060708,
					 .attribute_offset = 14,
					 .component_mask = 0x8000000000000003};
	uint8_t expected[SA_HEADER_BYTES];
	uint8_t bytes[SA_HEADER_BYTES];
	struct sa_header decoded;

	(void)state;
	assert_int_equal(hex_bytes("0102030405060708 000e 0000 8000000000000003", sizeof(expected),
				   expected),
			 SA_HEADER_BYTES);
	sa_header_encode(&header, bytes);
	assert_memory_equal(bytes, expected, sizeof(bytes));
	assert_true(sa_header_decode(bytes, sizeof(bytes), &decoded));
	assert_int_equal(decoded.sm_key, header.sm_key);
	assert_int_equal(decoded.attribute_offset, header.attribute_offset);
	assert_int_equal(decoded.component_mask, header.component_mask);
}

static void test_short_header_is_refused(void **state)
{
	uint8_t bytes[SA_HEADER_BYTES] = {0};
	struct sa_header decoded;

	(void)state;
	assert_false(sa_header_decode(bytes, SA_HEADER_BYTES - 1, &decoded));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sa_header_bytes),
		cmocka_unit_test(test_short_header_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
