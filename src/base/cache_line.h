/* SPDX-License-Identifier: Apache-2.0 */
/* Asking for a line of memory that another processor has, before it is written. */
#ifndef SOFTIB_BASE_CACHE_LINE_H
#define SOFTIB_BASE_CACHE_LINE_H

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

#endif
