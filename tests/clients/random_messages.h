/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers from a seed, and messages of which both sides know every byte. */
#ifndef SOFTIB_TESTS_CLIENTS_RANDOM_MESSAGES_H
#define SOFTIB_TESTS_CLIENTS_RANDOM_MESSAGES_H

#include <stdint.h>
#include <string.h>

static uint64_t random_state = 1;

#define MESSAGE_MULTIPLIER 0xda942042e4dd58b5u

static inline uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % limit;
}

/* A number for a message of a queue pair that both sides compute, whatever else they draw. */
static inline uint64_t message_key(uint64_t seed, uint64_t queue, uint64_t number)
{
	uint64_t key = (seed + 1) * 0x9e3779b97f4a7c15u + queue * 0xff51afd7ed558ccdu +
		       number * 0xc4ceb9fe1a85ec53u;

	key = (key ^ key >> 31) * 0xbf58476d1ce4e5b9u;
	return key ^ key >> 29;
}

/* The key decides the bytes of a message; no part of a message equals another. */
static inline void message_write(uint64_t key, uint8_t *ret_bytes, uint32_t byte_count)
{
	for (uint32_t i = 0; i < byte_count; i += 8) {
		uint64_t word = (key + i) * MESSAGE_MULTIPLIER;

		memcpy(ret_bytes + i, &word, byte_count - i < 8 ? byte_count - i : 8);
	}
}

#endif
