/* SPDX-License-Identifier: Apache-2.0 */
/* dfsssp: the paths of sssp, on few VLs, without credit loops (management 3.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "mgmt/routing/credit_loops.h"
#include "mgmt/routing/dfsssp.h"
#include "mgmt/routing/layered.h"
#include "mgmt/routing/sssp.h"
#include "support/routing_graphs.h"

static unsigned lanes_of(const struct routing_graph *graph)
{
	struct credit_loops loops;

	assert_int_equal(credit_loops_check(graph, &loops), 0);
	assert_false(loops.has_loop);
	return loops.lane_count;
}

static void test_a_ring_takes_two_lanes(void **state)
{
	const struct routing_hints hints = {.lane_count = 8};
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 9, 2);
	assert_int_equal(dfsssp_route(&graph, &hints), 0);
	expect_all_adapters_connected(&graph);
	assert_int_equal(lanes_of(&graph), 2);
	routing_graph_release(&graph);
}

static void test_a_fat_tree_takes_one_lane(void **state)
{
	const struct routing_hints hints = {.lane_count = 1};
	struct routing_graph graph;

	(void)state;
	make_fat_tree(&graph, 6);
	assert_int_equal(dfsssp_route(&graph, &hints), 0);
	assert_int_equal(lanes_of(&graph), 1);
	routing_graph_release(&graph);
}

static void test_tables_are_those_of_sssp(void **state)
{
	const struct routing_hints hints = {.lane_count = 8};
	const uint32_t sizes[] = {5, 5};
	struct routing_graph graph, other;

	(void)state;
	make_grid(&graph, 2, sizes, true);
	make_grid(&other, 2, sizes, true);
	assert_int_equal(dfsssp_route(&graph, &hints), 0);
	assert_int_equal(sssp_route(&other, &hints), 0);
	for (uint32_t i = 0; i < graph.switch_count; i++)
		assert_memory_equal(graph.switches[i].table, other.switches[i].table,
				    graph.lid_max + 1u);
	routing_graph_release(&graph);
	routing_graph_release(&other);
}

/* A connection uses one SL in both directions. */
static void test_both_directions_have_one_service_level(void **state)
{
	const struct routing_hints hints = {.lane_count = 8};
	const uint32_t sizes[] = {5, 5};
	struct routing_graph graph;

	(void)state;
	make_grid(&graph, 2, sizes, true);
	assert_int_equal(dfsssp_route(&graph, &hints), 0);
	for (uint32_t a = 0; a < graph.switch_count; a++)
		for (uint32_t b = 0; b < graph.switch_count; b++)
			assert_int_equal(
				routing_graph_service_level(&graph, a,
							    (uint16_t)(graph.switch_count + b + 1)),
				routing_graph_service_level(
					&graph, b, (uint16_t)(graph.switch_count + a + 1)));
	routing_graph_release(&graph);
}

/* The claim of the paper, over all graphs together: cycles are broken where that moves the fewest
 * paths. */
static void test_random_graphs_take_no_more_lanes_than_lash_in_sum(void **state)
{
	const struct routing_hints hints = {.lane_count = 15};
	unsigned own = 0, lash = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct random random = random_seeded(seed);
		struct routing_graph graph, other;

		make_random_graph(&graph, &random, 30, 60);
		make_copy(&other, &graph, ROUTING_NO_SWITCH, 0);
		assert_int_equal(dfsssp_route(&graph, &hints), 0);
		assert_int_equal(layered_route(&other, &hints), 0);
		own += lanes_of(&graph);
		lash += lanes_of(&other);
		routing_graph_release(&graph);
		routing_graph_release(&other);
	}
	assert_true(own <= lash);
}

static void test_too_few_lanes_are_a_refusal(void **state)
{
	const struct routing_hints hints = {.lane_count = 1};
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 7, 1);
	assert_int_equal(dfsssp_route(&graph, &hints), -EOPNOTSUPP);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_ring_takes_two_lanes),
		cmocka_unit_test(test_a_fat_tree_takes_one_lane),
		cmocka_unit_test(test_tables_are_those_of_sssp),
		cmocka_unit_test(test_both_directions_have_one_service_level),
		cmocka_unit_test(test_random_graphs_take_no_more_lanes_than_lash_in_sum),
		cmocka_unit_test(test_too_few_lanes_are_a_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
