/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the softib tool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "daemon/packets/port_updates.h"
#include "net/node/node.h"
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;
static int tool;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("ring:3");
	tool = fixture_connect();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(tool);
	fixture_stop();
	return 0;
}

static void test_hosts_lists_every_port(void **state)
{
	json_t *answer = fixture_ask(tool, "{\"command\":\"hosts\"}");
	const json_t *ports = json_object_get(answer, "ports");
	const json_t *row = json_array_get(ports, 2);

	(void)state;
	assert_int_equal(json_array_size(ports), 3);
	assert_string_equal(json_string_value(json_object_get(row, "host")), "h3");
	assert_string_equal(json_string_value(json_object_get(row, "state")), "Active");
	assert_string_equal(json_string_value(json_object_get(row, "address")), "127.100.0.3");
	assert_int_equal(json_integer_value(json_object_get(row, "lid")),
			 fixture_port("h3")->info.lid);
	assert_null(json_object_get(answer, "next"));
	json_decref(answer);
	answer = fixture_ask(tool, "{\"command\":\"hosts\",\"from\":2}");
	assert_int_equal(json_array_size(json_object_get(answer, "ports")), 1);
	json_decref(answer);
}

static void test_a_link_goes_down_and_comes_back(void **state)
{
	json_t *answer;

	(void)state;
	fixture_order(tool, "{\"command\":\"link\",\"node\":\"h2\",\"up\":false}");
	assert_int_equal(fixture_port("h2")->info.port_state, PORT_DOWN);
	fixture_order(tool, "{\"command\":\"link\",\"node\":\"h2\",\"port\":1,\"up\":true}");
	fixture_order(tool, "{\"command\":\"wait-active\",\"timeout_ms\":20000}");
	assert_int_equal(fixture_port("h2")->info.port_state, PORT_ACTIVE);
	answer = fixture_ask(tool, "{\"command\":\"link\",\"node\":\"h9\",\"up\":true}");
	assert_true(json_is_false(json_object_get(answer, "ok")));
	json_decref(answer);
	answer = fixture_ask(tool, "{\"command\":\"link\",\"node\":\"h1\",\"port\":9,\"up\":true}");
	assert_true(json_is_false(json_object_get(answer, "ok")));
	json_decref(answer);
}

static void test_nodes_are_found_by_guid_and_by_description(void **state)
{
	const struct node *node = fixture_port("h1")->peer->node;
	char guid[32];

	(void)state;
	snprintf(guid, sizeof(guid), "0x%016lx", (unsigned long)node->info.node_guid);
	fixture_order(tool, "{\"command\":\"link\",\"node\":\"%s\",\"port\":%u,\"up\":true}", guid,
		      fixture_port("h1")->peer->number);
	fixture_order(tool, "{\"command\":\"link\",\"node\":\"%s\",\"up\":true}",
		      node->description);
	fixture_order(tool, "{\"command\":\"link\",\"node\":\"%s\",\"up\":true}", node->name);
}

static void test_waiting_ends_when_time_is_up(void **state)
{
	json_t *answer;

	(void)state;
	/* A port that no sweep makes Active within the wait. */
	fixture_port("h3")->info.port_state = PORT_ARMED;
	answer = fixture_ask(tool, "{\"command\":\"wait-active\",\"timeout_ms\":0}");
	assert_true(json_is_false(json_object_get(answer, "ok")));
	assert_non_null(strstr(json_string_value(json_object_get(answer, "error")), "1 ports"));
	json_decref(answer);
	fixture_port("h3")->info.port_state = PORT_ACTIVE;
	fixture_order(tool, "{\"command\":\"wait-active\",\"timeout_ms\":0}");
}

static void test_down_ends_softibd(void **state)
{
	(void)state;
	fixture_order(tool, "{\"command\":\"down\"}");
	assert_true(softibd->is_ending);
	softibd->is_ending = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts_lists_every_port),
		cmocka_unit_test(test_a_link_goes_down_and_comes_back),
		cmocka_unit_test(test_nodes_are_found_by_guid_and_by_description),
		cmocka_unit_test(test_waiting_ends_when_time_is_up),
		cmocka_unit_test(test_down_ends_softibd),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
