/* SPDX-License-Identifier: Apache-2.0 */
/* The answers to REQ and SIDR_REQ of a port that redirects communication management (management
 * 7.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "base/bytes.h"
#include "mgmt/agents/call_redirects.h"
#include "mgmt/agents/io_unit.h"
#include "wire/cm_message.h"

/* MADs without the zeros that follow. The LID that sent them is 4. */
static const uint8_t req[MAD_BYTES] = {
	/* class 7, version 2, Send; transaction id; REQ; AttributeModifier */
	1, 7, 2, 3, 0, 0, 0, 0, 0, 0, 0, 9, 0x12, 0x34, 0x56, 0x78, 0, 0x10, 0, 0, 0, 0, 0, 7,
	/* LocalCommID; ServiceID at 8 */
	0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0, 0, 0, 0, 0, 1, 6, 0x1b, 0x58,
	/* the primary path's remote GID, at 52 + 20 of the data */
	[24 + 72] = 0xfe, 0x80, [24 + 72 + 15] = 0x31};
static const uint8_t sidr_req[MAD_BYTES] = {
	1, 7, 2, 3, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0x17, 0, 0, 0, 0, 0, 0,
	/* RequestID, P_Key, ServiceID */
	0xaa, 0xbb, 0xcc, 0xdd, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 1, 0x11, 0x1b, 0x58};

/* ClassPortInfo: version 2, RespTimeValue 18, no GID, SL 3, LID 77, P_Key, QP 0x123, Q_Key. */
static const uint8_t place[72] = {1,	2,    0, 0, 0, 0,    0,	   18, [25] = 0x30, [28] = 0, 77,
				  0xff, 0xff, 0, 0, 1, 0x23, 0x80, 1,  0,	    0};

static struct redirect redirect_to_lid(void)
{
	return (struct redirect){
		.port = &fixture.adapter.ports[1],
		.management_class = MAD_CLASS_COMMUNICATION,
		.place = {.redirect_lid = 77,
			  .redirect_sl = 3,
			  .redirect_qpn = 0x123,
			  .redirect_qkey = 0x80010000,
			  .redirect_pkey = 0xffff},
	};
}

static struct redirect redirect_connections(uint8_t guid)
{
	return (struct redirect){
		.port = &fixture.adapter.ports[1],
		.management_class = MAD_CLASS_COMMUNICATION,
		.scope = REDIRECT_CONNECTIONS,
		.place = {.redirect_gid_prefix = 0xfe80000000000000, .redirect_gid_guid = guid},
	};
}

static bool is_redirected(const uint8_t *mad)
{
	struct mad_message call = {.address = {.lid = 4, .qpn = 1, .qkey = 0x80010000}};

	memcpy(call.bytes, mad, MAD_BYTES);
	return gsi_turns_away(&fixture.environment, &fixture.adapter.ports[1], fixture.now, &call,
			      &fixture.answer);
}

static void test_req_gets_rej_24_with_class_port_info(void **state)
{
	const struct redirect redirect = redirect_to_lid();
	uint8_t expected[MAD_BYTES] = {
		1, 7, 2, 3, 0, 0, 0, 0, 0, 0, 0, 9, 0x12, 0x34, 0x56, 0x78, 0, 0x12, 0, 0, 0, 0, 0,
		0,
		/* LocalCommID 0, RemoteCommID, MessageRejected 0 (REQ), 72 bytes of ARI, reason */
		0, 0, 0, 0, 0x12, 0x34, 0x56, 0x78, 0, 72 << 1, 0, 24};

	(void)state;
	memcpy(expected + 36, place, sizeof(place));
	assert_int_equal(redirect_set(&fixture.memory, &redirect), 0);
	assert_true(is_redirected(req));
	assert_memory_equal(fixture.answer.bytes, expected, MAD_BYTES);
	assert_int_equal(fixture.answer.address.lid, 4);
}

static void test_sidr_req_gets_the_status_of_redirection(void **state)
{
	const struct redirect redirect = redirect_to_lid();
	uint8_t expected[MAD_BYTES] = {1, 7, 2, 3, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0x18, 0,
				       0, 0, 0, 0, 0,
				       /* RequestID, status 4, 72 bytes of information */
				       0xaa, 0xbb, 0xcc, 0xdd, 4, 72, 0, 0, 0, 0, 0, 0,
				       /* ServiceID */
				       0, 0, 0, 0, 1, 0x11, 0x1b, 0x58};

	(void)state;
	memcpy(expected + 48, place, sizeof(place));
	assert_int_equal(redirect_set(&fixture.memory, &redirect), 0);
	assert_true(is_redirected(sidr_req));
	assert_memory_equal(fixture.answer.bytes, expected, MAD_BYTES);
}

