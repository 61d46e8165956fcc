/* SPDX-License-Identifier: Apache-2.0 */
/* Counters in PortCounters and PortCountersExtended (management 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/perf/perf_counters.h"
#include "wire/performance.h"

static void test_agent_without_extended_counters_is_read_by_port_counters(void **state)
{
	struct perf_sources sources = perf_sources_choose(0, 0);

	(void)state;
	assert_int_equal(sources.extended, 0);
	assert_true(sources.basic >> PERF_SYMBOL_ERROR & 1);
	assert_false(sources.basic >> PERF_XMIT_WAIT & 1);
	assert_false(sources.basic >> PERF_QP1_DROPPED & 1);
	assert_false(sources.basic >> PERF_UNICAST_XMIT_PACKETS & 1);
	sources = perf_sources_choose(PERFORMANCE_XMIT_WAIT | PERFORMANCE_QP1_DROPPED, 0);
	assert_true(sources.basic >> PERF_XMIT_WAIT & 1);
	assert_true(sources.basic >> PERF_QP1_DROPPED & 1);
}

static void test_extended_data_and_basic_errors_are_read_from_both(void **state)
{
	struct perf_sources sources = perf_sources_choose(PERFORMANCE_EXTENDED_WIDTH_NO_IETF, 0);

	(void)state;
	assert_int_equal(sources.extended, 0xf);
	assert_true(sources.basic >> PERF_SYMBOL_ERROR & 1);
	assert_false(sources.basic & 0xf);
	assert_int_equal(perf_sources_choose(PERFORMANCE_EXTENDED_WIDTH, 0).extended, 0xff);
}

static void test_agent_with_all_extended_counters_needs_one_attribute(void **state)
{
	struct perf_sources sources = perf_sources_choose(
		PERFORMANCE_EXTENDED_WIDTH | PERFORMANCE_XMIT_WAIT | PERFORMANCE_QP1_DROPPED,
		PERFORMANCE_ADDITIONAL_EXTENDED);

	(void)state;
	assert_int_equal(sources.extended, PERF_COUNTERS_ALL);
	assert_int_equal(sources.basic, 0);
	/* The bit means nothing without PortCountersExtended. */
	assert_int_equal(perf_sources_choose(0, PERFORMANCE_ADDITIONAL_EXTENDED).extended, 0);
}

static void test_extended_counters_are_at_their_offsets(void **state)
{
	uint8_t data[192] = {[1] = 3};
	struct perf_reading reading = {.known = 0};

	(void)state;
	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++)
		put_be64(data + 8 + 8 * i, 1000 + i);
	assert_true(perf_reading_add_extended(&reading, 3, data, PERF_COUNTERS_ALL));
	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++)
		assert_int_equal(reading.values[i], 1000 + i);
	assert_int_equal(reading.known, PERF_COUNTERS_ALL);
	assert_int_equal(reading.stuck, 0);
	assert_false(perf_reading_add_extended(&reading, 4, data, PERF_COUNTERS_ALL));
}

static void test_basic_counters_are_at_their_offsets(void **state)
{
	uint8_t data[192] = {[1] = 1,	[5] = 7,   [6] = 8,   [7] = 9,	 [9] = 10,    [11] = 11,
			     [13] = 12, [15] = 13, [16] = 14, [17] = 15, [19] = 0x5f, [21] = 16,
			     [23] = 17, [27] = 18, [31] = 19, [35] = 20, [39] = 21,   [43] = 22};
	static const uint64_t expected[PERF_COUNTER_COUNT] = {
		18, 19, 20, 21, 0, 0, 0, 0, 7, 8, 9, 10, 11, 12, 13, 14, 15, 5, 15, 17, 22, 16};
	struct perf_reading reading = {.known = 0};

	(void)state;
	assert_true(perf_reading_add_basic(&reading, 1, data, PERF_COUNTERS_ALL));
	assert_memory_equal(reading.values, expected, sizeof(expected));
	/* ExcessiveBufferOverrunErrors has 4 bits, and 15 is where it sticks. */
	assert_int_equal(reading.stuck, 1u << PERF_EXCESSIVE_BUFFER_OVERRUN_ERRORS);
	assert_false(reading.known >> PERF_UNICAST_XMIT_PACKETS & 1);
	assert_false(perf_reading_add_basic(&reading, 2, data, PERF_COUNTERS_ALL));
}

