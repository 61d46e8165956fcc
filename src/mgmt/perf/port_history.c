/* SPDX-License-Identifier: Apache-2.0 */
/* What the performance manager remembers of a port. */
#include "mgmt/perf/port_history.h"

enum {
	/* No link carries more in a nanosecond: 4 TB/s, ten times the fastest link there is. */
	WORDS_PER_NS_MAX = 1000,
	PACKETS_PER_NS_MAX = 170, /* of 24 bytes */
};

/* Two readings may arrive at the same time. */
#define INTERVAL_MIN MICROSECONDS(1)

static uint64_t increment_max(unsigned counter, time_ns interval)
{
	uint64_t per_ns = counter == PERF_XMIT_DATA || counter == PERF_RCV_DATA
				  ? WORDS_PER_NS_MAX
				  : PACKETS_PER_NS_MAX;

	return interval < UINT64_MAX / per_ns ? interval * per_ns : UINT64_MAX;
}

static uint64_t per_second(uint64_t count, time_ns interval)
{
	return (uint64_t)((double)count * (double)SECONDS(1) / (double)interval);
}

static uint32_t narrowed(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static void count(struct port_history *history, const struct perf_reading *reading,
		  struct port_step *step)
{
	uint32_t both = history->last.known & reading->known;

	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++) {
		uint64_t before = history->last.values[i];
		uint64_t now = reading->values[i];
		uint64_t increment = now >= before ? now - before : now;

		if (!(both >> i & 1))
			continue;
		if (now < before)
			step->cleared |= 1u << i;
		if (increment > increment_max(i, step->interval)) {
			step->jumped |= 1u << i;
			continue;
		}
		step->increments[i] = increment;
		history->increments[i] += increment;
		if (perf_counter_is_error(i))
			step->errors += increment;
	}
	history->clear_count += step->cleared != 0;
	history->jump_count += step->jumped != 0;
	history->lower_bounds |= step->cleared | step->jumped | reading->stuck;
}

static void keep_peak(struct port_peak *peak, uint64_t bytes_per_second, time_ns now)
{
	if (bytes_per_second > peak->bytes_per_second)
		*peak = (struct port_peak){.bytes_per_second = bytes_per_second, .at = now};
}

static void keep_sample(struct port_history *history, time_ns now, const struct port_step *step)
{
	struct port_sample *sample =
		&history->samples[history->sample_count++ % PORT_HISTORY_SAMPLES];

	*sample = (struct port_sample){
		.at = now,
		.xmit_bytes_per_second = per_second(
			step->increments[PERF_XMIT_DATA] * PERF_WORD_BYTES, step->interval),
		.rcv_bytes_per_second = per_second(
			step->increments[PERF_RCV_DATA] * PERF_WORD_BYTES, step->interval),
		.wait_ticks_per_second =
			narrowed(per_second(step->increments[PERF_XMIT_WAIT], step->interval)),
		.errors = narrowed(step->errors),
	};
	keep_peak(&history->xmit_peak, sample->xmit_bytes_per_second, now);
	keep_peak(&history->rcv_peak, sample->rcv_bytes_per_second, now);
}

static void sum_errors(struct port_history *history)
{
	history->errors = 0;
	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++)
		if (perf_counter_is_error(i))
			history->errors += history->last.values[i];
}

void port_history_add(struct port_history *history, time_ns now, const struct perf_reading *reading,
		      struct port_step *ret_step)
{
	*ret_step = (struct port_step){.interval = 0};
	if (history->reading_count) {
		ret_step->interval = now > history->last_at + INTERVAL_MIN ? now - history->last_at
									   : INTERVAL_MIN;
		count(history, reading, ret_step);
		keep_sample(history, now, ret_step);
	} else {
		history->first_at = now;
		history->lower_bounds = reading->stuck;
	}
	history->last = *reading;
	history->last_at = now;
	history->new_errors += ret_step->errors;
	sum_errors(history);
	history->reading_count++;
}

void port_history_cleared(struct port_history *history, uint32_t mask)
{
	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++)
		if (mask >> i & 1)
			history->last.values[i] = 0;
	history->last.stuck &= ~mask;
	sum_errors(history);
}

const struct port_sample *port_history_last_sample(const struct port_history *history)
{
	if (!history->sample_count)
		return NULL;
	return &history->samples[(history->sample_count - 1) % PORT_HISTORY_SAMPLES];
}
