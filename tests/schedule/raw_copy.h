/* SPDX-License-Identifier: Apache-2.0 */
/* Copies without a scheduling point: memcpy is one of those that are replaced. */
#ifndef SOFTIB_TESTS_SCHEDULE_RAW_COPY_H
#define SOFTIB_TESTS_SCHEDULE_RAW_COPY_H

#include <stddef.h>

static inline void raw_copy(void *to, const void *from, size_t byte_count)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(byte_count) : : "memory");
}

static inline void raw_fill(void *to, int byte, size_t byte_count)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(byte_count) : "a"(byte) : "memory");
}

#endif
