/* SPDX-License-Identifier: Apache-2.0 */
/* Port numbers at the ends of links: of grids, and of a switch that is connected differently. */
#include "mgmt/routing/opposite_ports.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/routing_graphs.h"

static void test_each_dimension_of_a_grid_is_a_pair_of_ports(void **state)
{
	const uint32_t sizes[] = {4, 3};
	uint8_t opposite[OPPOSITE_PORTS_COUNT];
	struct routing_graph graph;

	(void)state;
	make_grid(&graph, 2, sizes, true);
	assert_int_equal(opposite_ports_find(&graph, opposite), 0);
	for (unsigned port = 1; port <= 4; port++)
		assert_int_equal(opposite[port], port % 2 ? port + 1 : port - 1);
	for (unsigned port = 5; port < OPPOSITE_PORTS_COUNT; port++)
		assert_int_equal(opposite[port], 0);
	routing_graph_release(&graph);
}

static void test_switches_that_are_cabled_differently_are_refused(void **state)
{
	const uint32_t sizes[] = {4, 3};
	uint8_t opposite[OPPOSITE_PORTS_COUNT];
	struct routing_graph graph;

	(void)state;
	make_grid(&graph, 2, sizes, true);
	graph.switches[5].neighbor_ports[1] = 3;
	assert_int_equal(opposite_ports_find(&graph, opposite), -EOPNOTSUPP);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_dimension_of_a_grid_is_a_pair_of_ports),
		cmocka_unit_test(test_switches_that_are_cabled_differently_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
