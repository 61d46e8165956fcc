/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of any width at any bit, by table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/random.h"
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

/* The reference implementation: bit by bit. */
static bool bit_at(const uint8_t *bytes, unsigned bit)
{
	return bytes[bit / 8] >> (7 - bit % 8) & 1;
}

/* Layouts of any size, with fields of any width anywhere, agree with the reference
 * implementation. */
static void test_random_layouts_agree_with_the_plain_way(void **state)
{
	(void)state;
	enum { FIELDS = 24, BYTES_MAX = 200 };
	struct random random = random_seeded(77);

	for (unsigned round = 0; round < 2000; round++) {
		struct attribute_field fields[FIELDS];
		uint64_t values[FIELDS] = {0}, again[FIELDS] = {0};
		uint8_t expected[BYTES_MAX] = {0}, bytes[BYTES_MAX + 1];
		unsigned bit = 0, count = 0;

		for (; count < FIELDS; count++) {
			unsigned gap = (unsigned)random_below(&random, 3)
					       ? 0
					       : (unsigned)random_below(&random, 70);
			unsigned width = 1 + (unsigned)random_below(&random, 64);

			if (bit + gap + width > BYTES_MAX * 8)
				break;
			bit += gap;
			values[count] = random_next(&random);
			for (unsigned i = 0; i < width; i++) {
				unsigned place = bit + i;

				if (values[count] >> (width - 1 - i) & 1)
					expected[place / 8] =
						(uint8_t)(expected[place / 8] | 0x80 >> place % 8);
			}
			fields[count] = (struct attribute_field){
				.name = "any",
				.struct_offset = (uint16_t)(count * sizeof(values[0])),
				.struct_bytes = sizeof(values[0]),
				.bit_offset = (uint16_t)bit,
				.bit_count = (uint8_t)width,
			};
			bit += width;
		}

		const struct attribute_layout layout = {.name = "random",
							.fields = fields,
							.field_count = count,
							.byte_count = (bit + 7) / 8};

		memset(bytes, 0xa5, sizeof(bytes));
		attribute_encode(&layout, values, bytes);
		assert_memory_equal(bytes, expected, layout.byte_count);
		assert_int_equal(bytes[layout.byte_count], 0xa5);
		attribute_decode(&layout, bytes, again);
		for (unsigned field = 0; field < count; field++) {
			uint64_t value = 0;

			for (unsigned i = 0; i < fields[field].bit_count; i++)
				value = value << 1 | bit_at(bytes, fields[field].bit_offset + i);
			assert_int_equal(again[field], value);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits_count_from_the_top_of_byte_0),
		cmocka_unit_test(test_a_value_too_big_loses_its_top_only),
		cmocka_unit_test(test_fields_are_read_and_set_by_row),
		cmocka_unit_test(test_any_bytes_round_trip),
		cmocka_unit_test(test_random_layouts_agree_with_the_plain_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
