/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a node: what is written, what is kept, what is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "mgmt/agents/node_log.h"

static struct node_log_header header;
static struct node_log_entry entries[NODE_LOG_ENTRIES_PER_MAD];

static void add(uint16_t code)
{
	const struct node_log_entry entry = {.event = NODE_EVENT_SET, .code = code};

	node_log_add(&fixture.memory, &fixture.adapter, fixture.now++, &entry);
}

static void read_from(uint32_t from)
{
	node_log_read(&fixture.memory, &fixture.adapter, from, &header, entries);
}

static void test_a_quiet_node_has_no_log(void **state)
{
	(void)state;
	read_from(0);
	assert_int_equal(header.entry_count, 0);
	assert_int_equal(header.next, 0);
	assert_int_equal(fixture.memory.node_logs.count, 0);
	/* Agents without memory write nothing. */
	node_log_add(NULL, &fixture.adapter, 0, &(struct node_log_entry){.event = 1});
	node_log_read(NULL, &fixture.adapter, 5, &header, entries);
	assert_int_equal(header.entry_count, 0);
}

static void test_entries_are_read_in_pages(void **state)
{
	(void)state;
	for (uint16_t code = 0; code < 20; code++)
		add(code);
	read_from(0);
	assert_int_equal(header.oldest, 0);
	assert_int_equal(header.next, 20);
	assert_int_equal(header.first, 0);
	assert_int_equal(header.entry_count, 8);
	assert_int_equal(entries[7].code, 7);
	read_from(16);
	assert_int_equal(header.first, 16);
	assert_int_equal(header.entry_count, 4);
	assert_int_equal(entries[3].code, 19);
	assert_int_equal(entries[3].time_ns, 19);
	read_from(20);
	assert_int_equal(header.first, 20);
	assert_int_equal(header.entry_count, 0);
}

static void test_the_oldest_go_when_the_log_is_full(void **state)
{
	(void)state;
	for (uint16_t code = 0; code < 1000; code++)
		add(code);
	read_from(0);
	assert_int_equal(header.next, 1000);
	assert_int_equal(header.oldest, 1000 - NODE_LOG_ENTRIES_MAX);
	assert_int_equal(header.first, header.oldest);
	assert_int_equal(entries[0].code, header.oldest);
	/* A number that the log never had, as after a restart. */
	read_from(5000);
	assert_int_equal(header.first, header.oldest);
	read_from(0xffffffff);
	assert_int_equal(header.first, header.oldest);
}

static void test_equal_events_in_a_row_are_one(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		node_log_key_violation(&fixture.memory, &fixture.adapter.ports[1], fixture.now + i,
				       NODE_KEY_Q, 7);
	node_log_key_violation(&fixture.memory, &fixture.adapter.ports[1], 0, NODE_KEY_Q, 8);
	read_from(0);
	assert_int_equal(header.entry_count, 2);
	assert_int_equal(entries[0].count, 100000);
	assert_int_equal(entries[0].time_ns, 99999);
	assert_int_equal(entries[0].event, NODE_EVENT_KEY_VIOLATION);
	assert_int_equal(entries[0].subject, 7);
	assert_int_equal(entries[1].subject, 8);
}

static void test_agents_write_what_happens(void **state)
{
	const struct agent_violation violation = {.slid = 9, .key = 0x8001};
	struct port *port = &fixture.adapter.ports[1];
	struct port_info info;

	(void)state;
	port->info.port_state = PORT_INIT;
	info = fixture_unchanged_port_info(&fixture.adapter, 1);
	info.lid = 5;
	info.port_state = 0;
	assert_int_equal(fixture_set_port_info(&fixture.adapter, 1, &info), MAD_STATUS_OK);
	/* The same again changes nothing. */
	assert_int_equal(fixture_set_port_info(&fixture.adapter, 1, &info), MAD_STATUS_OK);
	info.port_state = PORT_ARMED;
	assert_int_equal(fixture_set_port_info(&fixture.adapter, 1, &info), MAD_STATUS_OK);
	agent_pkey_violation(&fixture.memory, port, 3, &violation);
	read_from(0);
	assert_int_equal(header.entry_count, 3);
	assert_int_equal(entries[0].event, NODE_EVENT_SET);
	assert_int_equal(entries[0].code, ATTRIBUTE_PORT_INFO);
	assert_int_equal(entries[0].count, 1);
	assert_int_equal(entries[1].event, NODE_EVENT_PORT_STATE);
	assert_int_equal(entries[1].code, PORT_ARMED);
	assert_int_equal(entries[2].event, NODE_EVENT_KEY_VIOLATION);
	assert_int_equal(entries[2].code, NODE_KEY_P);
	assert_int_equal(entries[2].subject, 9);
}

static void test_each_node_has_its_own_log(void **state)
{
	(void)state;
	add(1);
	node_log_port_state(&fixture.memory, &fixture.hub.ports[3], 4);
	node_log_read(&fixture.memory, &fixture.hub, 0, &header, entries);
	assert_int_equal(header.entry_count, 1);
	assert_int_equal(entries[0].port_number, 3);
	agent_memory_forget(&fixture.memory, &fixture.hub);
	node_log_read(&fixture.memory, &fixture.hub, 0, &header, entries);
	assert_int_equal(header.entry_count, 0);
	read_from(0);
	assert_int_equal(header.entry_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_a_quiet_node_has_no_log),
		TEST(test_entries_are_read_in_pages),
		TEST(test_the_oldest_go_when_the_log_is_full),
		TEST(test_equal_events_in_a_row_are_one),
		TEST(test_agents_write_what_happens),
		TEST(test_each_node_has_its_own_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
