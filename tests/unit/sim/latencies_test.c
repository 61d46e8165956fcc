/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles from classes: never too low, at most 1.6 % too high. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "base/random.h"
#include "sim/latencies.h"

enum { SAMPLES = 5000 };

static int compare(const void *a, const void *b)
{
	time_ns left = *(const time_ns *)a, right = *(const time_ns *)b;

	return (left > right) - (left < right);
}

static void test_percentiles_are_close_to_the_sorted_samples(void **state)
{
	static const unsigned wanted[] = {1, 1000, 5000, 9000, 9900, 9990, 10000};
	static time_ns samples[SAMPLES];
	struct latencies *latencies = calloc(1, sizeof(*latencies));
	struct random random = random_seeded(5);

	(void)state;
	assert_non_null(latencies);
	for (unsigned i = 0; i < SAMPLES; i++) {
		samples[i] = random_below(&random, UINT64_C(1) << (1 + random_below(&random, 40)));
		latencies_add(latencies, samples[i]);
	}
	qsort(samples, SAMPLES, sizeof(samples[0]), compare);
	for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t rank = ((uint64_t)SAMPLES * wanted[i] + 9999) / 10000;
		time_ns exact = samples[rank - 1];

		assert_in_range(latencies_percentile(latencies, wanted[i]), exact,
				exact + exact / 64);
	}
	assert_int_equal(latencies->min, samples[0]);
	assert_int_equal(latencies->max, samples[SAMPLES - 1]);
	free(latencies);
}

static void test_none_and_huge_ones(void **state)
{
	struct latencies *latencies = calloc(1, sizeof(*latencies));

	(void)state;
	assert_non_null(latencies);
	assert_int_equal(latencies_percentile(latencies, 5000), 0);
	latencies_add(latencies, UINT64_MAX);
	assert_true(latencies_percentile(latencies, 5000) > 0);
	free(latencies);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentiles_are_close_to_the_sorted_samples),
		cmocka_unit_test(test_none_and_huge_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
