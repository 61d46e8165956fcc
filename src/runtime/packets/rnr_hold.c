/* SPDX-License-Identifier: Apache-2.0 */
/* How long a message may wait in its ring for a receive request: see patience.h. */
#include "runtime/packets/rnr_hold.h"

enum { PRICE_DIVISOR = 4 }; /* for who posts late */

void patience_init(struct patience *patience)
{
	*patience = (struct patience){
		.max_ns = PATIENCE_MAX_NS,
		.reliable_max_ns = PATIENCE_RELIABLE_NS,
		.left_ns = PATIENCE_MAX_NS,
	};
}

/* A time that was read by another thread may be a little older. */
static time_ns passed(const struct patience *patience, time_ns now)
{
	return now > patience->since ? now - patience->since : 0;
}

/* Returns false if what is left is not worth it. */
static bool begin(struct patience *patience, uint64_t position, time_ns now)
{
	time_ns left_ns = patience->left_ns + passed(patience, now);

	if (left_ns < PATIENCE_MIN_NS)
		return false;
	patience->left_ns = left_ns < patience->max_ns ? left_ns : patience->max_ns;
	patience->since = now;
	patience->position = position;
	patience->is_waiting = true;
	return true;
}

static void end(struct patience *patience, time_ns now, time_ns price_ns)
{
	patience->left_ns -= price_ns < patience->left_ns ? price_ns : patience->left_ns;
	patience->since = now;
	patience->is_waiting = false;
}

void patience_lose(struct patience *patience, time_ns now)
{
	end(patience, now, patience->left_ns);
}

static bool waits(struct patience *patience, uint64_t position, time_ns now, time_ns max_ns)
{
	patience_came_to(patience, position, now);
	if (!patience->is_waiting)
		return begin(patience, position, now);

	time_ns waited_ns = passed(patience, now);

	if (waited_ns < patience->left_ns && waited_ns < max_ns)
		return true;
	end(patience, now, waited_ns);
	return false;
}

bool patience_waits(struct patience *patience, uint64_t position, time_ns now)
{
	return waits(patience, position, now, TIME_NEVER);
}

bool patience_waits_reliable(struct patience *patience, uint64_t position, time_ns now)
{
	return waits(patience, position, now, patience->reliable_max_ns);
}

void patience_came_to(struct patience *patience, uint64_t position, time_ns now)
{
	if (!patience->is_waiting || position == patience->position)
		return;

	time_ns waited_ns = passed(patience, now);

	end(patience, now, waited_ns > PATIENCE_FREE_NS ? waited_ns / PRICE_DIVISOR : 0);
}