static void test_masks_choose_what_is_taken(void **state)
{
	uint8_t data[192] = {[1] = 1, [5] = 7};
	struct perf_reading reading = {.known = 0};

	(void)state;
	put_be64(data + 8, 4711);
	assert_true(perf_reading_add_extended(&reading, 1, data, 1u << PERF_XMIT_DATA));
	assert_int_equal(reading.known, 1u << PERF_XMIT_DATA);
	memset(data + 8, 0, 8);
	assert_true(perf_reading_add_basic(&reading, 1, data, 1u << PERF_SYMBOL_ERROR));
	assert_int_equal(reading.values[PERF_XMIT_DATA], 4711);
	assert_int_equal(reading.known, 1u << PERF_XMIT_DATA | 1u << PERF_SYMBOL_ERROR);
}

static void test_clears_select_the_counters_of_the_mask(void **state)
{
	uint8_t data[192] = {0};

	(void)state;
	assert_true(perf_clear_extended(0xff, PERF_COUNTERS_ALL, data));
	assert_int_equal(data[1], 0xff);
	assert_int_equal(get_be16(data + 2), 0x00ff);
	assert_int_equal(get_be32(data + 4), 0x00003fff);
	assert_true(perf_clear_basic(2, PERF_COUNTERS_ALL, data));
	assert_int_equal(data[1], 2);
	assert_int_equal(get_be16(data + 2), 0xffff);
	assert_int_equal(data[18], 3);
	assert_true(perf_clear_basic(2, 1u << PERF_XMIT_DATA, data));
	assert_int_equal(get_be16(data + 2), SELECT_XMIT_DATA);
	assert_int_equal(data[18], 0);
	assert_false(perf_clear_basic(2, 1u << PERF_MULTICAST_RCV_PACKETS, data));
	assert_false(perf_clear_extended(2, 0, data));
}

static void test_counters_near_their_end_are_found(void **state)
{
	struct perf_reading reading = {.known = PERF_COUNTERS_ALL};

	(void)state;
	reading.values[PERF_SYMBOL_ERROR] = 49149;
	assert_int_equal(perf_counters_nearly_stuck(&reading), 0);
	reading.values[PERF_SYMBOL_ERROR] = 49150;
	reading.values[PERF_XMIT_DATA] = UINT32_MAX;
	reading.values[PERF_UNICAST_RCV_PACKETS] = UINT64_MAX; /* not in PortCounters */
	assert_int_equal(perf_counters_nearly_stuck(&reading),
			 1u << PERF_SYMBOL_ERROR | 1u << PERF_XMIT_DATA);
	reading.known = 0;
	assert_int_equal(perf_counters_nearly_stuck(&reading), 0);
}

static void test_names_are_those_of_the_fields(void **state)
{
	enum perf_counter counter;

	(void)state;
	for (unsigned i = 0; i < PERF_COUNTER_COUNT; i++) {
		assert_true(perf_counter_find(perf_counter_name((enum perf_counter)i), &counter));
		assert_int_equal(counter, i);
	}
	assert_string_equal(perf_counter_name(PERF_VL15_DROPPED), "vl15_dropped");
	assert_false(perf_counter_find("no_such_counter", &counter));
	assert_true(perf_counter_is_error(PERF_QP1_DROPPED));
	assert_false(perf_counter_is_error(PERF_XMIT_WAIT));
	assert_false(perf_counter_is_error(PERF_XMIT_DATA));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agent_without_extended_counters_is_read_by_port_counters),
		cmocka_unit_test(test_extended_data_and_basic_errors_are_read_from_both),
		cmocka_unit_test(test_agent_with_all_extended_counters_needs_one_attribute),
		cmocka_unit_test(test_extended_counters_are_at_their_offsets),
		cmocka_unit_test(test_basic_counters_are_at_their_offsets),
		cmocka_unit_test(test_masks_choose_what_is_taken),
		cmocka_unit_test(test_clears_select_the_counters_of_the_mask),
		cmocka_unit_test(test_counters_near_their_end_are_found),
		cmocka_unit_test(test_names_are_those_of_the_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
