/* SPDX-License-Identifier: Apache-2.0 */
/* The response of every general service agent to a bad class, version, method or attribute
 * (management 1.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"

static const struct {
	uint8_t class;
	uint8_t version;
	size_t data_offset;
} served[] = {
	{MAD_CLASS_PERFORMANCE, 1, 64},	  {MAD_CLASS_BASEBOARD, 1, 64},
	{MAD_CLASS_DEVICE, 1, 64},	  {MAD_CLASS_SNMP, 1, 64},
	{MAD_CLASS_COMMUNICATION, 2, 24}, {MAD_CLASS_CONGESTION_CONTROL, 2, 64},
};

/* Asks at the node's first end port. Returns the status of the response; -1: no response. */
static int ask_node(struct node *node, uint8_t class, uint8_t version, uint8_t method,
		    uint16_t attribute)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = class,
		.class_version = version,
		.method = method,
		.transaction_id = 0x55,
		.attribute_id = attribute,
	};
	struct mad_message request = {.address = {.lid = 4, .qpn = 1}};

	mad_header_encode(&header, request.bytes);
	fixture.verdict =
		gsa_receive(&fixture.environment, node, node_management_port(node, 1)->number, 0,
			    &request, &fixture.answer);
	if (fixture.verdict != AGENT_ANSWERED)
		return -1;
	assert_int_equal(get_be64(fixture.answer.bytes + 8), 0x55);
	return get_be16(fixture.answer.bytes + 4);
}

static int ask(uint8_t class, uint8_t version, uint8_t method, uint16_t attribute)
{
	return ask_node(&fixture.adapter, class, version, method, attribute);
}

/* Switches and routers have no queue pairs to connect, and no communication management. */
static void test_every_node_has_an_agent_of_each_served_class(void **state)
{
	struct node *nodes[] = {&fixture.adapter, &fixture.hub, &fixture.router};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(nodes) * ARRAY_COUNT(served); i++) {
		struct node *node = nodes[i / ARRAY_COUNT(served)];
		unsigned row = i % ARRAY_COUNT(served);
		const uint8_t *data = fixture.answer.bytes + served[row].data_offset;
		int status = ask_node(node, served[row].class, served[row].version, MAD_GET,
				      ATTRIBUTE_CLASS_PORT_INFO);

		if (served[row].class == MAD_CLASS_COMMUNICATION && !node_is_adapter(node)) {
			assert_int_equal(status, MAD_STATUS_BAD_METHOD_ATTRIBUTE);
			continue;
		}
		assert_int_equal(status, MAD_STATUS_OK);
		assert_int_equal(fixture.answer.bytes[3], MAD_GET_RESPONSE);
		assert_int_equal(data[0], 1);
		assert_int_equal(data[1], served[row].version);
	}
}

static void test_wrong_version_is_4(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(served) / sizeof(served[0]); i++) {
		for (unsigned version = 0; version < 256; version++) {
			if (version == served[i].version)
				continue;
			assert_int_equal(ask(served[i].class, (uint8_t)version, MAD_GET,
					     ATTRIBUTE_CLASS_PORT_INFO),
					 MAD_STATUS_BAD_VERSION);
		}
	}

	struct mad_message request = {.bytes = {2, MAD_CLASS_PERFORMANCE, 1, MAD_GET}};

	assert_int_equal(
		gsa_receive(&fixture.environment, &fixture.hub, 0, 0, &request, &fixture.answer),
		AGENT_ANSWERED);
	assert_int_equal(get_be16(fixture.answer.bytes + 4), MAD_STATUS_BAD_VERSION);
}

/* Every method of every class: Get and Set reach the attribute, one-way methods and responses get
 * no response, any other method gets 8 (management 1.4). */
static void test_wrong_method_is_8(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(served) / sizeof(served[0]); i++) {
		for (unsigned method = 0; method < 256; method++) {
			int status =
				ask(served[i].class, served[i].version, (uint8_t)method, 0x7777);
			bool is_one_way = method == MAD_SEND || method == MAD_TRAP ||
					  method == MAD_TRAP_REPRESS;

			if (method & MAD_RESPONSE)
				assert_int_equal(fixture.verdict, AGENT_FOR_SM);
			else if (method == MAD_GET || method == MAD_SET)
				assert_int_equal(status, MAD_STATUS_BAD_METHOD_ATTRIBUTE);
			else if (served[i].class == MAD_CLASS_BASEBOARD && method == MAD_SEND)
				assert_int_equal(fixture.verdict, AGENT_ANSWERED);
			else if (is_one_way)
				assert_int_equal(fixture.verdict, AGENT_CONSUMED);
			else
				assert_int_equal(status, MAD_STATUS_BAD_METHOD);
		}
	}
}

