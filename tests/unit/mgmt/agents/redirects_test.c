/* SPDX-License-Identifier: Apache-2.0 */
/* A port that redirects a class, and a client that follows the redirection (management 1.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "base/bytes.h"
#include "mgmt/agents/redirects.h"
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

/* Port 1 of the adapter redirects this class to a LID and QP. */
static void redirect_to(uint8_t management_class, uint16_t lid, uint32_t qpn)
{
	const struct redirect redirect = {
		.port = &fixture.adapter.ports[1],
		.management_class = management_class,
		.place = {.redirect_lid = lid,
			  .redirect_qpn = qpn,
			  .redirect_qkey = 0x80010000,
			  .redirect_pkey = 0xffff},
	};

	assert_int_equal(redirect_set(&fixture.memory, &redirect), 0);
}

static void test_every_request_is_answered_with_the_place(void **state)
{
	(void)state;
	struct mad_message request = make(ATTRIBUTE_PORT_COUNTERS);

	redirect_to(MAD_CLASS_PERFORMANCE, 77, 0x123);
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

	redirect_to(MAD_CLASS_DEVICE, 7, 1);
	assert_int_equal(status_of(&request, 1), MAD_STATUS_OK);
	redirect_to(MAD_CLASS_PERFORMANCE, 7, 1);
	assert_int_equal(status_of(&request, 2), MAD_STATUS_OK);
	assert_true(
		redirect_end(&fixture.memory, &fixture.adapter.ports[1], MAD_CLASS_PERFORMANCE));
	assert_false(
		redirect_end(&fixture.memory, &fixture.adapter.ports[1], MAD_CLASS_PERFORMANCE));
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
	redirect_to(MAD_CLASS_PERFORMANCE, 5, 1);
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

	redirect_to(MAD_CLASS_PERFORMANCE, 5, 1);
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_int_equal(status_of(&request, 1), MAD_STATUS_OK);
}

static void test_all_fields_of_the_place_are_told(void **state)
{
	(void)state;
	const struct redirect redirect = {
		.port = &fixture.adapter.ports[1],
		.management_class = MAD_CLASS_PERFORMANCE,
		.place = {.redirect_gid_prefix = 0xfe80000000000000,
			  .redirect_gid_guid = 0x1234,
			  .redirect_traffic_class = 0x5a,
			  .redirect_sl = 7,
			  .redirect_flow_label = 0xabcde,
			  .redirect_pkey = 0x8001,
			  .redirect_qpn = 0x123456,
			  .redirect_qkey = 0xcafe},
	};
	/* ClassPortInfo from RedirectGID to RedirectQ_Key (management 1.6). */
	static const uint8_t expected[] = {
		0xfe, 0x80, 0,	  0,	0,    0,    0,	  0,	0,    0,    0,
		0,    0,    0,	  0x12, 0x34, 0x5a, 0x7a, 0xbc, 0xde, 0x00, 0x00,
		0x80, 0x01, 0x00, 0x12, 0x34, 0x56, 0,	  0,	0xca, 0xfe,
	};
	struct mad_message request = make(ATTRIBUTE_PORT_COUNTERS);

	assert_int_equal(redirect_set(&fixture.memory, &redirect), 0);
	assert_int_equal(status_of(&request, 1), MAD_STATUS_REDIRECT);
	assert_memory_equal(fixture.answer.bytes + PERFORMANCE_DATA_OFFSET + 8, expected,
			    sizeof(expected));
	assert_ptr_equal(redirect_next(&fixture.memory, NULL)->port, redirect.port);
	assert_null(redirect_next(&fixture.memory, redirect_next(&fixture.memory, NULL)));
}

static struct mad_message make_vendor(uint8_t method, uint8_t rmpp_type, uint8_t segment)
{
	struct mad_message request = {
		.bytes = {1, 0x32, 1, method, [24] = 1, rmpp_type, 1, [31] = segment}};

	return request;
}

static bool is_turned_away(const struct mad_message *request)
{
	return gsi_turns_away(&fixture.environment, &fixture.adapter.ports[1], fixture.now, request,
			      &fixture.answer);
}

