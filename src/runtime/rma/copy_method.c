/* SPDX-License-Identifier: Apache-2.0 */
/* Which method of copying long messages is faster: see copy_method.h. */
#include "runtime/rma/copy_method.h"

enum {
	TRIAL_LAPS_MAX = 16,
	IDLE_LAPS = 2, /* a trial ends after this many laps in a row without an improvement */
	FASTER_FRACTION = 32, /* an improvement of less than one part in this does not count */
	KEPT_LAPS_MIN = 128,
	KEPT_LAPS_MAX = 4096,
	GIBYTE_SHIFT = 30,
};

static void begin(struct copy_method *trials, enum copy_way way, bool is_trial)
{
	trials->way = (uint8_t)way;
	trials->is_trial = is_trial;
	trials->laps = 0;
	trials->idle_laps = 0;
	trials->best[way] = 0;
}

static enum copy_way other(const struct copy_method *trials)
{
	return trials->way == COPY_CACHED ? COPY_PAST_CACHE : COPY_CACHED;
}

/* On a tie the method that was in use before the trial stays. */
static void decide(struct copy_method *trials)
{
	if (trials->best[trials->way] < trials->best[other(trials)]) {
		trials->laps_kept = KEPT_LAPS_MIN;
		begin(trials, (enum copy_way)trials->way, false);
		return;
	}
	trials->laps_kept *= 2;
	if (trials->laps_kept < KEPT_LAPS_MIN)
		trials->laps_kept = KEPT_LAPS_MIN;
	if (trials->laps_kept > KEPT_LAPS_MAX)
		trials->laps_kept = KEPT_LAPS_MAX;
	begin(trials, other(trials), false);
}

static void judge(struct copy_method *trials, uint64_t cost)
{
	uint64_t *best = &trials->best[trials->way];

	trials->idle_laps++;
	if (!*best || cost < *best - *best / FASTER_FRACTION)
		trials->idle_laps = 0;
	if (!*best || cost < *best)
		*best = cost;
}

static bool has_had_its_turn(const struct copy_method *trials)
{
	/* The very first method has no result yet, so it runs like a trial. */
	if (trials->is_trial || !trials->laps_kept)
		return trials->idle_laps >= IDLE_LAPS || trials->laps >= TRIAL_LAPS_MAX;
	return trials->laps >= trials->laps_kept;
}

static void end_lap(struct copy_method *trials, uint64_t cost)
{
	if (trials->laps++)
		judge(trials, cost);
	if (!has_had_its_turn(trials))
		return;
	if (trials->is_trial)
		decide(trials);
	else
		begin(trials, other(trials), true);
}

void copy_method_note(struct copy_method *trials, uint64_t message_bytes, uint64_t byte_count,
		      time_ns took_ns)
{
	trials->lap_bytes += byte_count;
	trials->lap_ns += took_ns;
	if (trials->lap_bytes < message_bytes)
		return;

	/* The limit of four seconds keeps the shift below from overflowing. The result is at least
	 * 1, since 0 means unknown. */
	const time_ns took = trials->lap_ns < UINT32_MAX ? trials->lap_ns : UINT32_MAX;
	const uint64_t cost = (took << GIBYTE_SHIFT) / trials->lap_bytes + 1;

	trials->lap_bytes = 0;
	trials->lap_ns = 0;
	end_lap(trials, cost);
}
