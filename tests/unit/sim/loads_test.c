/* SPDX-License-Identifier: Apache-2.0 */
/* Load flows: rates exact, sharing fair, multicast to every member once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/scenario_run.h"

static void test_a_rate_is_kept(void **state)
{
	struct scenario_run run;

	(void)state;
	run_scenario(&run, "topology star:2\nduration 10ms\nwarmup 1ms\n"
			   "flow a from h1 to h2 service load size 1000 rate 3Gbit\n");
	assert_in_range(flow_mbits(&run, flow_named(&run, "a")), 2990, 3010);
	end_scenario(&run);
}

static void test_flows_of_one_host_share_its_port(void **state)
{
	struct scenario_run run;
	uint64_t a, b;

	(void)state;
	run_scenario(&run, "topology star:3\nduration 10ms\nwarmup 2ms\n"
			   "flow a from h1 to h2 service load size 4K\n"
			   "flow b from h1 to h3 service load size 4K\n");
	a = flow_mbits(&run, flow_named(&run, "a"));
	b = flow_mbits(&run, flow_named(&run, "b"));
	assert_in_range(a + b, 98000, 100000);
	assert_in_range(a, b - b / 50, b + b / 50);
	end_scenario(&run);
}

static void test_every_member_gets_a_multicast_once(void **state)
{
	struct scenario_run run;
	const struct flow *flow;

	(void)state;
	run_scenario(&run, "topology ring:5\nduration 10ms\n"
			   "multicast m from h1 to h2,h4,h5 size 256 rate 100Mbit count 40\n");
	flow = flow_named(&run, "m");
	assert_int_equal(flow->sent, 40);
	assert_int_equal(flow->received, 3 * 40);
	end_scenario(&run);
}

static void test_packets_cross_a_router(void **state)
{
	struct scenario_run run;
	const struct flow *flow;

	(void)state;
	run_scenario(&run, "topology routed:2x2\nduration 10ms\n"
			   "flow a from h1 to h4 service load size 10000 rate 1Gbit count 40\n"
			   "multicast m from h3 to h4 size 256 rate 100Mbit count 40\n");
	flow = flow_named(&run, "a");
	assert_int_equal(flow->sent, 40);
	assert_int_equal(flow->received, 40);
	assert_int_equal(flow->measured_bytes, 40 * 10000);
	/* Its group belongs to the second subnet's manager. */
	assert_int_equal(flow_named(&run, "m")->received, 40);
	end_scenario(&run);
}

static void test_a_member_in_another_subnet_is_refused(void **state)
{
	(void)state;
	expect_scenario_refused("topology routed:2x2\nmulticast m from h1 to h2,h3\n", 2,
				"m: a member is in another subnet");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rate_is_kept),
		cmocka_unit_test(test_flows_of_one_host_share_its_port),
		cmocka_unit_test(test_every_member_gets_a_multicast_once),
		cmocka_unit_test(test_packets_cross_a_router),
		cmocka_unit_test(test_a_member_in_another_subnet_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
