/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates from the cabling: of whole tori and meshes, with gaps, and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "mgmt/routing/torus_coordinates.h"
#include "support/routing_graphs.h"

static void expect_sizes(const struct routing_graph *graph, const uint32_t *sizes, bool is_ring)
{
	struct torus torus;

	assert_int_equal(torus_find(&torus, graph), 0);
	for (unsigned d = 0; d < torus.dimension_count; d++) {
		assert_int_equal(torus.dimensions[d].size, sizes[d]);
		assert_int_equal(torus.dimensions[d].is_ring, is_ring && sizes[d] > 2);
		assert_int_equal(torus.dimensions[d].plus_port, 2 * d + 1);
		assert_int_equal(torus_dimension_of(&torus, 2 * d + 2), d);
	}
	torus_release(&torus);
}

static void test_tori_and_meshes_are_measured(void **state)
{
	static const uint32_t sizes[][3] = {{3, 4, 5}, {5, 5, 2}, {2, 2, 2}, {4, 3, 3}};

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (unsigned wraps = 0; wraps < 2; wraps++) {
			struct routing_graph graph;

			make_grid(&graph, 3, sizes[i], wraps);
			expect_sizes(&graph, sizes[i], wraps);
			routing_graph_release(&graph);
		}
	}
}

/* Switch i of make_grid() is at i % 4, i / 4. */
static void test_coordinates_start_at_the_lowest_guid(void **state)
{
	const uint32_t sizes[] = {4, 5};
	struct routing_graph graph;
	struct torus torus;

	(void)state;
	make_grid(&graph, 2, sizes, true);
	assert_int_equal(torus_find(&torus, &graph), 0);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(torus.coordinates[i][0], i % 4);
		assert_int_equal(torus.coordinates[i][1], i / 4);
		assert_int_equal(torus_switch_at(&torus, i, 0, 3), i / 4 * 4 + 3);
		assert_int_equal(torus_switch_at(&torus, i, 1, 0), i % 4);
	}
	torus_release(&torus);
	graph.switches[6].guid = 1;
	assert_int_equal(torus_find(&torus, &graph), 0);
	assert_int_equal(torus.coordinates[6][0], 0);
	assert_int_equal(torus.coordinates[7][0], 1);
	assert_int_equal(torus.coordinates[2][1], 4);
	torus_release(&torus);
	routing_graph_release(&graph);
}

static void test_gaps_change_no_size(void **state)
{
	const uint32_t sizes[] = {4, 5};
	struct routing_graph graph, broken;
	struct torus torus;

	(void)state;
	make_grid(&graph, 2, sizes, true);
	make_copy(&broken, &graph, 6, 0);
	cut_link(&broken, 0, 1);
	expect_sizes(&broken, sizes, true);
	assert_int_equal(torus_find(&torus, &broken), 0);
	assert_int_equal(torus.place_count, 20);
	assert_int_equal(torus_switch_at(&torus, 5, 0, 2), ROUTING_NO_SWITCH);
	torus_release(&torus);
	routing_graph_release(&graph);
	routing_graph_release(&broken);
}

static void test_what_is_no_torus_is_refused(void **state)
{
	const uint32_t sizes[] = {4, 4}, many[] = {2, 2, 2, 2};
	struct routing_graph graph;
	struct torus torus;

	(void)state;
	make_fat_tree(&graph, 4);
	assert_int_equal(torus_find(&torus, &graph), -EOPNOTSUPP);
	routing_graph_release(&graph);
	make_grid(&graph, 4, many, false);
	assert_int_equal(torus_find(&torus, &graph), -EOPNOTSUPP);
	routing_graph_release(&graph);
	/* Twisted: going around the first ring leads to the next row. */
	make_grid(&graph, 2, sizes, true);
	for (uint32_t row = 0; row < 4; row++)
		routing_graph_link(&graph, row * 4 + 3, 1, (row + 1) % 4 * 4, 2);
	assert_int_equal(torus_find(&torus, &graph), -EOPNOTSUPP);
	routing_graph_release(&graph);
	make_ring(&graph, 6, 1);
	cut_link(&graph, 0, 1);
	cut_link(&graph, 3, 1);
	assert_int_equal(torus_find(&torus, &graph), -EOPNOTSUPP);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tori_and_meshes_are_measured),
		cmocka_unit_test(test_coordinates_start_at_the_lowest_guid),
		cmocka_unit_test(test_gaps_change_no_size),
		cmocka_unit_test(test_what_is_no_torus_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
