/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, ports and links from the SA's tables, sound and unsound ones (management 4.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/perf/perf_nodes.h"
#include "wire/rate.h"
#include "wire/sa_records.h"
#include "wire/subnet_attributes.h"

enum { NODE_STRIDE = 112, PORT_STRIDE = 72, LINK_STRIDE = 8, ROWS_MAX = 16 };

static uint8_t node_bytes[ROWS_MAX * NODE_STRIDE], port_bytes[ROWS_MAX * PORT_STRIDE],
	link_bytes[ROWS_MAX * LINK_STRIDE];
static struct perf_table node_table, port_table, link_table;
static struct perf_nodes nodes;

static int set_up(void **state)
{
	(void)state;
	memset(node_bytes, 0, sizeof(node_bytes));
	memset(port_bytes, 0, sizeof(port_bytes));
	memset(link_bytes, 0, sizeof(link_bytes));
	node_table = (struct perf_table){node_bytes, 0, NODE_STRIDE};
	port_table = (struct perf_table){port_bytes, 0, PORT_STRIDE};
	link_table = (struct perf_table){link_bytes, 0, LINK_STRIDE};
	nodes = (struct perf_nodes){0};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	perf_nodes_release(&nodes);
	return 0;
}

static void add_node(uint16_t lid, enum node_type type, uint64_t guid, uint8_t port_count,
		     const char *description)
{
	uint8_t *record = node_bytes + node_table.record_count++ * NODE_STRIDE;
	const struct record_lid id = {.lid = lid};
	const struct node_info info = {.node_type = (uint8_t)type,
				       .port_count = port_count,
				       .node_guid = guid,
				       .port_guid = guid + lid};

	record_lid_encode(&id, record);
	node_info_encode(&info, record + NODE_RECORD_INFO_OFFSET);
	memcpy(record + NODE_RECORD_DESCRIPTION_OFFSET, description, strlen(description));
}

static void add_port(uint16_t lid, uint8_t number)
{
	uint8_t *record = port_bytes + port_table.record_count++ * PORT_STRIDE;
	const struct port_record_id id = {.lid = lid, .port_number = number};
	const struct port_info info = {.port_state = 4,
				       .link_width_active = LINK_WIDTH_4X,
				       .link_speed_active = LINK_SPEED_QDR};

	port_record_id_encode(&id, record);
	port_info_encode(&info, record + PORT_INFO_RECORD_INFO_OFFSET);
}

static void add_link(uint16_t from, uint8_t from_port, uint16_t to, uint8_t to_port)
{
	const struct link_record link = {
		.from_lid = from, .from_port = from_port, .to_lid = to, .to_port = to_port};

	link_record_encode(&link, link_bytes + link_table.record_count++ * LINK_STRIDE);
}

static int build(void)
{
	return perf_nodes_build(&nodes, &node_table, &port_table, &link_table);
}

static void make_small_subnet(void)
{
	add_node(1, NODE_CA, 0x100, 1, "h1 softib0");
	add_node(2, NODE_CA, 0x200, 2, "h1 softib1");
	add_node(3, NODE_CA, 0x200, 2, "h1 softib1"); /* its second port */
	add_node(9, NODE_SWITCH, 0x900, 130, "switch-1");
	add_port(9, 129);
	add_port(9, 0);
	add_port(9, 1);
	add_port(9, 64);
	add_port(1, 1);
	add_port(2, 1);
	add_port(3, 2);
	add_link(1, 1, 9, 1);
	add_link(9, 1, 1, 1);
	add_link(9, 129, 3, 2);
}

static void test_ports_are_grouped_by_node_and_sorted(void **state)
{
	char name[PERF_PORT_NAME_BYTES];

	(void)state;
	make_small_subnet();
	assert_int_equal(build(), 0);
	assert_int_equal(nodes.node_count, 3);
	assert_int_equal(nodes.port_count, 6); /* without port 0 of the switch */

	const struct perf_node *hub = &nodes.nodes[2];

	assert_int_equal(hub->port_count, 3);
	assert_int_equal(nodes.ports[hub->first_port].number, 1);
	assert_int_equal(nodes.ports[hub->first_port + 1].number, 64);
	assert_int_equal(nodes.ports[hub->first_port + 2].number, 129);
	assert_ptr_equal(nodes.ports[hub->first_port].peer, &nodes.ports[0]);
	assert_ptr_equal(nodes.ports[0].peer, &nodes.ports[hub->first_port]);
	assert_null(nodes.ports[hub->first_port + 1].peer);
	assert_int_equal(nodes.ports[hub->first_port + 2].peer->lid, 3);
	assert_int_equal(nodes.ports[0].rate_mbps, 32000);
	perf_port_name(&nodes.ports[hub->first_port + 2], name);
	assert_string_equal(name, "switch-1:129");
}

