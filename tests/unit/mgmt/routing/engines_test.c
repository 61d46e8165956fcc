/* SPDX-License-Identifier: Apache-2.0 */
/* Every engine keeps its promise on random graphs and trees with failures, or refuses the graph
 * (management 3.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "mgmt/routing/engines.h"
#include "support/routing_graphs.h"

static void test_engines_are_found_by_name(void **state)
{
	(void)state;
	assert_string_equal(routing_engine_find(NULL)->name, "minhop");
	assert_string_equal(routing_engine_find("updn")->name, "updn");
	assert_null(routing_engine_find("upside"));
}

/* With OpenSM's names (management 3.8). */
static void test_there_is_every_engine_of_opensm(void **state)
{
	static const char *const names[] = {"minhop", "updn", "dnup", "file",
					    "ftree",  "lash", "dor",  "torus-2QoS",
					    "dfsssp", "sssp", "nue"};

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(routing_engine_find(names[i]));
}

static void try_engine(const struct routing_engine *engine, struct routing_graph *graph)
{
	const struct routing_hints hints = {.lane_count = 8};
	struct routing_verdict verdict;
	int error = engine->route(graph, &hints);

	if (error) {
		assert_int_equal(error, -EOPNOTSUPP);
		return;
	}
	expect_all_adapters_connected(graph);
	assert_int_equal(routing_check(graph, &verdict), 0);
	assert_int_not_equal(verdict.fault, ROUTING_LOOP);
	if (engine->promises_no_credit_loops)
		expect_no_credit_loops(graph);
}

static void try_copy(const struct routing_engine *engine, const struct routing_graph *graph,
		     uint32_t without_switch, unsigned lmc)
{
	struct routing_graph copy;

	make_copy(&copy, graph, without_switch, lmc);
	try_engine(engine, &copy);
	routing_graph_release(&copy);
}

static void try_all(void (*make)(struct routing_graph *graph, struct random *random))
{
	for (const struct routing_engine *engine = routing_engines; engine->name; engine++) {
		for (uint64_t seed = 1; seed <= 40; seed++) {
			struct random random = random_seeded(seed);
			struct routing_graph graph;

			make(&graph, &random);
			try_engine(engine, &graph);
			/* Present tables must not lead it to bad routes. */
			for (unsigned cut = 0; cut < 3 && cut_any_link(&graph, &random); cut++)
				try_engine(engine, &graph);
			/* Nor must a missing switch, or several LIDs for each adapter. */
			try_copy(engine, &graph,
				 (uint32_t)random_below(&random, graph.switch_count),
				 (unsigned)seed % 3);
			routing_graph_release(&graph);
		}
	}
}

static void make_any_graph(struct routing_graph *graph, struct random *random)
{
	make_random_graph(graph, random, 3 + (uint32_t)random_below(random, 25),
			  (uint32_t)random_below(random, 40));
}

static void make_any_tree(struct routing_graph *graph, struct random *random)
{
	make_fat_tree(graph, random_below(random, 2) ? 4 : 6);
}

static void make_any_grid(struct routing_graph *graph, struct random *random)
{
	const uint32_t sizes[] = {2 + (uint32_t)random_below(random, 4),
				  2 + (uint32_t)random_below(random, 4),
				  1 + (uint32_t)random_below(random, 3)};

	make_grid(graph, 3, sizes, random_below(random, 2));
}

static void test_promises_hold_on_random_graphs(void **state)
{
	(void)state;
	try_all(make_any_graph);
}

static void test_promises_hold_on_trees_with_failures(void **state)
{
	(void)state;
	try_all(make_any_tree);
}

static void test_promises_hold_on_grids_with_failures(void **state)
{
	(void)state;
	try_all(make_any_grid);
}

/* Engines for any graph must not refuse one. */
static void test_engines_for_any_graph_refuse_none(void **state)
{
	const struct routing_hints hints = {.lane_count = 8};

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct random random = random_seeded(seed);
		struct routing_graph graph;

		make_any_graph(&graph, &random);
		assert_int_equal(routing_engine_find("updn")->route(&graph, &hints), 0);
		assert_int_equal(routing_engine_find("lash")->route(&graph, &hints), 0);
		assert_int_equal(routing_engine_find("sssp")->route(&graph, &hints), 0);
		assert_int_equal(routing_engine_find("dfsssp")->route(&graph, &hints), 0);
		assert_int_equal(routing_engine_find("nue")->route(&graph, &hints), 0);
		assert_int_equal(routing_engine_find("random")->route(&graph, &hints), 0);
		routing_graph_release(&graph);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engines_are_found_by_name),
		cmocka_unit_test(test_there_is_every_engine_of_opensm),
		cmocka_unit_test(test_promises_hold_on_random_graphs),
		cmocka_unit_test(test_promises_hold_on_trees_with_failures),
		cmocka_unit_test(test_promises_hold_on_grids_with_failures),
		cmocka_unit_test(test_engines_for_any_graph_refuse_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
