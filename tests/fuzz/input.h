/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers and bytes from the input of a fuzz target. At its end everything reads as zero. */
#ifndef SOFTIB_TESTS_FUZZ_INPUT_H
#define SOFTIB_TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The rest of the input. */
struct input {
	const uint8_t *bytes;
	size_t byte_count;
};

static inline uint8_t input_byte(struct input *input)
{
	if (!input->byte_count)
		return 0;
	input->byte_count--;
	return *input->bytes++;
}

static inline uint16_t input_16(struct input *input)
{
	const unsigned high = input_byte(input);

	return (uint16_t)(high << 8 | input_byte(input));
}

static inline uint32_t input_32(struct input *input)
{
	const uint32_t high = input_16(input);

	return high << 16 | input_16(input);
}

static inline uint64_t input_64(struct input *input)
{
	const uint64_t high = input_32(input);

	return high << 32 | input_32(input);
}

/* A number below count, which is at most 256. */
static inline unsigned input_below(struct input *input, unsigned count)
{
	return input_byte(input) % count;
}

/* Fills the bytes; those that the input does not have are zero. Returns how many it has. */
static inline size_t input_fill(struct input *input, void *ret_bytes, size_t byte_count)
{
	size_t taken = byte_count < input->byte_count ? byte_count : input->byte_count;

	memset(ret_bytes, 0, byte_count);
	if (taken)
		memcpy(ret_bytes, input->bytes, taken);
	input->bytes += taken;
	input->byte_count -= taken;
	return taken;
}

/* Bytes of the input that overwrite a few places: a count, then for each place its offset and its
 * byte. A structure that is right stays nearly right. */
static inline void input_change(struct input *input, void *bytes, size_t byte_count)
{
	for (unsigned left = input_below(input, 4); left && byte_count; left--) {
		size_t offset = input_16(input) % byte_count;

		((uint8_t *)bytes)[offset] = input_byte(input);
	}
}

#endif