static void test_adapters_go_by_their_hosts_name(void **state)
{
	(void)state;
	make_small_subnet();
	add_node(20, NODE_CA, 0x2000, 1, "MT23108 InfiniHost 2");
	add_node(21, NODE_CA, 0x2100, 1, "");
	add_node(22, NODE_CA, 0x2200, 1, "a \"b\\\n\xff");
	assert_int_equal(build(), 0);
	assert_string_equal(nodes.nodes[0].name, "h1");
	assert_string_equal(nodes.nodes[1].name, "h1/1");
	assert_string_equal(nodes.nodes[3].name, "MT23108 InfiniHost 2");
	assert_string_equal(nodes.nodes[4].name, "0x0000000000002100");
	assert_string_equal(nodes.nodes[5].name, "a \"b\\??");
}

static void test_records_that_name_nothing_are_left_out(void **state)
{
	(void)state;
	add_node(1, NODE_CA, 0x100, 1, "h1 softib0");
	add_node(1, NODE_CA, 0x777, 1, "the same LID");
	add_node(0, NODE_CA, 0x778, 1, "no LID");
	add_node(0xffff, NODE_CA, 0x779, 1, "not a unicast LID");
	add_port(1, 1);
	add_port(1, 1); /* twice */
	add_port(1, 2); /* the node has one port */
	add_port(1, 255);
	add_port(5, 1); /* nobody's LID */
	add_port(0xfffe, 1);
	add_link(1, 1, 1, 2);
	add_link(5, 1, 1, 1);
	add_link(1, 1, 0xffff, 255);
	assert_int_equal(build(), 0);
	assert_int_equal(nodes.node_count, 1);
	assert_int_equal(nodes.port_count, 1);
	assert_null(nodes.ports[0].peer);
}

static void test_short_records_are_refused(void **state)
{
	(void)state;
	make_small_subnet();
	node_table.record_bytes = NODE_RECORD_BYTES - 1;
	assert_int_equal(build(), -EPROTO);
	node_table.record_bytes = NODE_STRIDE;
	link_table.record_bytes = 0;
	assert_int_equal(build(), -EPROTO);
	link_table.record_bytes = LINK_STRIDE;
	port_table.bytes = NULL;
	assert_int_equal(build(), -EPROTO);
}

static void test_empty_tables_give_no_ports(void **state)
{
	(void)state;
	assert_int_equal(build(), 0);
	assert_int_equal(nodes.port_count, 0);
	assert_null(perf_nodes_find(&nodes, 0x100, 1));
	assert_int_equal(perf_nodes_lid_of(&nodes, 0x101), 0);
}

static void test_histories_survive_new_tables(void **state)
{
	struct perf_nodes before;

	(void)state;
	make_small_subnet();
	assert_int_equal(build(), 0);
	nodes.ports[0].history.reading_count = 17;
	nodes.nodes[0].agent = PERF_AGENT_KNOWN;
	nodes.nodes[1].agent = PERF_AGENT_ABSENT;
	before = nodes;
	/* The switch has gone, and h1 has another LID. */
	set_up(NULL);
	add_node(2, NODE_CA, 0x200, 2, "h1 softib1");
	add_node(7, NODE_CA, 0x100, 1, "h1 softib0");
	add_port(2, 1);
	add_port(7, 1);
	assert_int_equal(build(), 0);
	perf_nodes_adopt(&nodes, &before);
	perf_nodes_release(&before);
	assert_int_equal(perf_nodes_find(&nodes, 0x100, 1)->history.reading_count, 17);
	assert_int_equal(perf_nodes_find(&nodes, 0x200, 1)->history.reading_count, 0);
	assert_int_equal(nodes.nodes[1].agent, PERF_AGENT_KNOWN);
	assert_int_equal(nodes.nodes[0].agent, PERF_AGENT_UNKNOWN);
	assert_int_equal(perf_nodes_lid_of(&nodes, 0x107), 7);
	assert_null(perf_nodes_find(&nodes, 0x100, 2));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_ports_are_grouped_by_node_and_sorted),
		TEST(test_adapters_go_by_their_hosts_name),
		TEST(test_records_that_name_nothing_are_left_out),
		TEST(test_short_records_are_refused),
		TEST(test_empty_tables_give_no_ports),
		TEST(test_histories_survive_new_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
