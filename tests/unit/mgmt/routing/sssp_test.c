/* SPDX-License-Identifier: Apache-2.0 */
/* sssp: shortest paths with even load over the whole fabric (management 3.8, 3.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/minhop.h"
#include "mgmt/routing/sssp.h"
#include "support/routing_graphs.h"

enum { PORTS_MAX = 64 };

static const struct routing_hints no_hints;

/* The number of paths between adapters over the busiest link between switches. */
static uint32_t busiest_link(const struct routing_graph *graph)
{
	uint32_t *load = calloc((size_t)graph->switch_count * PORTS_MAX, sizeof(uint32_t));
	uint32_t most = 0;

	assert_non_null(load);
	for (uint32_t from = 0; from < graph->destination_count; from++) {
		for (uint32_t to = 0; to < graph->destination_count; to++) {
			const struct routing_destination *target = &graph->destinations[to];
			uint32_t index = graph->destinations[from].switch_index;

			if (!graph->destinations[from].port_number || !target->port_number)
				continue;
			while (index != target->switch_index) {
				uint8_t port = graph->switches[index].table[target->lid];

				if (++load[index * PORTS_MAX + port] > most)
					most = load[index * PORTS_MAX + port];
				index = graph->switches[index].neighbors[port];
			}
		}
	}
	free(load);
	return most;
}

static void test_paths_are_as_short_as_min_hop_on_every_seed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct random random = random_seeded(seed);
		struct routing_graph graph, oracle;

		make_random_graph(&graph, &random, 3 + (uint32_t)random_below(&random, 25),
				  (uint32_t)random_below(&random, 40));
		make_copy(&oracle, &graph, ROUTING_NO_SWITCH, 0);
		assert_int_equal(sssp_route(&graph, &no_hints), 0);
		assert_int_equal(minhop_route(&oracle), 0);
		for (uint32_t from = 0; from < graph.switch_count; from++)
			for (uint32_t i = 0; i < graph.destination_count; i++)
				assert_int_equal(
					path_hops(&graph, from, graph.destinations[i].lid),
					path_hops(&oracle, from, oracle.destinations[i].lid));
		routing_graph_release(&graph);
		routing_graph_release(&oracle);
	}
}

/* In a fat tree of 4-port switches each core link can carry the paths to one adapter, each leaf
 * link those to one of the two adapters of a leaf. */
static void test_a_fat_tree_is_perfectly_balanced(void **state)
{
	struct routing_graph graph;

	(void)state;
	make_fat_tree(&graph, 4);
	assert_int_equal(sssp_route(&graph, &no_hints), 0);
	assert_int_equal(busiest_link(&graph), 14);
	routing_graph_release(&graph);
}

/* 64 adapters send over 192 links in two directions: 63 x 64 paths of 64 x 3 / 63 hops are 32 per
 * link. */
static void test_a_torus_is_perfectly_balanced(void **state)
{
	const uint32_t sizes[] = {4, 4, 4};
	struct routing_graph graph;

	(void)state;
	make_grid(&graph, 3, sizes, true);
	assert_int_equal(sssp_route(&graph, &no_hints), 0);
	assert_int_equal(busiest_link(&graph), 32);
	routing_graph_release(&graph);
}

static void test_routes_stay_when_they_are_made_again(void **state)
{
	struct routing_graph graph;
	uint8_t before[64];

	(void)state;
	make_fat_tree(&graph, 4);
	assert_int_equal(sssp_route(&graph, &no_hints), 0);
	memcpy(before, graph.switches[0].table, graph.lid_max + 1u);
	assert_int_equal(sssp_route(&graph, &no_hints), 0);
	assert_memory_equal(before, graph.switches[0].table, graph.lid_max + 1u);
	routing_graph_release(&graph);
}

static void test_the_lids_of_one_port_take_different_paths(void **state)
{
	struct routing_graph tree, graph;

	(void)state;
	make_fat_tree(&tree, 4);
	make_copy(&graph, &tree, ROUTING_NO_SWITCH, 1);
	assert_int_equal(sssp_route(&graph, &no_hints), 0);
	expect_all_adapters_connected(&graph);
	for (uint32_t i = 0; i + 1 < graph.destination_count; i++) {
		const struct routing_destination *first = &graph.destinations[i];

		/* From a leaf in another pod. */
		if (first->port_number && first->path_index == 0 && first->switch_index > 1)
			assert_int_not_equal(graph.switches[0].table[first->lid],
					     graph.switches[0].table[first->lid + 1]);
	}
	routing_graph_release(&tree);
	routing_graph_release(&graph);
}

static void test_what_is_cut_off_has_no_route(void **state)
{
	struct routing_graph graph;

	(void)state;
	make_star_of_switches(&graph, 3);
	cut_link(&graph, 0, 2);
	assert_int_equal(sssp_route(&graph, &no_hints), 0);
	assert_int_equal(graph.switches[0].table[3], ROUTING_NO_PORT);
	assert_int_equal(graph.switches[2].table[1], ROUTING_NO_PORT);
	expect_all_adapters_connected(&graph);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths_are_as_short_as_min_hop_on_every_seed),
		cmocka_unit_test(test_a_fat_tree_is_perfectly_balanced),
		cmocka_unit_test(test_a_torus_is_perfectly_balanced),
		cmocka_unit_test(test_routes_stay_when_they_are_made_again),
		cmocka_unit_test(test_the_lids_of_one_port_take_different_paths),
		cmocka_unit_test(test_what_is_cut_off_has_no_route),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
