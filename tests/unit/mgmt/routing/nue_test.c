/* SPDX-License-Identifier: Apache-2.0 */
/* Nue: accepts every graph with any number of VLs, and more VLs make paths shorter (management
 * 3.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/routing/credit_loops.h"
#include "mgmt/routing/nue.h"
#include "mgmt/routing/updown.h"
#include "support/routing_graphs.h"

/* Hops from switches with an adapter to adapters. */
static unsigned hops_of(const struct routing_graph *graph)
{
	unsigned sum = 0;

	for (uint32_t from = 0; from < graph->destination_count; from++)
		for (uint32_t to = 0; to < graph->destination_count; to++)
			if (graph->destinations[from].port_number &&
			    graph->destinations[to].port_number)
				sum += path_hops(graph, graph->destinations[from].switch_index,
						 graph->destinations[to].lid);
	return sum;
}

static void expect_routed(struct routing_graph *graph, uint8_t lane_count)
{
	const struct routing_hints hints = {.lane_count = lane_count};
	struct credit_loops loops;

	assert_int_equal(nue_route(graph, &hints), 0);
	expect_all_adapters_connected(graph);
	assert_int_equal(credit_loops_check(graph, &loops), 0);
	assert_false(loops.has_loop);
	assert_true(loops.lane_count <= (lane_count ? lane_count : 1));
}

static void test_every_graph_is_routed_with_every_number_of_lanes(void **state)
{
	static const uint8_t lane_counts[] = {0, 1, 2, 3, 8, 15};

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct random random = random_seeded(seed);
		struct routing_graph graph;

		make_random_graph(&graph, &random, 2 + (uint32_t)random_below(&random, 40),
				  (uint32_t)random_below(&random, 80));
		for (unsigned i = 0; i < sizeof(lane_counts); i++) {
			struct routing_graph copy;

			make_copy(&copy, &graph, ROUTING_NO_SWITCH, 0);
			expect_routed(&copy, lane_counts[i]);
			routing_graph_release(&copy);
		}
		routing_graph_release(&graph);
	}
}

static void test_rings_and_tori_are_routed_on_one_lane(void **state)
{
	static const uint32_t sizes[][3] = {{5, 5, 1}, {3, 4, 5}, {4, 4, 4}, {9, 1, 1}};

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct routing_graph graph;

		make_grid(&graph, 3, sizes[i], true);
		expect_routed(&graph, 1);
		routing_graph_release(&graph);
	}
}

/* On one VL up/down is the other engine that takes any graph. */
static void test_paths_are_no_longer_than_up_down_in_sum(void **state)
{
	const struct routing_hints hints = {.lane_count = 1};
	unsigned own = 0, updown = 0, own_8 = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct random random = random_seeded(seed);
		struct routing_graph graph, other, eight;

		make_random_graph(&graph, &random, 30, 60);
		make_copy(&other, &graph, ROUTING_NO_SWITCH, 0);
		make_copy(&eight, &graph, ROUTING_NO_SWITCH, 0);
		expect_routed(&graph, 1);
		expect_routed(&eight, 8);
		assert_int_equal(updown_route(&other, &hints), 0);
		own += hops_of(&graph);
		own_8 += hops_of(&eight);
		updown += hops_of(&other);
		routing_graph_release(&graph);
		routing_graph_release(&other);
		routing_graph_release(&eight);
	}
	assert_true(own < updown);
	assert_true(own_8 < own);
}

static void test_parts_that_are_not_connected_are_routed_each(void **state)
{
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 8, 1);
	cut_link(&graph, 0, 1);
	cut_link(&graph, 4, 1);
	expect_routed(&graph, 1);
	assert_int_equal(graph.switches[0].table[3], ROUTING_NO_PORT);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_graph_is_routed_with_every_number_of_lanes),
		cmocka_unit_test(test_rings_and_tori_are_routed_on_one_lane),
		cmocka_unit_test(test_paths_are_no_longer_than_up_down_in_sum),
		cmocka_unit_test(test_parts_that_are_not_connected_are_routed_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
