/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks: finds the top of a tree, takes hints, and uses the middle as the last resort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/routing/ranks.h"
#include "support/routing_graphs.h"

static const struct routing_hints no_hints;

static void find(struct ranks *ranks, struct destination_groups *groups,
		 const struct routing_graph *graph, const struct routing_hints *hints)
{
	assert_int_equal(destination_groups_init(groups, graph), 0);
	assert_int_equal(ranks_find(ranks, graph, groups, hints, RANKS_ROOTS_ON_TOP), 0);
}

static void test_the_tops_of_a_fat_tree_are_its_roots(void **state)
{
	struct destination_groups groups;
	struct routing_graph graph;
	struct ranks ranks;

	(void)state;
	make_fat_tree(&graph, 4);
	find(&ranks, &groups, &graph, &no_hints);
	for (uint32_t i = 0; i < graph.switch_count; i++)
		assert_int_equal(ranks.rank[i], i < 8 ? 2 : i < 16 ? 1 : 0);
	assert_true(ranks_goes_up(&ranks, 0, 8));
	assert_false(ranks_goes_up(&ranks, 8, 0));
	ranks_release(&ranks);
	destination_groups_release(&groups);
	routing_graph_release(&graph);
}

static void test_roots_in_the_hints_are_taken(void **state)
{
	const uint64_t roots[] = {0x1003, 0xdead};
	const struct routing_hints hints = {.root_guids = roots, .root_count = 2};
	struct destination_groups groups;
	struct routing_graph graph;
	struct ranks ranks;

	(void)state;
	make_ring(&graph, 6, 1);
	find(&ranks, &groups, &graph, &hints);
	assert_int_equal(ranks.rank[3], 0);
	assert_int_equal(ranks.rank[0], 3);
	/* Equal ranks: one of the two directions is up. */
	assert_true(ranks_goes_up(&ranks, 4, 2));
	assert_false(ranks_goes_up(&ranks, 2, 4));
	ranks_release(&ranks);
	destination_groups_release(&groups);
	routing_graph_release(&graph);
}

static void test_parts_that_are_not_connected_have_a_root_each(void **state)
{
	struct destination_groups groups;
	struct routing_graph graph;
	struct ranks ranks;

	(void)state;
	make_ring(&graph, 6, 1);
	cut_link(&graph, 0, 1);
	cut_link(&graph, 3, 1);
	find(&ranks, &groups, &graph, &no_hints);
	assert_int_equal(ranks.component[1], ranks.component[3]);
	assert_int_not_equal(ranks.component[0], ranks.component[1]);
	assert_int_equal(ranks.rank[2], 0);
	assert_int_equal(ranks.rank[5], 0);
	ranks_release(&ranks);
	destination_groups_release(&groups);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_tops_of_a_fat_tree_are_its_roots),
		cmocka_unit_test(test_roots_in_the_hints_are_taken),
		cmocka_unit_test(test_parts_that_are_not_connected_have_a_root_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
