/* SPDX-License-Identifier: Apache-2.0 */
/* How long a message may wait in its ring for a receive request: see rnr_hold.h. */
#include "runtime/packets/rnr_hold.h"

enum { PRICE_DIVISOR = 4 }; /* for a program that posts late */

void rnr_hold_init(struct rnr_hold *rnr_hold)
{
	*rnr_hold = (struct rnr_hold){
		.max_ns = RNR_HOLD_MAX_NS,
		.reliable_max_ns = RNR_HOLD_RELIABLE_NS,
		.left_ns = RNR_HOLD_MAX_NS,
	};
}

/* A time that another thread read may be a little older. */
static time_ns passed(const struct rnr_hold *rnr_hold, time_ns now)
{
	return now > rnr_hold->since ? now - rnr_hold->since : 0;
}

/* false: too little of the budget is left. */
static bool begin(struct rnr_hold *rnr_hold, uint64_t position, time_ns now)
{
	time_ns left_ns = rnr_hold->left_ns + passed(rnr_hold, now);

	if (left_ns < RNR_HOLD_MIN_NS)
		return false;
	rnr_hold->left_ns = left_ns < rnr_hold->max_ns ? left_ns : rnr_hold->max_ns;
	rnr_hold->since = now;
	rnr_hold->position = position;
	rnr_hold->is_waiting = true;
	return true;
}

static void end(struct rnr_hold *rnr_hold, time_ns now, time_ns price_ns)
{
	rnr_hold->left_ns -= price_ns < rnr_hold->left_ns ? price_ns : rnr_hold->left_ns;
	rnr_hold->since = now;
	rnr_hold->is_waiting = false;
}

void rnr_hold_lose(struct rnr_hold *rnr_hold, time_ns now)
{
	end(rnr_hold, now, rnr_hold->left_ns);
}

static bool waits(struct rnr_hold *rnr_hold, uint64_t position, time_ns now, time_ns max_ns)
{
	rnr_hold_came_to(rnr_hold, position, now);
	if (!rnr_hold->is_waiting)
		return begin(rnr_hold, position, now);

	time_ns waited_ns = passed(rnr_hold, now);

	if (waited_ns < rnr_hold->left_ns && waited_ns < max_ns)
		return true;
	end(rnr_hold, now, waited_ns);
	return false;
}

bool rnr_hold_waits(struct rnr_hold *rnr_hold, uint64_t position, time_ns now)
{
	return waits(rnr_hold, position, now, TIME_NEVER);
}

bool rnr_hold_waits_reliable(struct rnr_hold *rnr_hold, uint64_t position, time_ns now)
{
	return waits(rnr_hold, position, now, rnr_hold->reliable_max_ns);
}

void rnr_hold_came_to(struct rnr_hold *rnr_hold, uint64_t position, time_ns now)
{
	if (!rnr_hold->is_waiting || position == rnr_hold->position)
		return;

	time_ns waited_ns = passed(rnr_hold, now);

	end(rnr_hold, now, waited_ns > RNR_HOLD_FREE_NS ? waited_ns / PRICE_DIVISOR : 0);
}
