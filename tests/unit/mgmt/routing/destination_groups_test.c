/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations by switch, in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/routing/destination_groups.h"
#include "support/routing_graphs.h"

static void test_groups_hold_every_destination_once_in_order(void **state)
{
	struct random random = random_seeded(7);
	struct destination_groups groups;
	struct routing_graph graph;
	uint32_t total = 0;

	(void)state;
	make_random_graph(&graph, &random, 20, 10);
	assert_int_equal(destination_groups_init(&groups, &graph), 0);
	for (uint32_t i = 0; i < graph.switch_count; i++) {
		bool has_adapters = false;

		for (uint32_t place = groups.first_of[i]; place < groups.first_of[i + 1]; place++) {
			uint32_t index = groups.destinations[place];

			assert_int_equal(graph.destinations[index].switch_index, i);
			assert_true(place == groups.first_of[i] ||
				    index > groups.destinations[place - 1]);
			has_adapters |= graph.destinations[index].port_number != 0;
			total++;
		}
		assert_int_equal(groups.has_adapters[i], has_adapters);
	}
	assert_int_equal(total, graph.destination_count);
	destination_groups_release(&groups);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups_hold_every_destination_once_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
