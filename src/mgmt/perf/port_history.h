/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the performance manager remembers of a port: the last reading, increments since the first
 * one, rates, peaks, and a few samples.
 *
 * Others may clear counters at any time. A value below the last one is a clear, and counts as the
 * increment since then: rates are never negative. Increments that no link can produce are not
 * counted.
 */
#ifndef SOFTIB_MGMT_PERF_PORT_HISTORY_H
#define SOFTIB_MGMT_PERF_PORT_HISTORY_H

#include <stdint.h>
#include "base/time.h"
#include "mgmt/perf/perf_counters.h"

enum { PORT_HISTORY_SAMPLES = 8 };

/* From one reading to the next. */
struct port_sample {
	time_ns at;
	uint64_t xmit_bytes_per_second;
	uint64_t rcv_bytes_per_second;
	uint32_t wait_ticks_per_second;
	uint32_t errors;
};

struct port_peak {
	uint64_t bytes_per_second;
	time_ns at;
};

struct port_history {
	time_ns first_at, last_at;
	uint32_t reading_count;
	struct perf_reading last;
	uint64_t increments[PERF_COUNTER_COUNT]; /* since the first reading */
	uint64_t errors;			 /* the sum of the error counters as last read */
	uint64_t new_errors;			 /* since the first reading */
	uint32_t lower_bounds; /* increments that may be too low: the counter stuck, was cleared or
				  jumped */
	uint32_t clear_count, jump_count;
	struct port_peak xmit_peak, rcv_peak;
	struct port_sample samples[PORT_HISTORY_SAMPLES]; /* a ring */
	uint32_t sample_count;				  /* of all times */
};

/* What a reading brought. */
struct port_step {
	time_ns interval; /* 0: this is the first reading */
	uint64_t increments[PERF_COUNTER_COUNT];
	uint64_t errors; /* their sum over the error counters */
	uint32_t cleared, jumped;
};

void port_history_add(struct port_history *history, time_ns now, const struct perf_reading *reading,
		      struct port_step *ret_step);
/* The manager has cleared these counters itself. */
void port_history_cleared(struct port_history *history, uint32_t mask);

/* NULL: there are no rates yet. */
const struct port_sample *port_history_last_sample(const struct port_history *history);

#endif
