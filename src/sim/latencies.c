/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of message latencies. */
#include "sim/latencies.h"

/* Below 64 each number is a class; above, the six bits after the leading one. */
static unsigned class_of(time_ns latency)
{
	if (latency < LATENCY_CLASSES)
		return (unsigned)latency;

	unsigned power = 63u - (unsigned)__builtin_clzll(latency);
	unsigned class = (power - 5) * LATENCY_CLASSES +
			 (unsigned)(latency >> (power - 6)) % LATENCY_CLASSES;

	return class < LATENCY_CLASS_COUNT ? class : LATENCY_CLASS_COUNT - 1;
}

static time_ns class_end(unsigned class)
{
	if (class < LATENCY_CLASSES)
		return class;

	unsigned power = class / LATENCY_CLASSES + 5;

	return ((time_ns)(LATENCY_CLASSES + class % LATENCY_CLASSES + 1) << (power - 6)) - 1;
}

void latencies_add(struct latencies *latencies, time_ns latency)
{
	if (latencies->count == 0 || latency < latencies->min)
		latencies->min = latency;
	if (latency > latencies->max)
		latencies->max = latency;
	latencies->count++;
	latencies->sum += latency;
	latencies->classes[class_of(latency)]++;
}

time_ns latencies_percentile(const struct latencies *latencies, unsigned ten_thousandths)
{
	uint64_t rank = (latencies->count * ten_thousandths + 9999) / 10000;
	uint64_t seen = 0;

	if (latencies->count == 0)
		return 0;
	for (unsigned class = 0; class < LATENCY_CLASS_COUNT; class ++) {
		seen += latencies->classes[class];
		if (seen >= rank && seen > 0)
			return class_end(class) < latencies->max ? class_end(class)
								 : latencies->max;
	}
	return latencies->max;
}
