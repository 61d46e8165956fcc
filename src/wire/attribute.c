/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes, decodes and prints management attributes by field tables. */
#include "wire/attribute.h"

#include <string.h>
#include "base/attributes.h"
#include "base/bytes.h"

enum { WORD_BYTES = 8, WORD_BITS = 64, ATTRIBUTE_WORDS_MAX = 32 };

/* An attribute's bits as 64-bit numbers, so that a field is found by a shift. Bit 0 of the
 * attribute is the most significant bit of the first number. */
struct bit_words {
	uint64_t words[ATTRIBUTE_WORDS_MAX];
};

static size_t word_count(size_t byte_count)
{
	assert(byte_count <= ATTRIBUTE_WORDS_MAX * WORD_BYTES);
	return (byte_count + WORD_BYTES - 1) / WORD_BYTES;
}

static inline uint64_t get_bits(const uint64_t *words, unsigned bit, unsigned bit_count)
{
	unsigned offset = bit % WORD_BITS;
	uint64_t mask = UINT64_MAX >> (WORD_BITS - bit_count);
	unsigned end = offset + bit_count;

	words += bit / WORD_BITS;
	if (likely(end <= WORD_BITS))
		return words[0] >> (WORD_BITS - end) & mask;
	return (words[0] << (end - WORD_BITS) | words[1] >> (2 * WORD_BITS - end)) & mask;
}

/* The bits must be zero before. */
static inline void put_bits(uint64_t *words, unsigned bit, unsigned bit_count, uint64_t value)
{
	unsigned offset = bit % WORD_BITS;
	unsigned end = offset + bit_count;

	value &= UINT64_MAX >> (WORD_BITS - bit_count);
	words += bit / WORD_BITS;
	if (likely(end <= WORD_BITS)) {
		words[0] |= value << (WORD_BITS - end);
		return;
	}
	words[0] |= value >> (end - WORD_BITS);
	words[1] |= value << (2 * WORD_BITS - end);
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
	size_t count = word_count(layout->byte_count);
	size_t tail_bytes = layout->byte_count % WORD_BYTES;
	struct bit_words bits;
	uint8_t tail[WORD_BYTES];

	memset(bits.words, 0, count * sizeof(bits.words[0]));
	for (size_t i = 0; i < layout->field_count; i++) {
		const struct attribute_field *field = &layout->fields[i];

		put_bits(bits.words, field->bit_offset, field->bit_count,
			 attribute_field_value(field, attribute));
	}
	for (size_t i = 0; i < layout->byte_count / WORD_BYTES; i++)
		put_be64(ret_bytes + i * WORD_BYTES, bits.words[i]);
	if (!tail_bytes)
		return;
	put_be64(tail, bits.words[count - 1]);
	memcpy(ret_bytes + layout->byte_count - tail_bytes, tail, tail_bytes);
}

void attribute_decode(const struct attribute_layout *layout, const uint8_t *bytes,
		      void *ret_attribute)
{
	size_t count = word_count(layout->byte_count);
	size_t tail_bytes = layout->byte_count % WORD_BYTES;
	struct bit_words bits;
	uint8_t tail[WORD_BYTES] = {0};

	for (size_t i = 0; i < layout->byte_count / WORD_BYTES; i++)
		bits.words[i] = get_be64(bytes + i * WORD_BYTES);
	if (tail_bytes) {
		memcpy(tail, bytes + layout->byte_count - tail_bytes, tail_bytes);
		bits.words[count - 1] = get_be64(tail);
	}
	for (size_t i = 0; i < layout->field_count; i++) {
		const struct attribute_field *field = &layout->fields[i];

		attribute_field_set(field,
				    get_bits(bits.words, field->bit_offset, field->bit_count),
				    ret_attribute);
	}
}
