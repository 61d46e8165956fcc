/* SPDX-License-Identifier: Apache-2.0 */
/* SNMP tunnelling of a node (management 6.4). */
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
		TEST(test_snmp_message_finds_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
