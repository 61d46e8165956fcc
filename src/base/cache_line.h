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

#endif
