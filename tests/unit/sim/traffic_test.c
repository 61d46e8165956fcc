/* SPDX-License-Identifier: Apache-2.0 */
/* Flows start, stop and end at the times given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/scenario_run.h"

static void test_flows_start_and_stop_at_their_times(void **state)
{
	struct scenario_run run;

	(void)state;
	run_scenario(&run,
		     "topology star:2\nduration 10ms\n"
		     "flow a from h1 to h2 service load size 1000 rate 800Mbit start 2ms stop 4ms\n"
		     "flow b from h1 to h2 service rc size 1000 rate 800Mbit start 9ms\n"
		     "flow c from h1 to h2 service load size 1000 rate 8Mbit count 3\n");
	/* One message in 10 us. */
	assert_int_equal(flow_named(&run, "a")->sent, 200);
	assert_in_range(flow_named(&run, "b")->sent, 100, 101);
	assert_int_equal(flow_named(&run, "c")->sent, 3);
	end_scenario(&run);
}

static void test_unknown_hosts_are_named_with_their_line(void **state)
{
	(void)state;
	expect_scenario_refused("topology star:2\nflow a from h1 to h9\n", 2,
				"there is no host h9");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flows_start_and_stop_at_their_times),
		cmocka_unit_test(test_unknown_hosts_are_named_with_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
