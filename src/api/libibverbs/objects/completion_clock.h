/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timestamps of a CQ's completions never run backwards.
 *
 * A completion carries the time at which the engine was entered. Of two calls, the later one may
 * have entered the engine with the earlier time. All times come from the adapter's clock, which
 * ibv_query_rt_values_ex reads.
 */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_COMPLETION_CLOCK_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_COMPLETION_CLOCK_H

#include <stdbool.h>
#include "base/time.h"

/* A smaller step back of the wall clock is a measuring error; a larger one means that it was set
 * back. */
#define WALL_STEP_MIN_NS MILLISECONDS(1)

struct completion_clock {
	time_ns stamp; /* the last one shown */
	time_ns wall;  /* the last one shown, for wall_stamp; 0: none yet */
	time_ns wall_stamp;
	time_ns wall_ahead; /* wall clock minus adapter clock, modulo 2^64 */
};

/* The wall clock, read between two readings of the adapter's clock. */
struct wall_reading {
	time_ns before, wall, after;
};

/* The timestamp of a completion that follows the one shown last. */
static inline time_ns completion_clock_stamp(struct completion_clock *clock, time_ns stamp)
{
	if (stamp > clock->stamp)
		clock->stamp = stamp;
	return clock->stamp;
}

/* The timestamp as a time of day. A reading that was interrupted (10 us or more) is less exact than
 * the previous one, so it is not used. */
static inline time_ns completion_clock_wall(struct completion_clock *clock, time_ns stamp,
					    struct wall_reading reading)
{
	bool is_first = !clock->wall;

	if (!is_first && stamp == clock->wall_stamp)
		return clock->wall;
	/* Measured against the later reading, so that no completion seems to come after its
	 * poll. */
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
