/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of any width at any bit, by table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "vectors/attribute_checks.h"
#include "vectors/hex.h"

/* Straddles bytes, has single bits, gaps and a 64-bit field that starts inside a byte. */
#define ODD_FIELDS(FIELD)                                                                          \
	FIELD(uint8_t, three, 0, 3)                                                                \
	FIELD(uint8_t, one, 3, 1)                                                                  \
	FIELD(uint16_t, nine, 6, 9)                                                                \
	FIELD(uint32_t, twenty, 15, 20)                                                            \
	FIELD(uint64_t, all, 37, 64)

enum { ODD_BYTES = 13 };

ATTRIBUTE_STRUCT(odd, ODD_FIELDS)

#define ATTRIBUTE_SUBJECT struct odd
ATTRIBUTE_DEFINE(odd, ODD_FIELDS, ODD_BYTES)
#undef ATTRIBUTE_SUBJECT

static void test_bits_count_from_the_top_of_byte_0(void **state)
{
	(void)state;
	const struct {
		struct odd odd;
		const char *hex;
	} rows[] = {
		{{.three = 5}, "a0 00 00 00 00 00 00 00 00 00 00 00 00"},
		{{.one = 1}, "10 00 00 00 00 00 00 00 00 00 00 00 00"},
		{{.nine = 0x1ff}, "03 fe 00 00 00 00 00 00 00 00 00 00 00"},
		{{.twenty = 0x80001}, "00 01 00 00 20 00 00 00 00 00 00 00 00"},
		{{.all = 0x8000000000000001}, "00 00 00 00 04 00 00 00 00 00 00 00 08"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t expected[ODD_BYTES];
		uint8_t bytes[ODD_BYTES];
		struct odd again;

		assert_int_equal(hex_bytes(rows[i].hex, sizeof(expected), expected), ODD_BYTES);
		memset(bytes, 0xff, sizeof(bytes));
		odd_encode(&rows[i].odd, bytes);
		assert_memory_equal(bytes, expected, ODD_BYTES);
		odd_decode(bytes, &again);
		assert_int_equal(again.three, rows[i].odd.three);
		assert_int_equal(again.one, rows[i].odd.one);
		assert_int_equal(again.nine, rows[i].odd.nine);
		assert_int_equal(again.twenty, rows[i].odd.twenty);
		assert_int_equal(again.all, rows[i].odd.all);
	}
}

static void test_a_value_too_big_loses_its_top_only(void **state)
{
	(void)state;
	struct odd odd = {.nine = 0xffff};
	uint8_t bytes[ODD_BYTES];

	odd_encode(&odd, bytes);
	assert_int_equal(bytes[0], 0x03);
	assert_int_equal(bytes[1], 0xfe);
	assert_int_equal(bytes[2], 0);
}

static void test_fields_are_read_and_set_by_row(void **state)
{
	(void)state;
	static const char *const names[] = {"three", "one", "nine", "twenty", "all"};
	struct odd odd = {0};

	assert_int_equal(odd_layout.field_count, 5);
	assert_string_equal(odd_layout.name, "odd");
	for (size_t i = 0; i < odd_layout.field_count; i++) {
		assert_string_equal(odd_layout.fields[i].name, names[i]);
		attribute_field_set(&odd_layout.fields[i], i + 1, &odd);
		assert_int_equal(attribute_field_value(&odd_layout.fields[i], &odd), i + 1);
	}
	assert_int_equal(odd.three, 1);
	assert_int_equal(odd.twenty, 4);
	assert_int_equal(odd.all, 5);
}

static void test_any_bytes_round_trip(void **state)
{
	(void)state;
	expect_fields_apart(&odd_layout);
	expect_round_trips(&odd_layout, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits_count_from_the_top_of_byte_0),
		cmocka_unit_test(test_a_value_too_big_loses_its_top_only),
		cmocka_unit_test(test_fields_are_read_and_set_by_row),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
