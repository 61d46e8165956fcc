/* SPDX-License-Identifier: Apache-2.0 */
/* Time in nanoseconds. The caller of an engine passes it in; engines read no clock. */
#ifndef SOFTIB_BASE_TIME_H
#define SOFTIB_BASE_TIME_H

#include <stdint.h>

typedef uint64_t time_ns;

#define TIME_NEVER UINT64_MAX

#define MICROSECONDS(n) (1000u * (time_ns)(n))
#define MILLISECONDS(n) (1000000u * (time_ns)(n))
#define SECONDS(n)	(1000000000u * (time_ns)(n))

static inline time_ns time_earlier(time_ns a, time_ns b)
{
	return a < b ? a : b;
}

/* A 5-bit time of the specification: 4.096 us x 2^code (transport 8.7). */
static inline time_ns time_from_code(unsigned code)
{
	return (time_ns)4096u << (code & 31u);
}

#endif
