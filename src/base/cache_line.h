/* SPDX-License-Identifier: Apache-2.0 */
/* Asking for a line of memory that another processor has, before it is written. */
#ifndef SOFTIB_BASE_CACHE_LINE_H
#define SOFTIB_BASE_CACHE_LINE_H

#include <stddef.h>
#include <stdint.h>

/* The line that byte is in: it takes a while until whoever has it has given it away. */
static inline void cache_line_want(const uint8_t *byte)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*byte));
#else
	__builtin_prefetch(byte, 1);
#endif
}

/* Where the next thing will be written, by where the last ones were. A guess, which threads may
 * overwrite for each other; addresses in it are asked for and never followed. All zero: none. */
struct cache_line_guess {
	const uint8_t *next; /* NULL: nobody knows */
	const uint8_t *last;
};

static inline void cache_line_want_next(const struct cache_line_guess *guess)
{
	const uint8_t *next = __atomic_load_n(&guess->next, __ATOMIC_RELAXED);

	if (next)
		cache_line_want(next);
}

/* Who writes to the same place twice does so once more. Of who goes on from place to place, others
 * may be reading the last one. */
static inline void cache_line_written(struct cache_line_guess *guess, const uint8_t *byte)
{
	const uint8_t *last = __atomic_load_n(&guess->last, __ATOMIC_RELAXED);

	__atomic_store_n(&guess->next, byte == last ? byte : NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&guess->last, byte, __ATOMIC_RELAXED);
}

#endif
