/* SPDX-License-Identifier: Apache-2.0 */
/* Choice among equally good ports: even load, stable, and different ports for the LIDs of one end
 * port (management 3.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/routing/minhop.h"
#include "mgmt/routing/port_balance.h"
#include "support/routing_graphs.h"

/* Two switches with four links; one adapter port with four LIDs at the second. */
static void test_the_lids_of_one_port_go_different_ways(void **state)
{
	struct routing_graph graph;
	unsigned used = 0;

	(void)state;
	assert_int_equal(routing_graph_init(&graph, 2, 4, 4), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(routing_graph_set_ports(&graph, i, 8), 0);
	for (uint8_t port = 1; port <= 4; port++)
		routing_graph_link(&graph, 0, port, 1, port);
	for (uint32_t i = 0; i < 4; i++)
		graph.destinations[i] = (struct routing_destination){.lid = (uint16_t)(i + 1),
								     .switch_index = 1,
								     .port_number = 5,
								     .path_index = (uint8_t)i,
								     .port_guid = 9};
	/* The present table has one port for all. */
	for (unsigned lid = 1; lid <= 4; lid++)
		graph.switches[0].table[lid] = 2;
	assert_int_equal(minhop_route(&graph), 0);
	for (unsigned lid = 1; lid <= 4; lid++)
		used |= 1u << graph.switches[0].table[lid];
	assert_int_equal(used, 0x1e);
	routing_graph_release(&graph);
}

static void test_without_candidates_there_is_no_route(void **state)
{
	const struct port_candidates none = {0};
	const uint32_t destinations[] = {2};
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 2, 1);
	graph.switches[0].table[3] = 1;
	port_balance_assign(&graph, 0, false, &none, destinations, 1);
	assert_int_equal(graph.switches[0].table[3], ROUTING_NO_PORT);
	routing_graph_release(&graph);
}

/* One of three entries uses a port that is no candidate any more: the others stay, with their load.
 */
static void test_mending_moves_only_what_must(void **state)
{
	const struct port_candidates candidates = {.count = 3, .ports = {1, 2, 3}};
	const uint32_t destinations[] = {0, 1, 2};
	struct routing_graph graph;
	struct routing_switch *node;

	(void)state;
	assert_int_equal(routing_graph_init(&graph, 2, 3, 3), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(routing_graph_set_ports(&graph, i, 8), 0);
	for (uint32_t i = 0; i < 3; i++)
		graph.destinations[i] =
			(struct routing_destination){.lid = (uint16_t)(i + 1),
						     .switch_index = 1,
						     .port_number = (uint8_t)(i + 1),
						     .port_guid = 9 + i};
	node = &graph.switches[0];
	node->table[1] = 1;
	node->table[2] = 1;
	node->table[3] = 7;
	port_balance_recount(&graph);
	assert_int_equal(node->load[1], 2);
	port_balance_mend(&graph, 0, false, &candidates, destinations, 3);
	assert_int_equal(node->table[1], 1);
	assert_int_equal(node->table[2], 1);
	assert_int_equal(node->table[3], 2);
	assert_int_equal(node->load[1], 2);
	assert_int_equal(node->load[2], 1);
	assert_int_equal(node->load[7], 0);
	assert_int_equal(node->moved_blocks[0], 1);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_lids_of_one_port_go_different_ways),
		cmocka_unit_test(test_without_candidates_there_is_no_route),
		cmocka_unit_test(test_mending_moves_only_what_must),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
