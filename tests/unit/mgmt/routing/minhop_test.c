/* SPDX-License-Identifier: Apache-2.0 */
/* Min-hop routes: shortest, balanced, stable; random graphs against a plain oracle (management
 * 3.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/random.h"
#include "mgmt/routing/minhop.h"

static struct routing_graph graph;

static void make(uint32_t switch_count, uint32_t destination_count, unsigned port_count)
{
	assert_int_equal(routing_graph_init(&graph, switch_count, destination_count,
					    (uint16_t)destination_count),
			 0);
	for (uint32_t i = 0; i < switch_count; i++)
		assert_int_equal(routing_graph_set_ports(&graph, i, port_count), 0);
}

static void attach(uint32_t index, uint32_t switch_index, uint8_t port_number)
{
	graph.destinations[index] = (struct routing_destination){.lid = (uint16_t)(index + 1),
								 .switch_index = switch_index,
								 .port_number = port_number};
}

static void route(void)
{
	struct routing_verdict verdict;

	assert_int_equal(minhop_route(&graph), 0);
	assert_int_equal(routing_check(&graph, &verdict), 0);
	assert_int_equal(verdict.fault, ROUTING_SOUND);
}

/* Two switches with four links between them (ports 1 to 4), eight adapters on the second. */
static void make_parallel_cables(void)
{
	make(2, 8, 16);
	for (uint8_t port = 1; port <= 4; port++)
		routing_graph_link(&graph, 0, port, 1, port);
	for (uint32_t i = 0; i < 8; i++)
		attach(i, 1, (uint8_t)(5 + i));
}

static void test_parallel_cables_share_the_lids(void **state)
{
	(void)state;
	make_parallel_cables();
	route();
	for (unsigned port = 1; port <= 4; port++)
		assert_int_equal(graph.switches[0].load[port], 2);
	routing_graph_release(&graph);
}

static void test_present_ports_stay_and_a_lost_cable_moves_only_its_own_lids(void **state)
{
	(void)state;
	uint8_t before[9];

	make_parallel_cables();
	route();
	for (unsigned lid = 1; lid <= 8; lid++)
		before[lid] = graph.switches[0].table[lid];
	route();
	for (unsigned lid = 1; lid <= 8; lid++)
		assert_int_equal(graph.switches[0].table[lid], before[lid]);

	graph.switches[0].neighbors[2] = ROUTING_NO_SWITCH;
	graph.switches[1].neighbors[2] = ROUTING_NO_SWITCH;
	route();
	for (unsigned lid = 1; lid <= 8; lid++) {
		assert_int_not_equal(graph.switches[0].table[lid], 2);
		if (before[lid] != 2)
			assert_int_equal(graph.switches[0].table[lid], before[lid]);
	}
	/* When the link returns it gets a share again. */
	routing_graph_link(&graph, 0, 2, 1, 2);
	route();
	assert_true(graph.switches[0].load[2] >= 1);
	routing_graph_release(&graph);
}

static void test_unreachable_lids_get_no_port(void **state)
{
	(void)state;
	make(3, 2, 4);
	routing_graph_link(&graph, 0, 1, 1, 1);
	attach(0, 2, 3);
	attach(1, 1, 0);
	graph.switches[0].table[1] = 1; /* an old route to a port that is gone */
	route();
	assert_int_equal(graph.switches[0].table[1], ROUTING_NO_PORT);
	assert_int_equal(graph.switches[2].table[1], 3);
	assert_int_equal(graph.switches[0].table[2], 1);
	assert_int_equal(graph.switches[1].table[2], 0);
	assert_int_equal(graph.switches[2].table[2], ROUTING_NO_PORT);
	routing_graph_release(&graph);
}

enum { RANDOM_SWITCHES = 12, RANDOM_PORTS = 10 };

/* Distances by the algorithm of Floyd and Warshall. */
static void measure(unsigned distance[RANDOM_SWITCHES][RANDOM_SWITCHES])
{
	for (unsigned i = 0; i < RANDOM_SWITCHES; i++) {
		for (unsigned k = 0; k < RANDOM_SWITCHES; k++)
			distance[i][k] = i == k ? 0 : 1000;
		for (unsigned port = 1; port <= RANDOM_PORTS; port++) {
			if (graph.switches[i].neighbors[port] != ROUTING_NO_SWITCH &&
			    graph.switches[i].neighbors[port] != i)
				distance[i][graph.switches[i].neighbors[port]] = 1;
		}
	}
	for (unsigned via = 0; via < RANDOM_SWITCHES; via++)
		for (unsigned i = 0; i < RANDOM_SWITCHES; i++)
			for (unsigned k = 0; k < RANDOM_SWITCHES; k++)
				if (distance[i][via] + distance[via][k] < distance[i][k])
					distance[i][k] = distance[i][via] + distance[via][k];
}

static unsigned hops(uint32_t from, const struct routing_destination *destination)
{
	unsigned count = 0;

	for (uint32_t here = from; here != destination->switch_index; count++) {
		uint8_t port = graph.switches[here].table[destination->lid];

		if (port == ROUTING_NO_PORT || count > RANDOM_SWITCHES)
			return 1000;
		here = graph.switches[here].neighbors[port];
	}
	return count;
}

static void test_random_graphs_get_shortest_routes_for_every_seed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct random random = random_seeded(seed);
		unsigned distance[RANDOM_SWITCHES][RANDOM_SWITCHES];
		unsigned used[RANDOM_SWITCHES] = {0};

		make(RANDOM_SWITCHES, RANDOM_SWITCHES * 2, RANDOM_PORTS);
		for (unsigned link = 0; link < 16; link++) {
			uint32_t a = (uint32_t)random_below(&random, RANDOM_SWITCHES);
			uint32_t b = (uint32_t)random_below(&random, RANDOM_SWITCHES);

			if (used[a] + 2 <= RANDOM_PORTS - 2 && used[b] + 2 <= RANDOM_PORTS - 2) {
				uint8_t a_port = (uint8_t)++used[a];

				routing_graph_link(&graph, a, a_port, b, (uint8_t)++used[b]);
			}
		}
		for (uint32_t i = 0; i < RANDOM_SWITCHES * 2; i++)
			attach(i, i / 2, i % 2 ? RANDOM_PORTS : 0);
		measure(distance);
		route();
		for (uint32_t i = 0; i < graph.destination_count; i++)
			for (uint32_t from = 0; from < RANDOM_SWITCHES; from++)
				assert_int_equal(
					hops(from, &graph.destinations[i]),
					distance[from][graph.destinations[i].switch_index]);
		routing_graph_release(&graph);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parallel_cables_share_the_lids),
		cmocka_unit_test(test_present_ports_stay_and_a_lost_cable_moves_only_its_own_lids),
		cmocka_unit_test(test_unreachable_lids_get_no_port),
		cmocka_unit_test(test_random_graphs_get_shortest_routes_for_every_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
