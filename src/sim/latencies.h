/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of message latencies: 64 classes per power of two, so that a percentile is at most
 * 1.6 % too high. Integers only: the same on every machine. */
#ifndef SOFTIB_SIM_LATENCIES_H
#define SOFTIB_SIM_LATENCIES_H

#include <stdint.h>
#include "base/time.h"

enum { LATENCY_CLASSES = 64, LATENCY_CLASS_COUNT = LATENCY_CLASSES * 44 };

struct latencies {
	uint64_t count;
	uint64_t sum;
	time_ns min, max;
	uint32_t classes[LATENCY_CLASS_COUNT];
};

void latencies_add(struct latencies *latencies, time_ns latency);

/* The latency that this many of ten thousand messages do not exceed; 0 if there were none. */
time_ns latencies_percentile(const struct latencies *latencies, unsigned ten_thousandths);

#endif
