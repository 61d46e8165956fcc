/* SPDX-License-Identifier: Apache-2.0 */
/* Big-endian numbers at any alignment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"

static void test_numbers_are_written_most_significant_byte_first(void **state)
{
	(void)state;
	static const uint8_t expected[] = {1, 2, 3, 4, 5, 6, 7, 8};

	for (unsigned alignment = 0; alignment < 8; alignment++) {
		uint8_t bytes[17] = {0};
		uint8_t *place = bytes + alignment;

		put_be64(place, 0x0102030405060708);
		assert_memory_equal(place, expected, 8);
		assert_int_equal(get_be64(place), 0x0102030405060708);
		assert_int_equal(get_be32(place), 0x01020304);
		assert_int_equal(get_be64_once(place), 0x0102030405060708);
		assert_int_equal(get_be32_once(place), 0x01020304);
		assert_int_equal(get_be24(place), 0x010203);
		assert_int_equal(get_be16(place), 0x0102);
		put_be32(place + 1, 0x02030405);
		put_be24(place + 2, 0xff030405);
		put_be16(place + 3, 0x0405);
		assert_memory_equal(place, expected, 8);
		assert_int_equal(place[8], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_written_most_significant_byte_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
