/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenario files: the content of a good one, and line and reason of bad ones.
 * Covers: sim/scenario_flows.c sim/scenario_reader.c sim/scenario_settings.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "sim/scenario.h"

static int read_text(const char *text, struct scenario *scenario, struct scenario_error *error)
{
	return scenario_read(text, strlen(text), scenario, error);
}

static void test_everything_that_a_line_can_say(void **state)
{
	static const char text[] = "# all of it\n"
				   "topology file x.topology\nengine updn\nseed 42\nvls 4\n"
				   "duration 20ms\nwarmup 1.5ms\ncheck\n"
				   "link h1 width 12x speed edr\n"
				   "sl2vl s1:2 0 1 2 3 0 1 2 3 0 1 2 3 0 1 2 15\n"
				   "vlarb * high 0:10 1:255 limit 7\n"
				   "lifetime s1 head-of-queue 31 switch 18\n"
				   "flow a from h1 to h2 service uc size 64K rate 10Gbit depth 4 "
				   "count 9 sl 3 start 1ms stop 2ms static-rate 2.5Gbit\n"
				   "multicast m from h1 to h2,h3 size 256\n"
				   "at 9ms link up s1:2\nat 8ms fault s1:1 drop=0.5\n"
				   "at 9ms fault clear s1:1\n";
	struct scenario_error error = {0};
	struct scenario scenario;

	(void)state;
	if (read_text(text, &scenario, &error))
		fail_msg("line %u: %s", error.line, error.reason);
	assert_true(scenario.topology_is_file && scenario.checks);
	assert_string_equal(scenario.topology, "x.topology");
	assert_int_equal(scenario.seed, 42);
	assert_int_equal(scenario.warmup, 1500000);
	assert_int_equal(scenario.setting_count, 4);
	assert_int_equal(scenario.settings[0].width, 8);
	assert_int_equal(scenario.settings[1].sl_to_vl[15], 15);
	assert_int_equal(scenario.settings[2].entry_count, 2);
	assert_int_equal(scenario.settings[2].limit, 7);
	assert_int_equal(scenario.settings[3].head_of_queue_code, 31);
	assert_int_equal(scenario.flow_count, 2);
	assert_int_equal(scenario.flows[0].service, FLOW_UC);
	assert_int_equal(scenario.flows[0].static_rate, 2);
	assert_int_equal(scenario.flows[0].message_bytes, 65536);
	assert_int_equal(scenario.flows[1].member_count, 2);
	assert_string_equal(scenario.flows[1].members[1], "h3");
	/* Sorted by time, then by their order in the file. */
	assert_int_equal(scenario.events[0].kind, EVENT_FAULT);
	assert_int_equal(scenario.events[1].kind, EVENT_LINK_UP);
	assert_int_equal(scenario.events[2].kind, EVENT_FAULT_CLEAR);
	scenario_release(&scenario);
}

static const struct {
	const char *text;
	unsigned line;
	const char *reason; /* part of it */
} bad[] = {
	{"", 0, "no topology"},
	{"topology star:2\nspeed 5\n", 2, "no line begins with 'speed'"},
	{"topology\n", 1, "generator"},
	{"topology star:2\nvls 3\n", 2, "1, 2, 4, 8 or 15"},
	{"topology star:2\nduration 5\n", 2, "must be a time"},
	{"topology star:2\nduration 1ms\nwarmup 1ms\n", 0, "warm-up"},
	{"topology star:2\n\nflow\n", 3, "name is missing"},
	{"topology star:2\nflow a to h1\n", 2, "'from' is missing"},
	{"topology star:2\nflow a from h1 to h2 colour red\n", 2, "has no setting 'colour'"},
	{"topology star:2\nflow a from h1 to h2 service tcp\n", 2, "no service"},
	{"topology star:2\nflow a from h1 to h2 sl 16\n", 2, "up to 15"},
	{"topology star:2\nflow a from h1 to h2 depth 0\n", 2, "at least 1"},
	{"topology star:2\nflow a from h1 to h2 static-rate 3Gbit\n", 2, "not a link rate"},
	{"topology star:2\nmulticast a from h1 to h1,,h2\n", 2, "members"},
	{"topology star:2\nlink h1 length 4\n", 2, "width and a speed"},
	{"topology star:2\nsl2vl h1 0 1\n", 2, "a lane"},
	{"topology star:2\nvlarb h1 low 15:1\n", 2, "VL:WEIGHT"},
	{"topology star:2\nat 1ms earthquake\n", 2, "'link' or 'fault'"},
	{"topology star:2\nat 1ms link sideways s1\n", 2, "down or up"},
	{"topology star:2\nat 1ms fault s1:1 drop=2\n", 2, "drop=2"},
	{"topology star:2\nseed 1 2\n", 2, "unexpected '2'"},
};

static void test_errors_name_line_and_reason(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct scenario_error error = {0};
		struct scenario scenario;

		assert_int_equal(read_text(bad[i].text, &scenario, &error), -EINVAL);
		if (error.line != bad[i].line || !strstr(error.reason, bad[i].reason))
			fail_msg("%s: line %u: %s", bad[i].text, error.line, error.reason);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_that_a_line_can_say),
		cmocka_unit_test(test_errors_name_line_and_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
