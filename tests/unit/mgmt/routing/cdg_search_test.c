/* SPDX-License-Identifier: Apache-2.0 */
/* The search in the dependency graph: shortest paths where possible, longer ones around cycles, and
 * the tree if nothing else is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "mgmt/routing/cdg_search.h"
#include "support/routing_graphs.h"

struct rig {
	struct routing_graph graph;
	struct destination_groups groups;
	struct ranks ranks;
	struct cdg_search search;
	uint32_t **weight;
	uint32_t *adapter_count;
};

static void rig_start(struct rig *rig)
{
	const struct routing_hints hints = {0};
	uint32_t switch_count = rig->graph.switch_count;

	assert_int_equal(destination_groups_init(&rig->groups, &rig->graph), 0);
	assert_int_equal(
		ranks_find(&rig->ranks, &rig->graph, &rig->groups, &hints, RANKS_ROOTS_ON_TOP), 0);
	assert_int_equal(cdg_search_init(&rig->search, &rig->graph, &rig->groups, &rig->ranks), 0);
	assert_int_equal(cdg_search_begin(&rig->search), 0);
	rig->weight = calloc(switch_count, sizeof(*rig->weight));
	rig->adapter_count = calloc(switch_count, sizeof(*rig->adapter_count));
	assert_true(rig->weight && rig->adapter_count);
	for (uint32_t i = 0; i < switch_count; i++) {
		rig->weight[i] = calloc(256, sizeof(uint32_t));
		assert_non_null(rig->weight[i]);
		rig->adapter_count[i] = rig->groups.has_adapters[i];
	}
}

static void rig_end(struct rig *rig)
{
	for (uint32_t i = 0; i < rig->graph.switch_count; i++)
		free(rig->weight[i]);
	free(rig->weight);
	free(rig->adapter_count);
	cdg_search_release(&rig->search);
	ranks_release(&rig->ranks);
	destination_groups_release(&rig->groups);
	routing_graph_release(&rig->graph);
}

static void run(struct rig *rig, uint32_t target)
{
	cdg_search_run(&rig->search, rig->weight, rig->adapter_count, target,
		       (uint16_t)(target + 1));
}

static void test_the_first_target_is_reached_by_the_shortest_paths(void **state)
{
	struct rig rig;

	(void)state;
	make_ring(&rig.graph, 8, 1);
	rig_start(&rig);
	run(&rig, 0);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(rig.search.hops[i], i < 4 ? i : 8 - i);
	rig_end(&rig);
}

/* All shortest paths of a ring close its two cycles, so some path must be longer. */
static void test_a_cycle_is_avoided_by_a_longer_path(void **state)
{
	struct rig rig;
	uint32_t hops = 0;

	(void)state;
	make_ring(&rig.graph, 8, 1);
	rig_start(&rig);
	for (uint32_t target = 0; target < 8; target++) {
		run(&rig, target);
		assert_int_equal(rig.search.queue_count, 8);
		for (uint32_t i = 0; i < 8; i++)
			hops += rig.search.hops[i];
	}
	assert_true(hops > 8 * (1 + 2 + 3 + 4 + 3 + 2 + 1));
	rig_end(&rig);
}

static void test_a_new_beginning_forgets_dependencies(void **state)
{
	struct rig rig;

	(void)state;
	make_ring(&rig.graph, 8, 1);
	rig_start(&rig);
	for (uint32_t target = 0; target < 8; target++) {
		assert_int_equal(cdg_search_begin(&rig.search), 0);
		run(&rig, target);
		assert_true(rig.search.hops[(target + 1) % 8] == 1);
		assert_true(rig.search.hops[(target + 7) % 8] == 1);
	}
	rig_end(&rig);
}

static void test_the_lighter_of_two_paths_is_taken(void **state)
{
	struct rig rig;

	(void)state;
	make_ring(&rig.graph, 4, 1);
	rig_start(&rig);
	rig.weight[2][1] = 5;
	run(&rig, 0);
	assert_int_equal(rig.search.ports[2], 2);
	assert_int_equal(cdg_search_begin(&rig.search), 0);
	rig.weight[2][1] = 0;
	rig.weight[1][2] = 5;
	run(&rig, 0);
	assert_int_equal(rig.search.ports[2], 1);
	rig_end(&rig);
}

/* The queue has each switch behind the one it sends to, and passing counts all switches behind. */
static void test_passing_adapters_are_counted(void **state)
{
	struct rig rig;

	(void)state;
	make_star_of_switches(&rig.graph, 5);
	rig_start(&rig);
	run(&rig, 1);
	assert_int_equal(rig.search.queue[0], 1);
	assert_int_equal(rig.search.queue[1], 0);
	assert_int_equal(rig.search.passing[0], 4);
	assert_int_equal(rig.search.passing[3], 1);
	cdg_search_run_unchecked(&rig.search, 0);
	assert_int_equal(rig.search.queue_count, 6);
	assert_int_equal(rig.search.hops[5], 1);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_target_is_reached_by_the_shortest_paths),
		cmocka_unit_test(test_a_cycle_is_avoided_by_a_longer_path),
		cmocka_unit_test(test_a_new_beginning_forgets_dependencies),
		cmocka_unit_test(test_the_lighter_of_two_paths_is_taken),
		cmocka_unit_test(test_passing_adapters_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
