/* SPDX-License-Identifier: Apache-2.0 */
/* The checker finds the faults of a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/routing/graph.h"

static struct routing_graph graph;

/* Three switches in a row, port 1 to the left, 2 to the right; LID 1 on port 3 of the last. */
static int setup(void **state)
{
	(void)state;
	assert_int_equal(routing_graph_init(&graph, 3, 1, 1), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(routing_graph_set_ports(&graph, i, 3), 0);
	routing_graph_link(&graph, 0, 2, 1, 1);
	routing_graph_link(&graph, 1, 2, 2, 1);
	graph.destinations[0] =
		(struct routing_destination){.lid = 1, .switch_index = 2, .port_number = 3};
	graph.switches[0].table[1] = 2;
	graph.switches[1].table[1] = 2;
	graph.switches[2].table[1] = 3;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	routing_graph_release(&graph);
	return 0;
}

static struct routing_verdict verdict_now(void)
{
	struct routing_verdict verdict;

	assert_int_equal(routing_check(&graph, &verdict), 0);
	return verdict;
}

static void test_good_table_is_sound(void **state)
{
	(void)state;
	assert_int_equal(verdict_now().fault, ROUTING_SOUND);
	assert_int_equal(verdict_now().unreachable_count, 0);
}

static void test_switches_that_point_at_each_other_are_a_loop(void **state)
{
	(void)state;
	graph.switches[1].table[1] = 1;
	assert_int_equal(verdict_now().fault, ROUTING_LOOP);
	assert_int_equal(verdict_now().switch_index, 0);
	assert_int_equal(verdict_now().unreachable_count, 2);
}

static void test_entry_that_leads_nowhere_is_a_dead_end(void **state)
{
	(void)state;
	graph.switches[1].table[1] = 3;
	assert_int_equal(verdict_now().fault, ROUTING_DEAD_END);
	graph.switches[1].table[1] = 200;
	assert_int_equal(verdict_now().fault, ROUTING_DEAD_END);
	graph.switches[1].table[1] = 2;
	graph.switches[2].table[1] = 1;
	assert_int_equal(verdict_now().fault, ROUTING_DEAD_END);
}

static void test_missing_entries_are_unreachable_but_no_fault(void **state)
{
	(void)state;
	graph.switches[0].table[1] = ROUTING_NO_PORT;
	assert_int_equal(verdict_now().fault, ROUTING_SOUND);
	assert_int_equal(verdict_now().unreachable_count, 1);
}

/* An engine that gave up must not leave SLs for the next one. */
static void test_dropped_lanes_leave_nothing(void **state)
{
	(void)state;
	assert_int_equal(routing_graph_use_service_levels(&graph), 0);
	assert_int_equal(routing_graph_use_lanes(&graph, 0), 0);
	graph.policy_sl_bits = 8;
	graph.service_levels[1] = 3;
	assert_int_equal(routing_graph_service_level(&graph, 0, 1), 3);
	routing_graph_drop_lanes(&graph);
	assert_int_equal(routing_graph_service_level(&graph, 0, 1), 0);
	assert_null(graph.switches[0].sl_to_vl);
	assert_int_equal(graph.policy_sl_bits, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(test_good_table_is_sound),
		TEST(test_switches_that_point_at_each_other_are_a_loop),
		TEST(test_entry_that_leads_nowhere_is_a_dead_end),
		TEST(test_missing_entries_are_unreachable_but_no_fault),
		TEST(test_dropped_lanes_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
