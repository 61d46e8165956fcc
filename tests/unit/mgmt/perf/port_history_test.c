/* SPDX-License-Identifier: Apache-2.0 */
/* Increments, rates and peaks of a port, with counters that others clear and agents that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/perf/port_history.h"

static struct port_history history;
static struct port_step step;

static int set_up(void **state)
{
	(void)state;
	memset(&history, 0, sizeof(history));
	return 0;
}

static void read_at(time_ns now, uint64_t words, uint64_t symbol_errors)
{
	struct perf_reading reading = {.known = PERF_COUNTERS_ALL};

	reading.values[PERF_XMIT_DATA] = words;
	reading.values[PERF_SYMBOL_ERROR] = symbol_errors;
	port_history_add(&history, now, &reading, &step);
}

static void test_first_reading_has_no_rate(void **state)
{
	(void)state;
	read_at(SECONDS(5), 1000, 7);
	assert_int_equal(step.interval, 0);
	assert_int_equal(step.errors, 0);
	assert_null(port_history_last_sample(&history));
	assert_int_equal(history.increments[PERF_XMIT_DATA], 0);
	assert_int_equal(history.errors, 7);
	assert_int_equal(history.new_errors, 0);
}

static void test_rates_are_in_bytes_per_second(void **state)
{
	(void)state;
	read_at(SECONDS(1), 1000, 0);
	read_at(SECONDS(3), 6000, 2);
	assert_int_equal(step.increments[PERF_XMIT_DATA], 5000);
	assert_int_equal(step.errors, 2);
	assert_int_equal(port_history_last_sample(&history)->xmit_bytes_per_second, 10000);
	assert_int_equal(port_history_last_sample(&history)->errors, 2);
	assert_int_equal(history.new_errors, 2);
}

static void test_a_decrease_is_a_clear_and_never_a_negative_rate(void **state)
{
	(void)state;
	read_at(SECONDS(1), 1000, 50);
	read_at(SECONDS(2), 100, 50);
	assert_int_equal(step.cleared, 1u << PERF_XMIT_DATA);
	assert_int_equal(step.increments[PERF_XMIT_DATA], 100);
	assert_int_equal(port_history_last_sample(&history)->xmit_bytes_per_second, 400);
	assert_int_equal(history.clear_count, 1);
	assert_true(history.lower_bounds >> PERF_XMIT_DATA & 1);
	assert_false(history.lower_bounds >> PERF_SYMBOL_ERROR & 1);
}

static void test_own_clears_are_not_taken_for_others(void **state)
{
	(void)state;
	read_at(SECONDS(1), 1000, 50);
	port_history_cleared(&history, 1u << PERF_SYMBOL_ERROR);
	assert_int_equal(history.errors, 0);
	read_at(SECONDS(2), 1000, 3);
	assert_int_equal(step.cleared, 0);
	assert_int_equal(step.errors, 3);
	assert_int_equal(history.clear_count, 0);
}

static void test_a_jump_that_no_link_allows_is_not_counted(void **state)
{
	(void)state;
	read_at(SECONDS(1), 1000, 0);
	read_at(SECONDS(2), UINT64_MAX, 0);
	assert_int_equal(step.jumped, 1u << PERF_XMIT_DATA);
	assert_int_equal(history.increments[PERF_XMIT_DATA], 0);
	assert_int_equal(port_history_last_sample(&history)->xmit_bytes_per_second, 0);
	assert_int_equal(history.xmit_peak.bytes_per_second, 0);
	assert_int_equal(history.jump_count, 1);
	/* 1 TB/s is above every link, but a fabric that is not paced may do more than its links. */
	read_at(SECONDS(3), 0, 0);
	read_at(SECONDS(4), 250000000000u, 0);
	assert_int_equal(step.jumped, 0);
}

static void test_a_stuck_counter_is_a_lower_bound(void **state)
{
	struct perf_reading reading = {.known = PERF_COUNTERS_ALL,
				       .stuck = 1u << PERF_SYMBOL_ERROR};

	(void)state;
	reading.values[PERF_SYMBOL_ERROR] = 65535;
	read_at(SECONDS(1), 0, 60000);
	assert_int_equal(history.lower_bounds, 0);
	port_history_add(&history, SECONDS(2), &reading, &step);
	assert_int_equal(step.errors, 5535);
	assert_int_equal(history.lower_bounds, 1u << PERF_SYMBOL_ERROR);
}

static void test_counters_that_the_agent_lost_are_left_out(void **state)
{
	struct perf_reading reading = {.known = 1u << PERF_SYMBOL_ERROR};

	(void)state;
	read_at(SECONDS(1), 5000, 1);
	reading.values[PERF_SYMBOL_ERROR] = 2;
	port_history_add(&history, SECONDS(2), &reading, &step);
	assert_int_equal(step.cleared, 0);
	assert_int_equal(step.errors, 1);
}

static void test_readings_at_one_time_give_a_finite_rate(void **state)
{
	(void)state;
	read_at(SECONDS(1), 0, 0);
	read_at(SECONDS(1), 100, 0);
	assert_int_equal(port_history_last_sample(&history)->xmit_bytes_per_second, 400000000);
}

static void test_peaks_and_samples_are_kept(void **state)
{
	(void)state;
	read_at(SECONDS(1), 0, 0);
	for (unsigned i = 1; i <= 20; i++)
		read_at(SECONDS(1 + i), history.last.values[PERF_XMIT_DATA] + (i == 3 ? 9000 : 10),
			i);
	assert_int_equal(history.xmit_peak.bytes_per_second, 36000);
	assert_int_equal(history.xmit_peak.at, SECONDS(4));
	assert_int_equal(history.sample_count, 20);
	assert_int_equal(port_history_last_sample(&history)->at, SECONDS(21));
	assert_int_equal(history.increments[PERF_XMIT_DATA], 9190);
	assert_int_equal(history.new_errors, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_first_reading_has_no_rate, set_up),
		cmocka_unit_test_setup(test_rates_are_in_bytes_per_second, set_up),
		cmocka_unit_test_setup(test_a_decrease_is_a_clear_and_never_a_negative_rate,
				       set_up),
		cmocka_unit_test_setup(test_own_clears_are_not_taken_for_others, set_up),
		cmocka_unit_test_setup(test_a_jump_that_no_link_allows_is_not_counted, set_up),
		cmocka_unit_test_setup(test_a_stuck_counter_is_a_lower_bound, set_up),
		cmocka_unit_test_setup(test_counters_that_the_agent_lost_are_left_out, set_up),
		cmocka_unit_test_setup(test_readings_at_one_time_give_a_finite_rate, set_up),
		cmocka_unit_test_setup(test_peaks_and_samples_are_kept, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
