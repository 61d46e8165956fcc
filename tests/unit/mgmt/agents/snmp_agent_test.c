/* SPDX-License-Identifier: Apache-2.0 */
/* SNMP tunnelling of a node (management 6.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "mgmt/agents/class_port_infos.h"
#include "wire/pkey.h"
#include "wire/snmp_tunnel.h"

static struct mad_message request;

static int ask(uint8_t class, uint8_t method, uint16_t attribute, uint32_t modifier)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = class,
		.class_version = 1,
		.method = method,
		.transaction_id = 9,
		.attribute_id = attribute,
		.attribute_modifier = modifier,
	};

	mad_header_encode(&header, request.bytes);
	fixture.verdict =
		gsa_receive(&fixture.environment, &fixture.hub, 0, 0, &request, &fixture.answer);
	return fixture.verdict == AGENT_ANSWERED ? get_be16(fixture.answer.bytes + 4) : -1;
}

static void test_snmp_message_finds_nobody(void **state)
{
	(void)state;
	assert_int_equal(ask(MAD_CLASS_SNMP, MAD_SEND, 0x10, 0), -1);
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
}

static struct port *received_at;
static unsigned received_count;

static void received(void *context, struct port *port, const struct mad_message *message)
{
	(void)context;
	assert_memory_equal(message->bytes, request.bytes, MAD_BYTES);
	received_at = port;
	received_count++;
}

static void test_a_message_for_the_agent_goes_to_the_owner(void **state)
{
	(void)state;
	received_count = 0;
	fixture.environment.snmp_received = received;
	assert_int_equal(ask(MAD_CLASS_SNMP, MAD_SEND, ATTRIBUTE_PDU_INFO, SNMP_TO_AGENT), -1);
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
	assert_int_equal(received_count, 1);
	assert_ptr_equal(received_at, &fixture.hub.ports[0]);
}

/* Answers and notifications are for a manager on the port. */
static void test_other_directions_are_not_for_the_agent(void **state)
{
	(void)state;
	received_count = 0;
	fixture.environment.snmp_received = received;
	assert_int_equal(ask(MAD_CLASS_SNMP, MAD_SEND, ATTRIBUTE_PDU_INFO, SNMP_ANSWER), -1);
	assert_int_equal(fixture.verdict, AGENT_FOR_SM);
	assert_int_equal(ask(MAD_CLASS_SNMP, MAD_SEND, ATTRIBUTE_PDU_INFO, SNMP_NOTIFICATION), -1);
	assert_int_equal(fixture.verdict, AGENT_FOR_SM);
	assert_int_equal(received_count, 0);
}

static void test_a_manager_sets_the_trap_address(void **state)
{
	struct mad_address address;
	const struct class_port_info info = {.trap_lid = 7, .trap_qpn = 1, .trap_qkey = QKEY_GSI};

	(void)state;
	memset(request.bytes, 0, sizeof(request.bytes));
	class_port_info_encode(&info, request.bytes + SNMP_DATA_OFFSET);
	assert_int_equal(ask(MAD_CLASS_SNMP, MAD_SET, ATTRIBUTE_CLASS_PORT_INFO, 0), MAD_STATUS_OK);
	assert_true(class_trap_address(fixture.environment.memory, &fixture.hub.ports[0],
				       MAD_CLASS_SNMP, &address));
	assert_int_equal(address.lid, 7);
	assert_int_equal(address.qpn, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_snmp_message_finds_nobody),
		TEST(test_a_message_for_the_agent_goes_to_the_owner),
		TEST(test_other_directions_are_not_for_the_agent),
		TEST(test_a_manager_sets_the_trap_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