static void test_wrong_attribute_is_12(void **state)
{
	(void)state;
	assert_int_equal(ask(MAD_CLASS_PERFORMANCE, 1, MAD_GET, 0xff00),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_int_equal(ask(MAD_CLASS_PERFORMANCE, 1, MAD_SET, ATTRIBUTE_CLASS_PORT_INFO),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_int_equal(ask(MAD_CLASS_CONGESTION_CONTROL, 2, MAD_GET, 0x10),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static bool is_served(unsigned class)
{
	if (class == MAD_CLASS_SUBNET_LID || class == MAD_CLASS_SUBNET_DIRECTED)
		return true;
	for (unsigned i = 0; i < ARRAY_COUNT(served); i++) {
		if (served[i].class == class)
			return true;
	}
	return false;
}

/* All other classes, those that are reserved among them. */
static void test_class_that_nobody_serves_answers_get_and_set_only(void **state)
{
	(void)state;
	for (unsigned class = 0; class < 256; class ++) {
		for (unsigned method = 0; method < 256 && !is_served(class); method++) {
			int status = ask((uint8_t) class, 1, (uint8_t)method, 1);

			if (method == MAD_GET || method == MAD_SET)
				assert_int_equal(status, MAD_STATUS_BAD_METHOD_ATTRIBUTE);
			else
				assert_int_equal(status, -1);
		}
	}
}

static void test_only_the_nodes_own_classes_come_before_programs(void **state)
{
	(void)state;
	for (unsigned class = 0; class < 256; class ++) {
		const uint8_t mad[MAD_BYTES] = {1, (uint8_t) class, 1, MAD_GET};

		assert_int_equal(gsa_is_first(mad), class == MAD_CLASS_PERFORMANCE ||
							    class == MAD_CLASS_BASEBOARD ||
							    class == MAD_CLASS_SNMP ||
							    class == MAD_CLASS_CONGESTION_CONTROL);
	}
}

/* A manager is a program, also on a node whose agent serves the class. */
static void test_messages_for_a_manager_are_left_to_programs(void **state)
{
	static const struct {
		uint8_t method;
		uint16_t attribute;
		uint32_t modifier;
		bool is_first;
	} rows[] = {
		{MAD_SET, 0x10, 0, true},	   {MAD_SEND, 0x21, 0, true},
		{MAD_TRAP_REPRESS, 0x02, 0, true}, {MAD_SEND, 0x21, 1, false},
		{MAD_TRAP, 0x02, 0, false},	   {MAD_REPORT, 0x02, 0, false},
		{MAD_SET, 0x03, 0, false},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t mad[MAD_BYTES] = {1, MAD_CLASS_BASEBOARD, 1, rows[i].method};

		put_be16(mad + 16, rows[i].attribute);
		put_be32(mad + 20, rows[i].modifier);
		assert_int_equal(gsa_is_first(mad), rows[i].is_first);
	}
}

static void test_port_that_does_not_exist_consumes(void **state)
{
	(void)state;
	struct mad_message request = {.bytes = {1, MAD_CLASS_PERFORMANCE, 1, MAD_GET}};

	assert_int_equal(gsa_receive(&fixture.environment, &fixture.adapter, 3, 0, &request,
				     &fixture.answer),
			 AGENT_CONSUMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_every_node_has_an_agent_of_each_served_class),
		TEST(test_wrong_version_is_4),
		TEST(test_wrong_method_is_8),
		TEST(test_wrong_attribute_is_12),
		TEST(test_class_that_nobody_serves_answers_get_and_set_only),
		TEST(test_only_the_nodes_own_classes_come_before_programs),
		TEST(test_messages_for_a_manager_are_left_to_programs),
		TEST(test_port_that_does_not_exist_consumes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
