/* SPDX-License-Identifier: Apache-2.0 */
/* torus-2QoS: any link or switch may fail, SLs stay, and the two QoS levels share no VL (management
 * 3.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "mgmt/routing/credit_loops.h"
#include "mgmt/routing/torus_2qos.h"
#include "support/routing_graphs.h"

static const struct {
	unsigned axis_count;
	uint32_t sizes[3];
} tori[] = {
	{2, {3, 4}}, {2, {5, 5}}, {2, {6, 5}}, {3, {3, 4, 3}}, {3, {4, 4, 4}}, {3, {4, 2, 3}},
};

enum { TORUS_COUNT = sizeof(tori) / sizeof(tori[0]) };

static const struct routing_hints eight_lanes = {.lane_count = 8};

static void expect_sound(struct routing_graph *graph, unsigned lanes_max)
{
	struct credit_loops loops;

	expect_all_adapters_connected(graph);
	assert_int_equal(credit_loops_check(graph, &loops), 0);
	assert_false(loops.has_loop);
	assert_true(loops.lane_count <= lanes_max);
}

static void test_whole_tori_take_two_lanes_and_meshes_one(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TORUS_COUNT; i++) {
		for (unsigned wraps = 0; wraps < 2; wraps++) {
			const struct routing_hints hints = {.lane_count = wraps ? 2 : 1};
			struct routing_graph graph;

			make_grid(&graph, tori[i].axis_count, tori[i].sizes, wraps);
			assert_int_equal(torus_2qos_route(&graph, &hints), 0);
			expect_sound(&graph, wraps ? 2 : 1);
			routing_graph_release(&graph);
		}
	}
}

/* The SLs are those of the whole torus, so connections need no new path. */
static void expect_same_levels(const struct routing_graph *whole, const struct routing_graph *graph)
{
	for (uint32_t a = 0; a < whole->switch_count; a++)
		for (uint32_t b = 0; b < whole->switch_count; b++)
			assert_int_equal(routing_graph_service_level(whole, a, (uint16_t)(b + 1)),
					 routing_graph_service_level(graph, a, (uint16_t)(b + 1)));
}

static void test_any_link_may_fail(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TORUS_COUNT; i++) {
		struct routing_graph whole;

		make_grid(&whole, tori[i].axis_count, tori[i].sizes, true);
		assert_int_equal(torus_2qos_route(&whole, &eight_lanes), 0);
		for (uint32_t index = 0; index < whole.switch_count; index++) {
			for (unsigned port = 1; port <= 2 * tori[i].axis_count; port += 2) {
				struct routing_graph graph;

				make_copy(&graph, &whole, ROUTING_NO_SWITCH, 0);
				cut_link(&graph, index, port);
				assert_int_equal(torus_2qos_route(&graph, &eight_lanes), 0);
				expect_sound(&graph, 2);
				expect_same_levels(&whole, &graph);
				routing_graph_release(&graph);
			}
		}
		routing_graph_release(&whole);
	}
}

static void test_any_switch_may_fail(void **state)
{
	(void)state;
	for (unsigned i = 0; i < TORUS_COUNT; i++) {
		struct routing_graph whole;

		make_grid(&whole, tori[i].axis_count, tori[i].sizes, true);
		for (uint32_t index = 0; index < whole.switch_count; index++) {
			struct routing_graph graph;

			make_copy(&graph, &whole, index, 1 /* LMC */);
			assert_int_equal(torus_2qos_route(&graph, &eight_lanes), 0);
			expect_sound(&graph, 4);
			routing_graph_release(&graph);
		}
		routing_graph_release(&whole);
	}
}

/* The failed links leave every ring connected. */
static void test_several_links_may_fail(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct random random = random_seeded(seed);
		const uint32_t sizes[] = {6, 5};
		struct routing_graph graph;

		make_grid(&graph, 2, sizes, true);
		for (uint32_t row = 0; row < 5; row++)
			cut_link(&graph, row * 6 + (uint32_t)random_below(&random, 6), 1);
		/* One other ring must be whole, so that the dimension is recognized as a ring. */
		for (uint32_t column = 1; column < 6; column++)
			cut_link(&graph, column + 6 * (uint32_t)random_below(&random, 5), 3);
		assert_int_equal(torus_2qos_route(&graph, &eight_lanes), 0);
		expect_sound(&graph, 2);
		routing_graph_release(&graph);
	}
}

