/* SPDX-License-Identifier: Apache-2.0 */
/* Prefetches a cache line for writing while another core still has it. */
#ifndef SOFTIB_BASE_CACHE_LINE_H
#define SOFTIB_BASE_CACHE_LINE_H

#include <stddef.h>
#include <stdint.h>

/* Requests the line of this byte: taking it from the core that has it takes a while. */
static inline void cache_line_want(const uint8_t *byte)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*byte));
#else
	__builtin_prefetch(byte, 1);
#endif
}

/* Guesses where the next write goes from where the last ones went. Threads may overwrite the guess
 * for each other. Its addresses are only prefetched, never followed. All zero: none. */
struct cache_line_guess {
	const uint8_t *next; /* NULL: unknown */
	const uint8_t *last;
};

static inline void cache_line_want_next(const struct cache_line_guess *guess)
{
	const uint8_t *next = __atomic_load_n(&guess->next, __ATOMIC_RELAXED);

	if (next)
		cache_line_want(next);
}

/* A program that wrote to one place twice is likely to write there again. If a program moves from
 * place to place, others may still read the last one, so there is no guess. */
static inline void cache_line_written(struct cache_line_guess *guess, const uint8_t *byte)
{
	const uint8_t *last = __atomic_load_n(&guess->last, __ATOMIC_RELAXED);

	__atomic_store_n(&guess->next, byte == last ? byte : NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&guess->last, byte, __ATOMIC_RELAXED);
}

#endif
