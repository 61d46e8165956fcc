/* SPDX-License-Identifier: Apache-2.0 */
/* Credit loops: a ring with min-hop has one, trees have none, VLs break it (management 3.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/routing/credit_loops.h"
#include "mgmt/routing/minhop.h"
#include "support/routing_graphs.h"

static void test_min_hop_on_a_ring_can_deadlock(void **state)
{
	struct routing_graph graph;
	struct credit_loops loops;

	(void)state;
	make_ring(&graph, 6, 1);
	assert_int_equal(minhop_route(&graph), 0);
	assert_int_equal(credit_loops_check(&graph, &loops), 0);
	assert_true(loops.has_loop);
	assert_int_equal(loops.lane_count, 1);
	routing_graph_release(&graph);
}

static void test_min_hop_on_a_fat_tree_can_not(void **state)
{
	struct routing_graph graph;
	struct credit_loops loops;

	(void)state;
	make_fat_tree(&graph, 4);
	assert_int_equal(minhop_route(&graph), 0);
	assert_int_equal(credit_loops_check(&graph, &loops), 0);
	assert_false(loops.has_loop);
	routing_graph_release(&graph);
}

/* The shortest paths around a ring, with those over the last link on VL 1: neither VL has a cycle.
 */
static void test_lanes_count(void **state)
{
	struct routing_graph graph;
	struct credit_loops loops;

	(void)state;
	make_ring(&graph, 5, 1);
	assert_int_equal(minhop_route(&graph), 0);
	assert_int_equal(credit_loops_check(&graph, &loops), 0);
	assert_true(loops.has_loop);
	assert_int_equal(routing_graph_use_service_levels(&graph), 0);
	for (uint32_t from = 0; from < 5; from++)
		for (uint32_t to = 0; to < 5; to++)
			graph.service_levels[from * (graph.lid_max + 1u) + to + 6] =
				(from > to ? from - to : to - from) > 2;
	assert_int_equal(credit_loops_check(&graph, &loops), 0);
	assert_false(loops.has_loop);
	assert_int_equal(loops.lane_count, 2);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_min_hop_on_a_ring_can_deadlock),
		cmocka_unit_test(test_min_hop_on_a_fat_tree_can_not),
		cmocka_unit_test(test_lanes_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
