/* SPDX-License-Identifier: Apache-2.0 */
/* Dimension order: shortest on grids, no cycles on rings, and refusals (management 3.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include "mgmt/routing/dimension_order.h"
#include "support/routing_graphs.h"

static uint32_t axis_distance(uint32_t a, uint32_t b, uint32_t size, bool wraps)
{
	uint32_t direct = a > b ? a - b : b - a;

	return wraps && size - direct < direct ? size - direct : direct;
}

static void expect_grid_distances(const struct routing_graph *graph, unsigned axis_count,
				  const uint32_t *sizes, bool wraps)
{
	for (uint32_t from = 0; from < graph->switch_count; from++)
		for (uint32_t to = 0; to < graph->switch_count; to++) {
			uint32_t stride = 1, distance = 0;

			for (unsigned axis = 0; axis < axis_count; stride *= sizes[axis], axis++)
				distance += axis_distance(from / stride % sizes[axis],
							  to / stride % sizes[axis], sizes[axis],
							  wraps && sizes[axis] > 2);
			assert_int_equal(path_hops(graph, from, (uint16_t)(to + 1)), distance);
		}
}

static const struct {
	unsigned axis_count;
	uint32_t sizes[3];
} grids[] = {
	{1, {6}}, {2, {3, 4}}, {2, {5, 5}}, {3, {3, 4, 3}}, {3, {4, 2, 3}}, {2, {2, 2}},
};

static void test_grids_are_routed_by_the_shortest_way_without_circles(void **state)
{
	const struct routing_hints hints = {.lane_count = 2};

	(void)state;
	for (unsigned i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
		for (unsigned wraps = 0; wraps < 2; wraps++) {
			struct routing_graph graph;

			make_grid(&graph, grids[i].axis_count, grids[i].sizes, wraps);
			assert_int_equal(dimension_order_route(&graph, &hints), 0);
			expect_grid_distances(&graph, grids[i].axis_count, grids[i].sizes, wraps);
			expect_all_adapters_connected(&graph);
			expect_no_credit_loops(&graph);
			routing_graph_release(&graph);
		}
	}
}

/* A reversible PathRecord has one SL. */
static void test_a_path_and_its_reverse_have_the_same_service_level(void **state)
{
	const struct routing_hints hints = {.lane_count = 2};
	const uint32_t sizes[] = {4, 6};
	struct routing_graph graph;

	(void)state;
	make_grid(&graph, 2, sizes, true);
	assert_int_equal(dimension_order_route(&graph, &hints), 0);
	for (uint32_t a = 0; a < graph.switch_count; a++)
		for (uint32_t b = 0; b < graph.switch_count; b++)
			assert_int_equal(routing_graph_service_level(&graph, a, (uint16_t)(b + 1)),
					 routing_graph_service_level(&graph, b, (uint16_t)(a + 1)));
	routing_graph_release(&graph);
}

static void test_a_ring_with_one_lane_is_refused(void **state)
{
	const struct routing_hints hints = {.lane_count = 1};
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 6, 1);
	assert_int_equal(dimension_order_route(&graph, &hints), -EOPNOTSUPP);
	routing_graph_release(&graph);
}

static void test_a_mesh_with_a_missing_link_is_refused(void **state)
{
	const struct routing_hints hints = {.lane_count = 2};
	const uint32_t sizes[] = {4, 4};
	struct routing_graph graph;

	(void)state;
	make_grid(&graph, 2, sizes, false);
	cut_link(&graph, 5, 1);
	assert_int_equal(dimension_order_route(&graph, &hints), -EOPNOTSUPP);
	routing_graph_release(&graph);
}

static void test_what_is_no_grid_is_refused(void **state)
{
	const struct routing_hints hints = {.lane_count = 2};
	struct routing_graph graph;

	(void)state;
	make_fat_tree(&graph, 4);
	assert_int_equal(dimension_order_route(&graph, &hints), -EOPNOTSUPP);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grids_are_routed_by_the_shortest_way_without_circles),
		cmocka_unit_test(test_a_path_and_its_reverse_have_the_same_service_level),
		cmocka_unit_test(test_a_ring_with_one_lane_is_refused),
		cmocka_unit_test(test_a_mesh_with_a_missing_link_is_refused),
		cmocka_unit_test(test_what_is_no_grid_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
