/* SPDX-License-Identifier: Apache-2.0 */
/* Fat trees: even load on every link, one top per LID, and refusal of other graphs (management
 * 3.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/fat_tree.h"
#include "support/routing_graphs.h"

static const struct routing_hints no_hints;

/* The number of adapter LIDs that leave by a port. */
static unsigned count_routes(const struct routing_graph *graph, uint32_t index, unsigned port)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < graph->destination_count; i++)
		if (graph->destinations[i].port_number &&
		    graph->switches[index].table[graph->destinations[i].lid] == port)
			count++;
	return count;
}

static void test_every_link_of_a_full_tree_carries_its_share(void **state)
{
	enum { K = 6, HALF = K / 2, LEAVES = K * HALF, ADAPTERS = LEAVES * HALF };
	struct routing_graph graph;

	(void)state;
	make_fat_tree(&graph, K);
	assert_int_equal(fat_tree_route(&graph, &no_hints), 0);
	expect_all_adapters_connected(&graph);
	expect_no_credit_loops(&graph);
	for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
		for (unsigned port = HALF + 1; port <= K; port++)
			assert_in_range(count_routes(&graph, leaf, port),
					(ADAPTERS - HALF) / HALF - 1, (ADAPTERS - HALF) / HALF + 1);
	/* From a top down to each pod: the pod's adapters, spread over the tops. */
	for (uint32_t top = 2 * LEAVES; top < graph.switch_count; top++)
		for (unsigned port = 1; port <= K; port++)
			assert_int_equal(count_routes(&graph, top, port), HALF * HALF);
	routing_graph_release(&graph);
}

/* All leaves send a LID up to the same top: it has one path down. */
static void test_a_lid_comes_down_from_one_top(void **state)
{
	enum { K = 4, HALF = 2, LEAVES = K * HALF };
	struct routing_graph graph;

	(void)state;
	make_fat_tree(&graph, K);
	assert_int_equal(fat_tree_route(&graph, &no_hints), 0);
	for (uint32_t i = 0; i < graph.destination_count; i++) {
		const struct routing_destination *destination = &graph.destinations[i];
		uint32_t top = ROUTING_NO_SWITCH;

		for (uint32_t leaf = 0; destination->port_number && leaf < LEAVES; leaf++) {
			uint32_t index = leaf;

			if (leaf / HALF == destination->switch_index / HALF)
				continue; /* the same pod */
			for (unsigned hop = 0; hop < 2; hop++)
				index = graph.switches[index].neighbors
						[graph.switches[index].table[destination->lid]];
			assert_true(top == ROUTING_NO_SWITCH || top == index);
			top = index;
		}
	}
	routing_graph_release(&graph);
}

static void test_what_is_no_tree_is_refused(void **state)
{
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 5, 1);
	assert_int_equal(fat_tree_route(&graph, &no_hints), -EOPNOTSUPP);
	routing_graph_release(&graph);
}

static void test_a_tree_with_lost_links_still_connects_all(void **state)
{
	struct routing_graph graph;

	(void)state;
	make_fat_tree(&graph, 6);
	cut_link(&graph, 0, 4);
	cut_link(&graph, 0, 5);
	cut_link(&graph, 20, 6);
	assert_int_equal(fat_tree_route(&graph, &no_hints), 0);
	expect_all_adapters_connected(&graph);
	expect_no_credit_loops(&graph);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_link_of_a_full_tree_carries_its_share),
		cmocka_unit_test(test_a_lid_comes_down_from_one_top),
		cmocka_unit_test(test_what_is_no_tree_is_refused),
		cmocka_unit_test(test_a_tree_with_lost_links_still_connects_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
