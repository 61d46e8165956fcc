/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a CQ shows as the times of its completions: they never run backwards.
 *
 * A completion has the time that the engine was entered with, and one call may be entered with a time
 * read before that of the call that completed something earlier on the same CQ. All times are of one
 * clock, the adapter's, which ibv_query_rt_values_ex shows.
 */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_COMPLETION_CLOCK_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_COMPLETION_CLOCK_H

#include <stdbool.h>
#include "base/time.h"

/* The wall clock is set back by more than this, or it is not set back at all. */
#define WALL_STEP_MIN_NS MILLISECONDS(1)

struct completion_clock {
	time_ns stamp; /* the last that was shown */
	time_ns wall;  /* the last that was shown, and of which stamp; 0: none yet */
	time_ns wall_stamp;
	time_ns wall_ahead; /* of the adapter's clock, modulo 2^64 */
};

/* The wall clock, read between two readings of the adapter's. */
struct wall_reading {
	time_ns before, wall, after;
};

/* What to show for a completion that follows the one shown last. */
static inline time_ns completion_clock_stamp(struct completion_clock *clock, time_ns stamp)
{
	if (stamp > clock->stamp)
		clock->stamp = stamp;
	return clock->stamp;
}

/* The same as a time of day. A reading that took long is worse than the one before it. */
static inline time_ns completion_clock_wall(struct completion_clock *clock, time_ns stamp,
					    struct wall_reading reading)
{
	bool is_first = !clock->wall;

	if (!is_first && stamp == clock->wall_stamp)
		return clock->wall;
	/* Against the later reading: no completion seems to come after it was polled. */
	if (is_first || reading.after - reading.before < MICROSECONDS(10))
		clock->wall_ahead = reading.wall - reading.after;

	time_ns wall = stamp + clock->wall_ahead;

	if (!is_first && wall < clock->wall && clock->wall - wall < WALL_STEP_MIN_NS)
		wall = clock->wall;
	clock->wall = wall;
	clock->wall_stamp = stamp;
	return wall;
}

#endif