static void test_a_ring_in_two_pieces_is_refused(void **state)
{
	const uint32_t sizes[] = {6, 5};
	struct routing_graph graph;

	(void)state;
	make_grid(&graph, 2, sizes, true);
	cut_link(&graph, 0, 1);
	cut_link(&graph, 3, 1);
	assert_int_equal(torus_2qos_route(&graph, &eight_lanes), -EOPNOTSUPP);
	routing_graph_release(&graph);
}

static void test_a_path_and_its_reverse_have_the_same_service_level(void **state)
{
	const uint32_t sizes[] = {4, 6};
	struct routing_graph whole, graph;

	(void)state;
	make_grid(&whole, 2, sizes, true);
	make_copy(&graph, &whole, 9, 0);
	cut_link(&graph, 0, 1);
	assert_int_equal(torus_2qos_route(&graph, &eight_lanes), 0);
	for (uint32_t a = 0; a < graph.switch_count; a++)
		for (uint32_t b = 0; b < graph.switch_count; b++)
			assert_int_equal(routing_graph_service_level(&graph, a, (uint16_t)(b + 1)),
					 routing_graph_service_level(&graph, b, (uint16_t)(a + 1)));
	routing_graph_release(&whole);
	routing_graph_release(&graph);
}

/* Policy sets SL bit 3. Packets with it never wait for packets without it. */
static void test_two_levels_of_service_share_no_lane(void **state)
{
	const uint32_t sizes[] = {4, 4, 4};
	struct routing_graph whole, graph;

	(void)state;
	make_grid(&whole, 3, sizes, true);
	make_copy(&graph, &whole, 21, 0);
	assert_int_equal(torus_2qos_route(&graph, &eight_lanes), 0);
	assert_int_equal(graph.policy_sl_bits, 8);
	for (uint32_t i = 0; i < graph.switch_count; i++) {
		const struct routing_switch *node = &graph.switches[i];

		for (unsigned input = 0; input <= node->port_count; input++)
			for (unsigned output = 1; output <= 6; output++)
				for (uint8_t sl = 0; sl < ROUTING_SL_COUNT; sl++)
					assert_int_equal(routing_lane(node, input, output, sl) / 4,
							 sl / 8);
	}
	for (size_t i = 0; i < (size_t)graph.switch_count * (graph.lid_max + 1u); i++)
		graph.service_levels[i] |= 8;
	expect_sound(&graph, 8);
	routing_graph_release(&whole);
	routing_graph_release(&graph);
}

static void test_too_few_lanes_are_a_refusal(void **state)
{
	const struct routing_hints one = {.lane_count = 1}, two = {.lane_count = 2};
	const uint32_t sizes[] = {5, 5};
	struct routing_graph whole, graph;

	(void)state;
	make_grid(&whole, 2, sizes, true);
	assert_int_equal(torus_2qos_route(&whole, &one), -EOPNOTSUPP);
	/* Routing around a missing switch takes four VLs. */
	make_copy(&graph, &whole, 7, 0);
	assert_int_equal(torus_2qos_route(&graph, &two), -EOPNOTSUPP);
	routing_graph_release(&whole);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_tori_take_two_lanes_and_meshes_one),
		cmocka_unit_test(test_any_link_may_fail),
		cmocka_unit_test(test_any_switch_may_fail),
		cmocka_unit_test(test_several_links_may_fail),
		cmocka_unit_test(test_a_ring_in_two_pieces_is_refused),
		cmocka_unit_test(test_a_path_and_its_reverse_have_the_same_service_level),
		cmocka_unit_test(test_two_levels_of_service_share_no_lane),
		cmocka_unit_test(test_too_few_lanes_are_a_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
