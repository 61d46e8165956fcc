/* SPDX-License-Identifier: Apache-2.0 */
/* Entries are restored if their whole saved path exists again, and only then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/routing/saved_routes.h"

enum { LEFT, MIDDLE, RIGHT, DETOUR, SWITCHES, HOST_LID = 5, LIDS };

static struct routing_graph graph;

/*
 *	LEFT 1 - 1 MIDDLE 2 - 1 RIGHT 3 - host
 *	LEFT 2 - 1 DETOUR 2 - 2 RIGHT
 * The host's LID goes by the middle.
 */
static int setup(void **state)
{
	(void)state;
	assert_int_equal(routing_graph_init(&graph, SWITCHES, 1, LIDS - 1), 0);
	for (uint32_t i = 0; i < SWITCHES; i++)
		assert_int_equal(routing_graph_set_ports(&graph, i, 3), 0);
	routing_graph_link(&graph, LEFT, 1, MIDDLE, 1);
	routing_graph_link(&graph, MIDDLE, 2, RIGHT, 1);
	routing_graph_link(&graph, LEFT, 2, DETOUR, 1);
	routing_graph_link(&graph, DETOUR, 2, RIGHT, 2);
	graph.destinations[0] = (struct routing_destination){
		.lid = HOST_LID, .switch_index = RIGHT, .port_number = 3, .port_guid = 1};
	graph.switches[LEFT].table[HOST_LID] = 1;
	graph.switches[MIDDLE].table[HOST_LID] = 2;
	graph.switches[DETOUR].table[HOST_LID] = 2;
	graph.switches[RIGHT].table[HOST_LID] = 3;
	assert_int_equal(saved_routes_save(&graph), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	routing_graph_release(&graph);
	return 0;
}

static void cut(uint32_t index, uint8_t port)
{
	uint32_t neighbor = graph.switches[index].neighbors[port];

	graph.switches[neighbor].neighbors[graph.switches[index].neighbor_ports[port]] =
		ROUTING_NO_SWITCH;
	graph.switches[index].neighbors[port] = ROUTING_NO_SWITCH;
}

static void test_restored_entry_takes_its_load_and_mark(void **state)
{
	bool is_mixed[1] = {true};

	(void)state;
	graph.switches[LEFT].table[HOST_LID] = 2;
	graph.switches[LEFT].load[2] = 1;
	saved_routes_restore(&graph, is_mixed);
	assert_false(is_mixed[0]);
	assert_int_equal(graph.switches[LEFT].table[HOST_LID], 1);
	assert_int_equal(graph.switches[LEFT].load[1], 1);
	assert_int_equal(graph.switches[LEFT].load[2], 0);
	assert_int_equal(graph.switches[LEFT].moved_blocks[0], 1);
	assert_int_equal(graph.switches[DETOUR].moved_blocks[0], 0);
}

/* The missing link is further on: the entry's own port exists but does not help. */
static void test_entry_stays_while_a_link_on_its_way_is_missing(void **state)
{
	bool is_mixed[1] = {false};

	(void)state;
	cut(MIDDLE, 2);
	graph.switches[LEFT].table[HOST_LID] = 2;
	saved_routes_restore(&graph, is_mixed);
	assert_true(is_mixed[0]);
	assert_int_equal(graph.switches[LEFT].table[HOST_LID], 2);
}

/* A cable that was plugged in elsewhere is another link. */
static void test_entry_stays_if_its_port_leads_elsewhere_now(void **state)
{
	bool is_mixed[1] = {false};

	(void)state;
	cut(LEFT, 1);
	routing_graph_link(&graph, LEFT, 1, MIDDLE, 3);
	graph.switches[LEFT].table[HOST_LID] = 2;
	saved_routes_restore(&graph, is_mixed);
	assert_true(is_mixed[0]);
	assert_int_equal(graph.switches[LEFT].table[HOST_LID], 2);
}

/* The entry at the host's own switch tells whether the host is present. */
static void test_last_hop_is_left_alone(void **state)
{
	bool is_mixed[1] = {false};

	(void)state;
	graph.switches[RIGHT].table[HOST_LID] = ROUTING_NO_PORT;
	saved_routes_restore(&graph, is_mixed);
	assert_false(is_mixed[0]);
	assert_int_equal(graph.switches[RIGHT].table[HOST_LID], ROUTING_NO_PORT);
}

static void test_links_are_known_by_both_their_ports(void **state)
{
	const struct routing_link links[] = {
		{.a = LEFT, .a_port = 1, .b = MIDDLE, .b_port = 1},
		{.a = RIGHT, .a_port = 2, .b = DETOUR, .b_port = 2},
		{.a = LEFT, .a_port = 1, .b = MIDDLE, .b_port = 2},
		{.a = LEFT, .a_port = 3, .b = DETOUR, .b_port = 3},
	};

	(void)state;
	cut(LEFT, 1);
	assert_true(saved_routes_have_links(&graph, links, 2));
	assert_true(saved_routes_have_links(&graph, links, 0));
	assert_false(saved_routes_have_links(&graph, &links[2], 1));
	assert_false(saved_routes_have_links(&graph, links, 4));
}

static void test_kept_routes_are_replaced_and_released(void **state)
{
	bool is_mixed[1];

	(void)state;
	assert_true(saved_routes_exist(&graph));
	graph.switches[LEFT].table[HOST_LID] = 2;
	assert_int_equal(saved_routes_save(&graph), 0);
	saved_routes_restore(&graph, is_mixed);
	assert_int_equal(graph.switches[LEFT].table[HOST_LID], 2);
	routing_graph_drop_saved_routes(&graph);
	assert_false(saved_routes_exist(&graph));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(test_restored_entry_takes_its_load_and_mark),
		TEST(test_entry_stays_while_a_link_on_its_way_is_missing),
		TEST(test_entry_stays_if_its_port_leads_elsewhere_now),
		TEST(test_last_hop_is_left_alone),
		TEST(test_links_are_known_by_both_their_ports),
		TEST(test_kept_routes_are_replaced_and_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
