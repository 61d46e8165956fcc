/* SPDX-License-Identifier: Apache-2.0 */
/* Layers: a ring needs two VLs; with one it is refused (management 3.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "mgmt/routing/credit_loops.h"
#include "mgmt/routing/layered.h"
#include "support/routing_graphs.h"

static void test_a_ring_takes_two_lanes(void **state)
{
	const struct routing_hints hints = {.lane_count = 4};
	struct routing_graph graph;
	struct credit_loops loops;

	(void)state;
	make_ring(&graph, 7, 2);
	assert_int_equal(layered_route(&graph, &hints), 0);
	expect_all_adapters_connected(&graph);
	assert_int_equal(credit_loops_check(&graph, &loops), 0);
	assert_false(loops.has_loop);
	assert_int_equal(loops.lane_count, 2);
	/* Still on the shortest path. */
	for (uint32_t a = 0; a < 7; a++)
		for (uint32_t b = 0; b < 7; b++) {
			uint32_t direct = a > b ? a - b : b - a;

			assert_int_equal(path_hops(&graph, a, (uint16_t)(b + 1)),
					 direct < 7 - direct ? direct : 7 - direct);
		}
	routing_graph_release(&graph);
}

static void test_both_directions_have_one_service_level(void **state)
{
	const struct routing_hints hints = {.lane_count = 8};
	struct random random = random_seeded(3);
	struct routing_graph graph;

	(void)state;
	make_random_graph(&graph, &random, 20, 30);
	assert_int_equal(layered_route(&graph, &hints), 0);
	for (uint32_t a = 0; a < 20; a++)
		for (uint32_t b = 0; b < 20; b++)
			assert_int_equal(routing_graph_service_level(&graph, a, (uint16_t)(b + 1)),
					 routing_graph_service_level(&graph, b, (uint16_t)(a + 1)));
	routing_graph_release(&graph);
}

static void test_too_few_lanes_are_a_refusal(void **state)
{
	const struct routing_hints hints = {.lane_count = 1};
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 7, 1);
	assert_int_equal(layered_route(&graph, &hints), -EOPNOTSUPP);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_ring_takes_two_lanes),
		cmocka_unit_test(test_both_directions_have_one_service_level),
		cmocka_unit_test(test_too_few_lanes_are_a_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
