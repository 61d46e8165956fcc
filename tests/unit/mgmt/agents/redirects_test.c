/* SPDX-License-Identifier: Apache-2.0 */
/* A port that redirects a class, and a client that follows the redirection (management 1.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "mgmt/mad/transactions.h"
#include "wire/class_port_info.h"

static struct mad_message make(uint16_t attribute)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_PERFORMANCE,
		.class_version = 1,
		.method = MAD_GET,
		.attribute_id = attribute,
	};
	struct mad_message request = {.address = {.lid = 4, .qpn = 1, .qkey = 0x80010000}};

	mad_header_encode(&header, request.bytes);
	request.bytes[PERFORMANCE_DATA_OFFSET + 1] = 1;
	return request;
}

static int status_of(const struct mad_message *request, unsigned port_number)
{
	assert_int_equal(gsa_receive(&fixture.environment, &fixture.adapter, port_number, 0,
				     request, &fixture.answer),
			 AGENT_ANSWERED);
	return get_be16(fixture.answer.bytes + 4);
}

static struct class_port_info place(void)
{
	struct class_port_info info;

	class_port_info_decode(fixture.answer.bytes + PERFORMANCE_DATA_OFFSET, &info);
	return info;
}

static void test_every_request_is_answered_with_the_place(void **state)
{
	(void)state;
	struct mad_message request = make(ATTRIBUTE_PORT_COUNTERS);

	assert_int_equal(agent_redirect(&fixture.memory, &fixture.adapter.ports[1],
					MAD_CLASS_PERFORMANCE, 77, 0x123),
			 0);
	assert_int_equal(status_of(&request, 1), MAD_STATUS_REDIRECT);
	assert_int_equal(place().redirect_lid, 77);
	assert_int_equal(place().redirect_qpn, 0x123);
	assert_int_equal(place().redirect_qkey, 0x80010000);
	assert_int_equal(place().redirect_pkey, 0xffff);
	request = make(ATTRIBUTE_CLASS_PORT_INFO);
	assert_int_equal(status_of(&request, 1), MAD_STATUS_OK);
	assert_int_equal(place().class_version, 1);
	assert_int_equal(place().redirect_lid, 77);
}

static void test_other_ports_and_classes_are_not_concerned(void **state)
{
	(void)state;
	struct mad_message request = make(ATTRIBUTE_PORT_COUNTERS);

	assert_int_equal(
		agent_redirect(&fixture.memory, &fixture.adapter.ports[1], MAD_CLASS_DEVICE, 7, 1),
		0);
	assert_int_equal(status_of(&request, 1), MAD_STATUS_OK);
	assert_int_equal(agent_redirect(&fixture.memory, &fixture.adapter.ports[1],
					MAD_CLASS_PERFORMANCE, 7, 1),
			 0);
	assert_int_equal(status_of(&request, 2), MAD_STATUS_OK);
	assert_int_equal(agent_redirect(&fixture.memory, &fixture.adapter.ports[1],
					MAD_CLASS_PERFORMANCE, 0, 0),
			 0);
	assert_int_equal(status_of(&request, 1), MAD_STATUS_OK);
}

static void test_client_asks_there_and_gets_its_answer(void **state)
{
	(void)state;
	const struct mad_transactions_options options = {.agent_number = 3};
	struct mad_transactions transactions;
	struct mad_message request = make(ATTRIBUTE_PORT_COUNTERS);
	struct mad_message out;
	struct mad_purpose purpose;

	assert_int_equal(mad_transactions_init(&transactions, &options), 0);
	assert_int_equal(agent_redirect(&fixture.memory, &fixture.adapter.ports[1],
					MAD_CLASS_PERFORMANCE, 5, 1),
			 0);
	mad_transactions_send(&transactions, &request, (struct mad_purpose){.detail = 6});
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 1, &out), 1);
	assert_int_equal(status_of(&out, 1), MAD_STATUS_REDIRECT);
	assert_false(mad_transactions_receive(&transactions, &fixture.answer, &purpose));
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 1, &out), 1);
	assert_int_equal(out.address.lid, 5);
	assert_int_equal(status_of(&out, 2), MAD_STATUS_OK);
	assert_true(mad_transactions_receive(&transactions, &fixture.answer, &purpose));
	assert_int_equal(purpose.detail, 6);
	mad_transactions_release(&transactions);
}

static void test_forgotten_node_sends_nobody_away(void **state)
{
	(void)state;
	struct mad_message request = make(ATTRIBUTE_PORT_COUNTERS);

	assert_int_equal(agent_redirect(&fixture.memory, &fixture.adapter.ports[1],
					MAD_CLASS_PERFORMANCE, 5, 1),
			 0);
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_int_equal(status_of(&request, 1), MAD_STATUS_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_every_request_is_answered_with_the_place),
		TEST(test_other_ports_and_classes_are_not_concerned),
		TEST(test_client_asks_there_and_gets_its_answer),
		TEST(test_forgotten_node_sends_nobody_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
