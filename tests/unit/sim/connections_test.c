/* SPDX-License-Identifier: Apache-2.0 */
/* Flows through queue pairs: reliable ones lose nothing, others lose what the link drops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/scenario_run.h"

static void test_a_reliable_flow_fills_its_link(void **state)
{
	struct scenario_run run;

	(void)state;
	run_scenario(&run, "topology star:2\nduration 3ms\nwarmup 1ms\n"
			   "flow a from h1 to h2 size 64K depth 4\n");
	/* 4x EDR: 100 Gb/s less headers. */
	assert_in_range(flow_mbits(&run, flow_named(&run, "a")), 98000, 100000);
	end_scenario(&run);
}

static void test_a_lossy_link_costs_reliable_messages_time_only(void **state)
{
	struct scenario_run run;
	const struct flow *flow;

	(void)state;
	run_scenario(&run, "topology star:2\nduration 900ms\n"
			   "flow a from h1 to h2 service rc size 8K rate 100Mbit count 500\n"
			   "at 0 fault s1:2 drop=0.05\n");
	flow = flow_named(&run, "a");
	assert_int_equal(flow->sent, 500);
	assert_int_equal(flow->received, 500);
	assert_int_equal(flow->failed, 0);
	end_scenario(&run);
}

static void test_unreliable_messages_are_lost_with_their_packets(void **state)
{
	static const char *const services[] = {"uc", "ud"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct scenario_run run;
		const struct flow *flow;
		char text[256];

		snprintf(text, sizeof(text),
			 "topology star:2\nduration 100ms\n"
			 "flow a from h1 to h2 service %s size 1K rate 1Gbit count 2000\n"
			 "at 0 fault s1:2 drop=0.1\n",
			 services[i]);
		run_scenario(&run, text);
		flow = flow_named(&run, "a");
		assert_int_equal(flow->sent, 2000);
		assert_in_range(flow->received, 1700, 1900);
		end_scenario(&run);
	}
}

static void test_a_datagram_larger_than_the_mtu_is_refused(void **state)
{
	(void)state;
	expect_scenario_refused("topology star:2\nflow a from h1 to h2 service ud size 5000\n", 2,
				NULL);
}

static void test_every_service_crosses_a_router(void **state)
{
	static const char *const services[] = {"rc", "uc", "ud"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct scenario_run run;
		char text[256];

		snprintf(text, sizeof(text),
			 "topology routed:3x2\nduration 20ms\ncheck\n"
			 "flow a from h1 to h6 service %s size 2K rate 1Gbit count 500\n"
			 "flow b from h4 to h2 service %s size 2K rate 1Gbit count 500\n",
			 services[i], services[i]);
		run_scenario(&run, text);
		assert_int_equal(flow_named(&run, "a")->received, 500);
		assert_int_equal(flow_named(&run, "b")->received, 500);
		end_scenario(&run);
	}
}

static void test_a_connection_survives_a_lossy_way_to_its_router(void **state)
{
	struct scenario_run run;
	const struct flow *flow;

	(void)state;
	run_scenario(&run, "topology routed:2x1\nduration 900ms\n"
			   "flow a from h1 to h2 service rc size 8K rate 100Mbit count 500\n"
			   "at 0 fault s1:2 drop=0.05\n"
			   "at 10ms fault s2:2 drop=1\nat 60ms fault clear s2:2\n");
	flow = flow_named(&run, "a");
	assert_int_equal(flow->received, 500);
	assert_int_equal(flow->failed, 0);
	end_scenario(&run);
}

static void test_a_flow_between_islands_is_refused(void **state)
{
	static const char scenario_text[] = "topology file islands\nflow a from h1 to h2\n";
	static const char topology_text[] = "Switch 2 \"S-0000000000000001\" # \"a\"\n"
					    "[1] \"H-0000000000000011\"[1]\n"
					    "Switch 2 \"S-0000000000000002\" # \"b\"\n"
					    "[1] \"H-0000000000000021\"[1]\n"
					    "Ca 1 \"H-0000000000000011\" # \"h1 mlx5_0\"\n"
					    "[1](12) \"S-0000000000000001\"[1]\n"
					    "Ca 1 \"H-0000000000000021\" # \"h2 mlx5_0\"\n"
					    "[1](22) \"S-0000000000000002\"[1]\n";
	struct scenario_error error = {0};
	struct experiment experiment;
	struct scenario scenario;

	(void)state;
	assert_int_equal(scenario_read(scenario_text, strlen(scenario_text), &scenario, &error), 0);
	assert_true(experiment_run(&experiment, &scenario, topology_text, &error) < 0);
	assert_int_equal(error.line, 2);
	assert_string_equal(error.reason, "a: no router leads to its receiver");
	experiment_release(&experiment);
	scenario_release(&scenario);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_reliable_flow_fills_its_link),
		cmocka_unit_test(test_a_lossy_link_costs_reliable_messages_time_only),
		cmocka_unit_test(test_unreliable_messages_are_lost_with_their_packets),
		cmocka_unit_test(test_a_datagram_larger_than_the_mtu_is_refused),
		cmocka_unit_test(test_every_service_crosses_a_router),
		cmocka_unit_test(test_a_connection_survives_a_lossy_way_to_its_router),
		cmocka_unit_test(test_a_flow_between_islands_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
