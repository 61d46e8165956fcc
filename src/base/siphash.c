/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4. */
#include "base/siphash.h"

enum { WORD_BYTES = 8, ROUNDS_PER_WORD = 2, ROUNDS_AT_END = 4 };

struct siphash_state {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate_left(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

/* The algorithm is defined on little-endian words. */
static uint64_t read_word(const uint8_t *bytes, size_t byte_count)
{
	uint64_t word = 0;

	for (size_t i = 0; i < byte_count; i++)
		word |= (uint64_t)bytes[i] << (8 * i);
	return word;
}

static void mix(struct siphash_state *state, unsigned round_count)
{
	for (unsigned round = 0; round < round_count; round++) {
		state->v0 += state->v1;
		state->v1 = rotate_left(state->v1, 13) ^ state->v0;
		state->v0 = rotate_left(state->v0, 32);
		state->v2 += state->v3;
		state->v3 = rotate_left(state->v3, 16) ^ state->v2;
		state->v0 += state->v3;
		state->v3 = rotate_left(state->v3, 21) ^ state->v0;
		state->v2 += state->v1;
		state->v1 = rotate_left(state->v1, 17) ^ state->v2;
		state->v2 = rotate_left(state->v2, 32);
	}
}

static void absorb(struct siphash_state *state, uint64_t word)
{
	state->v3 ^= word;
	mix(state, ROUNDS_PER_WORD);
	state->v0 ^= word;
}

uint64_t siphash(const uint8_t key[static SIPHASH_KEY_BYTES], const uint8_t *bytes,
		 size_t byte_count)
{
	uint64_t k0 = read_word(key, WORD_BYTES);
	uint64_t k1 = read_word(key + WORD_BYTES, WORD_BYTES);
	struct siphash_state state = {
		.v0 = k0 ^ 0x736f6d6570736575u,
		.v1 = k1 ^ 0x646f72616e646f6du,
		.v2 = k0 ^ 0x6c7967656e657261u,
		.v3 = k1 ^ 0x7465646279746573u,
	};
	size_t offset = 0;

	for (; byte_count - offset >= WORD_BYTES; offset += WORD_BYTES)
		absorb(&state, read_word(bytes + offset, WORD_BYTES));
	absorb(&state, read_word(bytes + offset, byte_count - offset) | (uint64_t)byte_count << 56);
	state.v2 ^= 0xff;
	mix(&state, ROUNDS_AT_END);
	return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}
