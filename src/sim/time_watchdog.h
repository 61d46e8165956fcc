/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a simulation in which virtual time stands still: a host or port always has work, or a
 * deadline is past and stays there.
 */
#ifndef SOFTIB_SIM_TIME_WATCHDOG_H
#define SOFTIB_SIM_TIME_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct sim;

enum { TIME_WATCHDOG_REASON_BYTES = 256 };

struct time_watchdog {
	uint64_t step_count;			 /* since the clock last advanced */
	char reason[TIME_WATCHDOG_REASON_BYTES]; /* "": time advances */
};

/* Counts one step: a turn of all hosts, or a packet that a host hands to its port. False: one
 * instant had more steps than a fabric of this size can need, and from now on nothing moves. */
MUST_USE bool time_watchdog_step(struct sim *sim);

/* The clock advances to a deadline that lies ahead. */
static inline void time_watchdog_rest(struct time_watchdog *watchdog)
{
	watchdog->step_count = 0;
}

static inline bool time_watchdog_has_tripped(const struct time_watchdog *watchdog)
{
	return watchdog->reason[0] != '\0';
}

#endif
