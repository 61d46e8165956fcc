/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for every attribute table, whatever its fields. Include after cmocka.h. */
#ifndef SOFTIB_TESTS_VECTORS_ATTRIBUTE_CHECKS_H
#define SOFTIB_TESTS_VECTORS_ATTRIBUTE_CHECKS_H

#include <stdbool.h>
#include <string.h>
#include "base/random.h"
#include "wire/attribute.h"

enum { ATTRIBUTE_BYTES_MAX = 256 };

/* No two fields share a bit, none leaves the attribute, and each member can hold its field. */
static inline void expect_fields_apart(const struct attribute_layout *layout)
{
	bool taken[ATTRIBUTE_BYTES_MAX * 8] = {false};

	assert_true(layout->byte_count <= ATTRIBUTE_BYTES_MAX);
	for (size_t i = 0; i < layout->field_count; i++) {
		const struct attribute_field *field = &layout->fields[i];

		assert_true(field->bit_offset + field->bit_count <= layout->byte_count * 8);
		assert_true(field->bit_count <= field->struct_bytes * 8);
		for (unsigned bit = 0; bit < field->bit_count; bit++) {
			assert_false(taken[field->bit_offset + bit]);
			taken[field->bit_offset + bit] = true;
		}
	}
}

/* Any bytes, decoded and encoded, come back with the bits that no field covers as zero; encoding
 * those again changes nothing. */
static inline void expect_round_trips(const struct attribute_layout *layout, uint64_t seed)
{
	struct random random = random_seeded(seed);
	uint8_t bytes[ATTRIBUTE_BYTES_MAX];
	uint8_t once[ATTRIBUTE_BYTES_MAX];
	uint8_t twice[ATTRIBUTE_BYTES_MAX];
	uint64_t attribute[ATTRIBUTE_BYTES_MAX];
	uint8_t covered[ATTRIBUTE_BYTES_MAX] = {0};

	for (size_t i = 0; i < layout->field_count; i++)
		for (unsigned bit = 0; bit < layout->fields[i].bit_count; bit++) {
			unsigned place = layout->fields[i].bit_offset + bit;

			covered[place / 8] = (uint8_t)(covered[place / 8] | 0x80 >> place % 8);
		}
	for (unsigned round = 0; round < 100; round++) {
		for (size_t i = 0; i < layout->byte_count; i++)
			bytes[i] = (uint8_t)random_next(&random);
		attribute_decode(layout, bytes, attribute);
		attribute_encode(layout, attribute, once);
		for (size_t i = 0; i < layout->byte_count; i++)
			assert_int_equal(once[i], bytes[i] & covered[i]);
		attribute_decode(layout, once, attribute);
		attribute_encode(layout, attribute, twice);
		assert_memory_equal(twice, once, layout->byte_count);
	}
}

#endif
