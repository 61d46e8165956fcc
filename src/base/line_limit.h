/* SPDX-License-Identifier: Apache-2.0 */
/* Few lines a second about what strangers cause, so that a flood of bad input is seen and does not
 * hide other lines. */
#ifndef SOFTIB_BASE_LINE_LIMIT_H
#define SOFTIB_BASE_LINE_LIMIT_H

#include <stdbool.h>
#include "base/time.h"

enum { LINE_LIMIT_PER_SECOND = 5 };

/* All zero at the beginning. */
struct line_limit {
	time_ns until; /* end of the second of line_count */
	unsigned line_count;
};

/* Whether a line may be written now. */
static inline bool line_limit_admits(struct line_limit *limit, time_ns now)
{
	if (now >= limit->until) {
		limit->until = now + SECONDS(1);
		limit->line_count = 0;
	}
	return limit->line_count++ < LINE_LIMIT_PER_SECOND;
}

#endif
