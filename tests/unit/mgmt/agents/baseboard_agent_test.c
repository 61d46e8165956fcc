/* SPDX-License-Identifier: Apache-2.0 */
/* Baseboard management of a node (management 6.2). */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_baseboard_command_is_not_supported),
		TEST(test_baseboard_key_is_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
