/* SPDX-License-Identifier: Apache-2.0 */
/* Up/down: no cycle on a ring, one root if several do not fit, roots from the hints (management
 * 3.8, 3.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "mgmt/routing/updown.h"
#include "support/routing_graphs.h"

static const struct routing_hints no_hints;

static void test_a_ring_has_no_circle(void **state)
{
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 6, 1);
	assert_int_equal(updown_route(&graph, &no_hints), 0);
	expect_all_adapters_connected(&graph);
	expect_no_credit_loops(&graph);
	assert_int_equal(downup_route(&graph, &no_hints), 0);
	expect_all_adapters_connected(&graph);
	expect_no_credit_loops(&graph);
	routing_graph_release(&graph);
}

static void test_a_tree_is_routed_by_the_shortest_way(void **state)
{
	struct routing_graph graph;

	(void)state;
	make_fat_tree(&graph, 4);
	assert_int_equal(updown_route(&graph, &no_hints), 0);
	for (uint32_t a = 0; a < 8; a++)
		for (uint32_t b = 0; b < 8; b++)
			assert_int_equal(path_hops(&graph, a, (uint16_t)(b + 1)), a == b ? 0
										  : a / 2 == b / 2
											  ? 2
											  : 4);
	routing_graph_release(&graph);
}

/* With the root opposite, neighbors at the bottom use the one link between them. */
static void test_the_root_decides_which_link_is_avoided(void **state)
{
	const uint64_t roots[] = {0x1000};
	const struct routing_hints hints = {.root_guids = roots, .root_count = 1};
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 5, 1);
	assert_int_equal(updown_route(&graph, &hints), 0);
	/* 1 and 4 are below 0; between 2 and 3 the lower GUID is up. 1 to 3 goes down by 2 only if
	 * 2 to 3 is down: it is. */
	assert_int_equal(path_hops(&graph, 1, 4), 2);
	/* 3 to 1 would go up to 2 and up to 1. */
	assert_int_equal(path_hops(&graph, 3, 2), 2);
	/* 4 to 2: down to 3 and up to 2 is not allowed, over 0 it is. */
	assert_int_equal(path_hops(&graph, 4, 3), 3);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_ring_has_no_circle),
		cmocka_unit_test(test_a_tree_is_routed_by_the_shortest_way),
		cmocka_unit_test(test_the_root_decides_which_link_is_avoided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
