/* SPDX-License-Identifier: Apache-2.0 */
/* Random routes: shortest, spread, the same in every run, and few move with a lost link. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "mgmt/routing/random_routes.h"
#include "support/routing_graphs.h"

static const struct routing_hints no_hints;

static void test_paths_are_shortest(void **state)
{
	const uint32_t sizes[] = {4, 4};
	struct routing_graph graph;

	(void)state;
	make_grid(&graph, 2, sizes, false);
	assert_int_equal(random_routes(&graph, &no_hints), 0);
	for (uint32_t a = 0; a < 16; a++)
		for (uint32_t b = 0; b < 16; b++) {
			uint32_t columns = a % 4 > b % 4 ? a % 4 - b % 4 : b % 4 - a % 4;
			uint32_t rows = a / 4 > b / 4 ? a / 4 - b / 4 : b / 4 - a / 4;

			assert_int_equal(path_hops(&graph, a, (uint16_t)(b + 1)), columns + rows);
		}
	routing_graph_release(&graph);
}

/* A leaf of a tree of 12-port switches has 6 uplinks for 426 LIDs: each port gets between half and
 * twice its share. */
static void test_every_port_gets_some(void **state)
{
	struct routing_graph graph;
	unsigned count[13] = {0};

	(void)state;
	make_fat_tree(&graph, 12);
	assert_int_equal(random_routes(&graph, &no_hints), 0);
	for (uint32_t i = 0; i < graph.destination_count; i++)
		if (graph.destinations[i].port_number && graph.destinations[i].switch_index)
			count[graph.switches[0].table[graph.destinations[i].lid]]++;
	for (unsigned port = 7; port <= 12; port++)
		assert_in_range(count[port], 426 / 6 / 2, 426 / 6 * 2);
	routing_graph_release(&graph);
}

static void test_a_lost_link_moves_only_what_used_it_and_back(void **state)
{
	struct routing_graph graph;
	uint8_t whole[64];

	(void)state;
	make_fat_tree(&graph, 4);
	assert_int_equal(random_routes(&graph, &no_hints), 0);
	memcpy(whole, graph.switches[0].table, graph.lid_max + 1u);

	uint32_t above = graph.switches[0].neighbors[3];
	uint8_t above_port = graph.switches[0].neighbor_ports[3];

	cut_link(&graph, 0, 3);
	assert_int_equal(random_routes(&graph, &no_hints), 0);
	expect_all_adapters_connected(&graph);
	/* The LIDs of the other leaf of the pod may be nearer only by way of the lost link's
	 * switch. */
	for (uint32_t i = 0; i < graph.destination_count; i++) {
		uint16_t lid = graph.destinations[i].lid;

		if (whole[lid] != 3)
			assert_int_equal(graph.switches[0].table[lid], whole[lid]);
	}
	routing_graph_link(&graph, 0, 3, above, above_port);
	assert_int_equal(random_routes(&graph, &no_hints), 0);
	assert_memory_equal(graph.switches[0].table, whole, graph.lid_max + 1u);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths_are_shortest),
		cmocka_unit_test(test_every_port_gets_some),
		cmocka_unit_test(test_a_lost_link_moves_only_what_used_it_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
