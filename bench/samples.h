/* SPDX-License-Identifier: Apache-2.0 */
/* The time, and the median of samples, for the programs here. */
#ifndef SOFTIB_BENCH_SAMPLES_H
#define SOFTIB_BENCH_SAMPLES_H

#include <stdlib.h>
#include <time.h>

static inline double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline int compare_samples(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return (difference > 0) - (difference < 0);
}

/* Sorts the samples. */
static inline double median(double *samples, size_t count)
{
	qsort(samples, count, sizeof(*samples), compare_samples);
	return samples[count / 2];
}

#endif
