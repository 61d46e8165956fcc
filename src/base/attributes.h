/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler attributes that C11 has no name for. */
#ifndef SOFTIB_BASE_ATTRIBUTES_H
#define SOFTIB_BASE_ATTRIBUTES_H

#include <assert.h>
#include <stddef.h>

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_index, first_index)                                                     \
	__attribute__((format(printf, format_index, first_index)))

/* For per-packet code that is written once for several cases, each compiled separately. */
#define IN_LINE inline __attribute__((always_inline))

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

/* For per-packet code: on in debug and sanitizer builds only. */
#ifdef SOFTIB_DEBUG
#define debug_assert(condition) assert(condition)
#else
#define debug_assert(condition) ((void)sizeof(condition))
#endif

#endif
