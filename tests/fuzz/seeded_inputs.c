/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without a fuzzer: the inputs that once broke something (seeds/<target>.txt),
 * then, from a fixed seed, random bytes, captured packets, and those packets with bits flipped,
 * bytes replaced and ends cut off. So every sanitizer build covers the decoders a little.
 */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "base/random.h"
#include "vectors/vector_file.h"

enum { RANDOM_INPUTS = 20000, MUTATIONS_PER_VECTOR = 2000, INPUT_BYTES_MAX = 512 };
/* For slow targets, only every n-th input. */
#ifndef SEEDED_DIVISOR
#define SEEDED_DIVISOR 1
#endif

static struct random seeded;
static uint8_t input[VECTOR_BYTES_MAX + 1];
static unsigned long input_count;

static void run(size_t byte_count)
{
	(void)LLVMFuzzerTestOneInput(input, byte_count);
	input_count++;
}

static void run_as_it_is(struct vector *vector)
{
	memcpy(input, vector->bytes, vector->byte_count);
	run(vector->byte_count);
}

static void run_random_bytes(void)
{
	for (unsigned round = 0; round < RANDOM_INPUTS / SEEDED_DIVISOR; round++) {
		size_t byte_count = (size_t)random_below(&seeded, INPUT_BYTES_MAX);

		for (size_t i = 0; i < byte_count; i++)
			input[i] = (uint8_t)random_next(&seeded);
		run(byte_count);
	}
}

/* Cuts or lengthens by words and often makes PktLen agree; otherwise the length check would stop
 * nearly all packets. */
static size_t change_length(size_t byte_count)
{
	size_t words = (size_t)random_below(&seeded, byte_count / 4 + 8);
	size_t changed = 1 + words * 4;

	if (changed > byte_count)
		memset(input + byte_count, 0, changed - byte_count);
	if (changed > 8 && random_below(&seeded, 4))
		put_be16(input + 5, (uint16_t)(words + 1));
	return changed;
}

static void run_mutations(struct vector *vector)
{
	/* Without the CRCs, which the decoder does not read; the byte in front is the packet count
	 * or the choice of a table. */
	size_t whole = vector->byte_count - 6;

	for (unsigned round = 0; round < MUTATIONS_PER_VECTOR / SEEDED_DIVISOR; round++) {
		size_t byte_count = whole + 1;

		input[0] = random_below(&seeded, 4) ? 1 : (uint8_t)random_next(&seeded);
		memcpy(input + 1, vector->bytes, whole);
		if (random_below(&seeded, 2))
			byte_count = change_length(byte_count);
		for (uint64_t changes = random_below(&seeded, 4); changes && byte_count > 1;
		     changes--) {
			/* Changes headers more often than payload. */
			size_t reach =
				random_below(&seeded, 2) && byte_count > 64 ? 64 : byte_count - 1;
			size_t place = 1 + (size_t)random_below(&seeded, reach);

			if (random_below(&seeded, 2))
				input[place] ^= (uint8_t)(1u << random_below(&seeded, 8));
			else
				input[place] = (uint8_t)random_next(&seeded);
		}
		run(byte_count);
	}
}

int main(void)
{
	seeded = random_seeded(50);
	/* Most targets have no such file. */
	(void)vector_file_each(SEEDS, run_as_it_is);
	run_random_bytes();
	if (!vector_file_each(VECTORS "/captured_packets.txt", run_mutations)) {
		fprintf(stderr, "no vectors in %s\n", VECTORS);
		return 1;
	}
	printf("%lu inputs\n", input_count);
	return 0;
}