static void test_connections_alone_get_rej_25_with_a_gid(void **state)
{
	const struct redirect redirect = redirect_connections(0x32);
	const struct redirect reached = redirect_connections(0x31);
	uint8_t expected[MAD_BYTES] = {1,	7,    2,
				       3,	0,    0,
				       0,	0,    0,
				       0,	0,    9,
				       0x12,	0x34, 0x56,
				       0x78,	0,    0x12,
				       0,	0,    0,
				       0,	0,    0,
				       0,	0,    0,
				       0,	0x12, 0x34,
				       0x56,	0x78, 0,
				       16 << 1, 0,    25,
				       0xfe,	0x80, [36 + 15] = 0x32};

	(void)state;
	assert_int_equal(redirect_set(&fixture.memory, &redirect), 0);
	assert_true(is_redirected(req));
	assert_memory_equal(fixture.answer.bytes, expected, MAD_BYTES);
	/* The connection manager stays: SIDR, and a REQ that names the other port, pass. */
	assert_false(is_redirected(sidr_req));
	assert_int_equal(redirect_set(&fixture.memory, &reached), 0);
	assert_false(is_redirected(req));
}

/* Only messages that start an exchange are redirected: the others belong to one. */
static void test_other_messages_pass(void **state)
{
	const struct redirect redirect = redirect_to_lid();
	uint8_t mad[MAD_BYTES];

	(void)state;
	assert_int_equal(redirect_set(&fixture.memory, &redirect), 0);
	for (uint8_t id = CM_MRA; id <= CM_APR; id++) {
		memcpy(mad, req, MAD_BYTES);
		mad[17] = id;
		assert_int_equal(is_redirected(mad), id == CM_SIDR_REQ);
	}
	memcpy(mad, req, MAD_BYTES);
	mad[2] = 1; /* of another class version: REJ 31 of the connection manager */
	assert_false(is_redirected(mad));
}

static void test_class_port_info_names_the_place_too(void **state)
{
	const struct redirect all = redirect_to_lid(), connections = redirect_connections(0x32);
	uint8_t mad[MAD_BYTES] = {1, 7, 2, 1, [17] = 1};

	(void)state;
	assert_int_equal(redirect_set(&fixture.memory, &all), 0);
	assert_true(is_redirected(mad));
	assert_memory_equal(fixture.answer.bytes + 24, place, sizeof(place));
	assert_int_equal(redirect_set(&fixture.memory, &connections), 0);
	assert_false(is_redirected(mad));
}

/* A call can't be told that the port is busy. */
static void test_a_busy_port_redirects_calls_or_takes_them(void **state)
{
	struct redirect redirect = redirect_to_lid();

	(void)state;
	fixture.now = SECONDS(10);
	assert_int_equal(gsi_rate_set(&fixture.memory, &fixture.adapter.ports[1], 2), 0);
	for (unsigned i = 0; i < 10; i++)
		assert_false(is_redirected(req));
	redirect.condition = REDIRECT_WHEN_BUSY;
	assert_int_equal(redirect_set(&fixture.memory, &redirect), 0);
	assert_false(is_redirected(req));
	for (unsigned i = 0; i < 5; i++)
		(void)is_redirected(req);
	assert_true(is_redirected(req));
	assert_int_equal(fixture.answer.bytes[17], CM_REJ);
}

/* Nobody connects to a controller that is switched off: REJ 8, or status 1. */
static void test_calls_to_a_controller_without_power_are_refused(void **state)
{
	struct io_service_entry services[] = {{.name = "disk", .id = 0x01061b58},
					      {.name = "console", .id = 0x01111b58}};
	struct io_controller controller = {.profile = {.service_entries = 2}, .services = services};
	static const uint8_t rej[] = {0, 0, 0, 0, 0x12, 0x34, 0x56, 0x78, 0, 0, 0, 8};
	static const uint8_t rep[] = {0xaa, 0xbb, 0xcc, 0xdd, 1, 0, 0, 0,    0,	   0,
				      0,    0,	  0,	0,    0, 0, 1, 0x11, 0x1b, 0x58};
	unsigned slot;

	(void)state;
	assert_int_equal(
		io_unit_plug(&fixture.environment, &fixture.adapter, 0, &controller, 2, &slot), 0);
	assert_false(is_redirected(req));
	assert_int_equal(io_unit_set_power(&fixture.memory, &fixture.adapter, 0, 2, POWER_OFF), 0);
	assert_true(is_redirected(req));
	assert_int_equal(fixture.answer.bytes[17], CM_REJ);
	assert_memory_equal(fixture.answer.bytes + 24, rej, sizeof(rej));
	assert_true(is_redirected(sidr_req));
	assert_int_equal(fixture.answer.bytes[17], CM_SIDR_REP);
	assert_memory_equal(fixture.answer.bytes + 24, rep, sizeof(rep));
	assert_int_equal(io_unit_set_power(&fixture.memory, &fixture.adapter, 0, 2, POWER_ON), 0);
	assert_false(is_redirected(req));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_req_gets_rej_24_with_class_port_info),
		TEST(test_sidr_req_gets_the_status_of_redirection),
		TEST(test_connections_alone_get_rej_25_with_a_gid),
		TEST(test_other_messages_pass),
		TEST(test_class_port_info_names_the_place_too),
		TEST(test_a_busy_port_redirects_calls_or_takes_them),
		TEST(test_calls_to_a_controller_without_power_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
