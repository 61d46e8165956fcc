/* SPDX-License-Identifier: Apache-2.0 */
/* Management attributes from field tables. */
#include "wire/attribute.h"

#include <string.h>

/* The bits of one field that lie in one byte. */
struct piece {
	size_t byte;
	unsigned shift; /* of the least significant bit taken */
	unsigned bit_count;
};

static struct piece piece_at(unsigned bit, unsigned bit_count_max)
{
	unsigned room = 8 - bit % 8;
	unsigned bit_count = bit_count_max < room ? bit_count_max : room;

	return (struct piece){.byte = bit / 8, .shift = room - bit_count, .bit_count = bit_count};
}

static uint64_t get_bits(const uint8_t *bytes, unsigned bit, unsigned bit_count)
{
	uint64_t value = 0;

	for (struct piece piece; bit_count; bit += piece.bit_count, bit_count -= piece.bit_count) {
		piece = piece_at(bit, bit_count);
		value = value << piece.bit_count |
			(bytes[piece.byte] >> piece.shift & ((1u << piece.bit_count) - 1));
	}
	return value;
}

/* The bits are zero before. */
static void put_bits(uint8_t *bytes, unsigned bit, unsigned bit_count, uint64_t value)
{
	for (struct piece piece; bit_count; bit += piece.bit_count, bit_count -= piece.bit_count) {
		piece = piece_at(bit, bit_count);

		uint64_t part =
			value >> (bit_count - piece.bit_count) & ((1u << piece.bit_count) - 1);

		bytes[piece.byte] = (uint8_t)(bytes[piece.byte] | part << piece.shift);
	}
}

uint64_t attribute_field_value(const struct attribute_field *field, const void *attribute)
{
	const uint8_t *member = (const uint8_t *)attribute + field->struct_offset;
	uint16_t two_bytes;
	uint32_t four_bytes;
	uint64_t eight_bytes;

	switch (field->struct_bytes) {
	case 1:
		return *member;
	case 2:
		memcpy(&two_bytes, member, sizeof(two_bytes));
		return two_bytes;
	case 4:
		memcpy(&four_bytes, member, sizeof(four_bytes));
		return four_bytes;
	default:
		memcpy(&eight_bytes, member, sizeof(eight_bytes));
		return eight_bytes;
	}
}

void attribute_field_set(const struct attribute_field *field, uint64_t value, void *ret_attribute)
{
	uint8_t *member = (uint8_t *)ret_attribute + field->struct_offset;
	uint16_t two_bytes = (uint16_t)value;
	uint32_t four_bytes = (uint32_t)value;

	switch (field->struct_bytes) {
	case 1:
		*member = (uint8_t)value;
		break;
	case 2:
		memcpy(member, &two_bytes, sizeof(two_bytes));
		break;
	case 4:
		memcpy(member, &four_bytes, sizeof(four_bytes));
		break;
	default:
		memcpy(member, &value, sizeof(value));
		break;
	}
}

void attribute_encode(const struct attribute_layout *layout, const void *attribute,
		      uint8_t *ret_bytes)
{
	memset(ret_bytes, 0, layout->byte_count);
	for (size_t i = 0; i < layout->field_count; i++) {
		const struct attribute_field *field = &layout->fields[i];

		put_bits(ret_bytes, field->bit_offset, field->bit_count,
			 attribute_field_value(field, attribute));
	}
}

void attribute_decode(const struct attribute_layout *layout, const uint8_t *bytes,
		      void *ret_attribute)
{
	for (size_t i = 0; i < layout->field_count; i++) {
		const struct attribute_field *field = &layout->fields[i];

		attribute_field_set(field, get_bits(bytes, field->bit_offset, field->bit_count),
				    ret_attribute);
	}
}
