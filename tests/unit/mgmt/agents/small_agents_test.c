/* SPDX-License-Identifier: Apache-2.0 */
/* The responses of classes for which a node has little to report (management 6.2, 6.3, 6.4, 6.6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"

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

static const uint8_t *data(void)
{
	return fixture.answer.bytes + 64;
}

static void test_io_unit_has_no_controllers(void **state)
{
	(void)state;
	assert_int_equal(ask(MAD_CLASS_DEVICE, MAD_GET, 0x10, 0), 0);
	assert_int_equal(data()[2], 0);
	for (unsigned i = 0; i < 128; i++)
		assert_int_equal(data()[4 + i], 0xff);
	assert_int_equal(data()[132], 0);
	assert_int_equal(ask(MAD_CLASS_DEVICE, MAD_GET, 0x10, 1), MAD_STATUS_BAD_FIELD);
	assert_int_equal(ask(MAD_CLASS_DEVICE, MAD_SET, 0x10, 0), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_no_slot_has_a_profile_or_services(void **state)
{
	(void)state;
	for (uint32_t slot = 0; slot < 256; slot++) {
		assert_int_equal(ask(MAD_CLASS_DEVICE, MAD_GET, 0x11, slot), MAD_STATUS_BAD_FIELD);
		assert_int_equal(ask(MAD_CLASS_DEVICE, MAD_GET, 0x12, slot << 16 | 0x300),
				 MAD_STATUS_BAD_FIELD);
	}
}

/* Send with modifier 0 is a command; the answer is a Send with modifier 1 (management 6.2). */
static void test_baseboard_command_is_not_supported(void **state)
{
	(void)state;
	put_be16(request.bytes + 64, 0x1234); /* sequence */
	request.bytes[67] = 5;
	request.bytes[69] = 0x77;
	assert_int_equal(ask(MAD_CLASS_BASEBOARD, MAD_SEND, 0x21, 0), 0);
	assert_int_equal(fixture.answer.bytes[3], MAD_SEND);
	assert_int_equal(get_be32(fixture.answer.bytes + 20), 1);
	assert_int_equal(get_be64(fixture.answer.bytes + 8), 9);
	assert_int_equal(get_be16(data()), 0x1234);
	assert_int_equal(data()[3], 1);
	assert_int_equal(data()[4], 4);
	assert_int_equal(data()[5], 0);
	/* An answer is not answered. */
	assert_int_equal(ask(MAD_CLASS_BASEBOARD, MAD_SEND, 0x21, 1), -1);
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
	memset(&request, 0, sizeof(request));
}

static void test_baseboard_key_is_zero(void **state)
{
	(void)state;
	assert_int_equal(ask(MAD_CLASS_BASEBOARD, MAD_GET, 0x10, 0), 0);
	assert_int_equal(get_be64(data()), 0);
	assert_int_equal(get_be16(data() + 12), 0xffff);
	assert_int_equal(ask(MAD_CLASS_BASEBOARD, MAD_SET, 0x10, 0),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_only_adapters_manage_connections(void **state)
{
	(void)state;
	struct mad_message ask_cm = {.bytes = {1, MAD_CLASS_COMMUNICATION, 2,
					       MAD_GET, [17] = ATTRIBUTE_CLASS_PORT_INFO}};

	assert_int_equal(
		gsa_receive(&fixture.environment, &fixture.adapter, 1, 0, &ask_cm, &fixture.answer),
		AGENT_ANSWERED);
	assert_int_equal(get_be16(fixture.answer.bytes + 4), 0);
	/* Reliable and unreliable connections, service id resolution. */
	assert_int_equal(get_be16(fixture.answer.bytes + 24 + 2), 0x3200);
	assert_int_equal(
		gsa_receive(&fixture.environment, &fixture.hub, 0, 0, &ask_cm, &fixture.answer),
		AGENT_ANSWERED);
	assert_int_equal(get_be16(fixture.answer.bytes + 4), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_snmp_message_finds_nobody(void **state)
{
	(void)state;
	assert_int_equal(ask(MAD_CLASS_SNMP, MAD_SEND, 0x10, 0), -1);
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_io_unit_has_no_controllers),
		TEST(test_no_slot_has_a_profile_or_services),
		TEST(test_baseboard_command_is_not_supported),
		TEST(test_baseboard_key_is_zero),
		TEST(test_only_adapters_manage_connections),
		TEST(test_snmp_message_finds_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
