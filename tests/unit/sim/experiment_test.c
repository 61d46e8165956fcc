/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs: lanes share by weight, links fail, faults come and go, bad scenarios are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/scenario_run.h"

/* Packets of two blocks, so that every weight is a multiple of them: the last packet of a lane's
 * turn may exceed its weight. */
static void test_lanes_share_a_link_by_their_weights(void **state)
{
	static const unsigned weights[][2] = {{192, 64}, {100, 100}, {240, 48}};

	(void)state;
	for (unsigned i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
		struct scenario_run run;
		uint64_t a, b, wanted;
		char text[400];

		snprintf(text, sizeof(text),
			 "topology star:3\nvls 4\nduration 2500us\nwarmup 500us\ncheck\n"
			 "sl2vl * 0 1 2 3 0 1 2 3 0 1 2 3 0 1 2 3\n"
			 "vlarb s1:3 low 0:%u 1:%u\n"
			 "flow a from h1 to h3 service load size 92 sl 0\n"
			 "flow b from h2 to h3 service load size 92 sl 1\n",
			 weights[i][0], weights[i][1]);
		run_scenario(&run, text);
		a = flow_mbits(&run, flow_named(&run, "a"));
		b = flow_mbits(&run, flow_named(&run, "b"));
		wanted = (a + b) * weights[i][0] / (weights[i][0] + weights[i][1]);
		assert_in_range(a, wanted - wanted / 100, wanted + wanted / 100);
		end_scenario(&run);
	}
}

static void test_a_connection_survives_a_lost_cable(void **state)
{
	struct scenario_run run;
	const struct flow *flow;

	(void)state;
	run_scenario(&run, "topology ring:4\nduration 1s\n"
			   "flow a from h1 to h2 size 16K rate 100Mbit count 500\n"
			   "at 100ms link down s1:1\nat 300ms link up s1:1\n");
	flow = flow_named(&run, "a");
	assert_int_equal(flow->received, 500);
	end_scenario(&run);
}

static void test_min_hop_deadlocks_a_ring_and_up_down_does_not(void **state)
{
	static const char text[] =
		"topology ring:5\nengine %s\nvls 1\nduration 10ms\nwarmup 5ms\n"
		"lifetime * head-of-queue 31 switch 31\n"
		"flow f1 from h1 to h3 service load\nflow f2 from h2 to h4 service load\n"
		"flow f3 from h3 to h5 service load\nflow f4 from h4 to h1 service load\n"
		"flow f5 from h5 to h2 service load\n";
	static const char *const names[] = {"f1", "f2", "f3", "f4", "f5"};

	(void)state;
	for (unsigned cured = 0; cured < 2; cured++) {
		struct scenario_run run;
		char whole[sizeof(text) + 16];

		snprintf(whole, sizeof(whole), text, cured ? "updn" : "minhop");
		run_scenario(&run, whole);
		for (unsigned i = 0; i < 5; i++) {
			uint64_t mbits = flow_mbits(&run, flow_named(&run, names[i]));

			if (cured)
				assert_true(mbits > 10000);
			else
				assert_int_equal(mbits, 0);
		}
		end_scenario(&run);
	}
}

static void test_bad_scenarios_are_refused_when_they_are_run(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} bad[] = {
		{"topology star:0\n", 0},
		{"topology star:2\nengine none\n", 0},
		{"topology star:2\n\nlink s9:1 width 1x\n", 3},
		{"topology star:2\nat 1ms link down h1:7\n", 2},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct scenario_error error = {0};
		struct experiment experiment;
		struct scenario scenario;

		assert_int_equal(scenario_read(bad[i].text, strlen(bad[i].text), &scenario, &error),
				 0);
		assert_true(experiment_run(&experiment, &scenario, NULL, &error) < 0);
		assert_int_equal(error.line, bad[i].line);
		assert_true(error.reason[0]);
		experiment_release(&experiment);
		scenario_release(&scenario);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lanes_share_a_link_by_their_weights),
		cmocka_unit_test(test_a_connection_survives_a_lost_cable),
		cmocka_unit_test(test_min_hop_deadlocks_a_ring_and_up_down_does_not),
		cmocka_unit_test(test_bad_scenarios_are_refused_when_they_are_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
