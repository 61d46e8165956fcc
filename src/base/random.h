/* SPDX-License-Identifier: Apache-2.0 */
/* A small seeded generator: the same seed gives the same run everywhere. */
#ifndef SOFTIB_BASE_RANDOM_H
#define SOFTIB_BASE_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;
};

static inline struct random random_seeded(uint64_t seed)
{
	return (struct random){.state = seed};
}

/* SplitMix64. */
static inline uint64_t random_next(struct random *random)
{
	uint64_t mixed = (random->state += 0x9e3779b97f4a7c15u);

	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
	return mixed ^ (mixed >> 31);
}

/* 0 .. bound - 1; bound is not 0. */
static inline uint64_t random_below(struct random *random, uint64_t bound)
{
	return random_next(random) % bound;
}

#endif