/* A transfer that has begun goes on; responses, traps and Sends have no response. */
static void test_only_requests_are_redirected(void **state)
{
	static const uint8_t others[] = {MAD_SEND, MAD_TRAP, MAD_TRAP_REPRESS, MAD_GET_RESPONSE,
					 0x92};
	struct mad_message request;

	(void)state;
	redirect_to(0x32, 9, 1);
	for (size_t i = 0; i < sizeof(others); i++) {
		request = make_vendor(others[i], 1, 1);
		assert_false(is_turned_away(&request));
	}
	request = make_vendor(0x12, 2, 1); /* an ACK */
	assert_false(is_turned_away(&request));
	request = make_vendor(0x12, 4, 0); /* an ABORT */
	assert_false(is_turned_away(&request));
	request = make_vendor(0x14, 1, 2);
	assert_false(is_turned_away(&request));
	request = make_vendor(0x14, 1, 1);
	assert_true(is_turned_away(&request));
	assert_int_equal(fixture.answer.bytes[3], 0x94);
	/* The response has no RMPP header, and its data begin behind the OUI. */
	assert_int_equal(get_be64(fixture.answer.bytes + 24), 0);
	assert_int_equal(get_be16(fixture.answer.bytes + 40 + 28), 9);
}

static void test_a_port_without_a_rate_is_never_busy(void **state)
{
	struct mad_message request = make(ATTRIBUTE_PORT_COUNTERS);

	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		assert_false(is_turned_away(&request));
}

static void test_requests_beyond_the_rate_find_the_port_busy(void **state)
{
	struct mad_message request = make(ATTRIBUTE_PORT_COUNTERS);
	unsigned served = 0;

	(void)state;
	fixture.now = SECONDS(10);
	assert_int_equal(gsi_rate_set(&fixture.memory, &fixture.adapter.ports[1], 10), 0);
	for (unsigned i = 0; i < 50; i++)
		served += !is_turned_away(&request);
	assert_in_range(served, 10, 11);
	assert_int_equal(get_be16(fixture.answer.bytes + 4), MAD_STATUS_BUSY);
	/* In the next second there is room for ten more. */
	fixture.now += SECONDS(1);
	served = 0;
	for (unsigned i = 0; i < 50; i++)
		served += !is_turned_away(&request);
	assert_in_range(served, 10, 11);
	/* A response is not a request. */
	request.bytes[3] = MAD_GET_RESPONSE;
	assert_false(is_turned_away(&request));
	request.bytes[3] = MAD_GET;
	assert_true(is_turned_away(&request));
	assert_int_equal(gsi_rate_set(&fixture.memory, &fixture.adapter.ports[1], 0), 0);
	assert_false(is_turned_away(&request));
}

static void test_a_busy_port_redirects_if_it_can(void **state)
{
	const struct redirect redirect = {
		.port = &fixture.adapter.ports[1],
		.management_class = MAD_CLASS_PERFORMANCE,
		.condition = REDIRECT_WHEN_BUSY,
		.place = {.redirect_lid = 8, .redirect_qpn = 1},
	};
	struct mad_message request = make(ATTRIBUTE_PORT_COUNTERS);

	(void)state;
	fixture.now = SECONDS(10);
	assert_int_equal(redirect_set(&fixture.memory, &redirect), 0);
	assert_false(is_turned_away(&request));
	assert_int_equal(gsi_rate_set(&fixture.memory, &fixture.adapter.ports[1], 1), 0);
	while (!is_turned_away(&request))
		;
	assert_int_equal(get_be16(fixture.answer.bytes + 4), MAD_STATUS_REDIRECT);
	assert_int_equal(place().redirect_lid, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_every_request_is_answered_with_the_place),
		TEST(test_other_ports_and_classes_are_not_concerned),
		TEST(test_client_asks_there_and_gets_its_answer),
		TEST(test_all_fields_of_the_place_are_told),
		TEST(test_only_requests_are_redirected),
		TEST(test_a_port_without_a_rate_is_never_busy),
		TEST(test_requests_beyond_the_rate_find_the_port_busy),
		TEST(test_a_busy_port_redirects_if_it_can),
		TEST(test_forgotten_node_sends_nobody_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
