/* SPDX-License-Identifier: Apache-2.0 */
/* The local route header against literal bytes (transport 1.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "vectors/hex.h"
#include "wire/lrh.h"

static void test_fields_lie_where_the_table_puts_them(void **state)
{
	(void)state;
	struct lrh lrh = {.vl = 7,
			  .version = 0,
			  .sl = 1,
			  .lnh = LNH_LOCAL,
			  .dlid = 0x375c,
			  .slid = 0x17d2,
			  .words = 14};
	uint8_t expected[LRH_BYTES];
	uint8_t bytes[LRH_BYTES];

	assert_int_equal(hex_bytes("70 12 375c 000e 17d2", sizeof(expected), expected), LRH_BYTES);
	lrh_encode(&lrh, bytes);
	assert_memory_equal(bytes, expected, LRH_BYTES);
}

static void test_decode_reads_each_field(void **state)
{
	(void)state;
	uint8_t bytes[LRH_BYTES];
	struct lrh lrh;

	assert_int_equal(hex_bytes("f3 a3 c001 ffff 8002", sizeof(bytes), bytes), LRH_BYTES);
	assert_true(lrh_decode(bytes, sizeof(bytes), &lrh));
	assert_int_equal(lrh.vl, 15);
	assert_int_equal(lrh.version, 3);
	assert_int_equal(lrh.sl, 10);
	assert_int_equal(lrh.lnh, LNH_GLOBAL);
	assert_int_equal(lrh.dlid, 0xc001);
	assert_int_equal(lrh.words, 0x7ff);
	assert_int_equal(lrh.slid, 0x8002);
}

static void test_reserved_bits_are_sent_as_zero(void **state)
{
	(void)state;
	struct lrh lrh = {.vl = 0xff, .version = 0xff, .sl = 0xff, .lnh = 0xff, .words = 0xffff};
	uint8_t bytes[LRH_BYTES];

	lrh_encode(&lrh, bytes);
	assert_int_equal(bytes[1] & 0x0c, 0);
	assert_int_equal(bytes[4] & 0xf8, 0);
}

static void test_short_input_is_refused_and_changes_nothing(void **state)
{
	(void)state;
	const uint8_t bytes[LRH_BYTES] = {0xff};
	struct lrh lrh = {.dlid = 0x1234};

	for (size_t byte_count = 0; byte_count < LRH_BYTES; byte_count++)
		assert_false(lrh_decode(bytes, byte_count, &lrh));
	assert_int_equal(lrh.dlid, 0x1234);
	assert_int_equal(lrh.vl, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_lie_where_the_table_puts_them),
		cmocka_unit_test(test_decode_reads_each_field),
		cmocka_unit_test(test_reserved_bits_are_sent_as_zero),
		cmocka_unit_test(test_short_input_is_refused_and_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
