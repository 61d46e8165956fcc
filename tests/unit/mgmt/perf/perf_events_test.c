/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds, and the ring of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/perf/perf_events.h"

static struct perf_events events;
static struct perf_node node;
static struct perf_port port;

static int set_up(void **state)
{
	(void)state;
	memset(&events, 0, sizeof(events));
	memset(&port, 0, sizeof(port));
	node = (struct perf_node){.name = "h1", .wait_tick = MICROSECONDS(1)};
	port.node = &node;
	port.number = 1;
	port.rate_mbps = 100000;
	return 0;
}

/* One second with these increments. */
static void pass_second(uint64_t words, uint64_t wait_ticks, uint64_t symbol_errors)
{
	static time_ns now = SECONDS(1);
	struct perf_reading reading = port.history.last;
	struct port_step step;

	now += SECONDS(1);
	reading.known = PERF_COUNTERS_ALL;
	reading.values[PERF_XMIT_DATA] += words;
	reading.values[PERF_XMIT_WAIT] += wait_ticks;
	reading.values[PERF_SYMBOL_ERROR] += symbol_errors;
	port_history_add(&port.history, now, &reading, &step);
	perf_events_judge(&events, &perf_thresholds_default, now, &port, &step);
}

static void test_errors_raise_an_event_at_the_threshold(void **state)
{
	(void)state;
	pass_second(0, 0, 0);
	pass_second(0, 0, 9);
	assert_int_equal(events.count, 0);
	pass_second(0, 0, 10);
	assert_int_equal(events.count, 1);

	const struct perf_event *event = perf_events_at(&events, 0);

	assert_int_equal(event->kind, PERF_EVENT_ERRORS);
	assert_int_equal(event->counter, PERF_SYMBOL_ERROR);
	assert_int_equal(event->value, 10);
	assert_string_equal(event->port, "h1:1");
}

static void test_levels_raise_an_event_when_they_are_crossed(void **state)
{
	(void)state;
	pass_second(0, 0, 0);
	pass_second(0, 499999, 0);
	assert_int_equal(events.count, 0);
	pass_second(0, 500000, 0);
	assert_int_equal(events.count, 1);
	assert_int_equal(perf_events_at(&events, 0)->kind, PERF_EVENT_XMIT_WAIT);
	assert_int_equal(perf_events_at(&events, 0)->value, 50);
	pass_second(0, 900000, 0);
	assert_int_equal(events.count, 1);
	pass_second(0, 0, 0);
	pass_second(2812500000u, 500000, 0); /* 90 Gb/s */
	assert_int_equal(events.count, 3);
	assert_int_equal(perf_events_at(&events, 0)->kind, PERF_EVENT_UTILIZATION);
	assert_int_equal(perf_events_at(&events, 0)->value, 90);
}

static void test_clears_and_jumps_raise_events(void **state)
{
	(void)state;
	pass_second(1000, 0, 0);
	pass_second((uint64_t)-500, 0, 0);
	assert_int_equal(perf_events_at(&events, 0)->kind, PERF_EVENT_CLEARED);
	pass_second(UINT64_MAX / 2, 0, 0);
	assert_int_equal(perf_events_at(&events, 0)->kind, PERF_EVENT_JUMP);
	assert_int_equal(perf_events_at(&events, 0)->counter, PERF_XMIT_DATA);
}

static void test_unknown_rates_and_ticks_raise_nothing(void **state)
{
	(void)state;
	node.wait_tick = 0;
	port.rate_mbps = 0;
	pass_second(0, 0, 0);
	pass_second(2812500000u, UINT32_MAX, 0);
	assert_int_equal(events.count, 0);
}

static void test_the_ring_keeps_the_last_ones(void **state)
{
	(void)state;
	assert_null(perf_events_at(&events, 0));
	for (unsigned i = 0; i < PERF_EVENTS_MAX + 5; i++)
		perf_events_add(&events, i, PERF_EVENT_SILENT, &port, i);
	assert_int_equal(events.count, PERF_EVENTS_MAX + 5);
	assert_int_equal(perf_events_at(&events, 0)->value, PERF_EVENTS_MAX + 4);
	assert_int_equal(perf_events_at(&events, PERF_EVENTS_MAX - 1)->value, 5);
	assert_null(perf_events_at(&events, PERF_EVENTS_MAX));
}

static void test_thresholds_are_set_by_name(void **state)
{
	struct perf_thresholds thresholds = perf_thresholds_default;

	(void)state;
	assert_true(perf_thresholds_set(&thresholds, "link_downed", 5));
	assert_int_equal(thresholds.errors[PERF_LINK_DOWNED], 5);
	assert_true(perf_thresholds_set(&thresholds, "wait", 0));
	assert_int_equal(thresholds.wait_percent, 0);
	assert_true(perf_thresholds_set(&thresholds, "utilization", 70));
	assert_int_equal(thresholds.utilization_percent, 70);
	assert_false(perf_thresholds_set(&thresholds, "xmit_data", 5)); /* not an error */
	assert_false(perf_thresholds_set(&thresholds, "nonsense", 5));
	assert_false(perf_thresholds_set(&thresholds, "wait", UINT64_MAX));
}

static void test_every_kind_has_a_name(void **state)
{
	(void)state;
	for (unsigned kind = PERF_EVENT_ERRORS; kind <= PERF_EVENT_BAD_ANSWER; kind++)
		assert_true(strlen(perf_event_kind_name((enum perf_event_kind)kind)) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_errors_raise_an_event_at_the_threshold, set_up),
		cmocka_unit_test_setup(test_levels_raise_an_event_when_they_are_crossed, set_up),
		cmocka_unit_test_setup(test_clears_and_jumps_raise_events, set_up),
		cmocka_unit_test_setup(test_unknown_rates_and_ticks_raise_nothing, set_up),
		cmocka_unit_test_setup(test_the_ring_keeps_the_last_ones, set_up),
		cmocka_unit_test_setup(test_thresholds_are_set_by_name, set_up),
		cmocka_unit_test_setup(test_every_kind_has_a_name, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
