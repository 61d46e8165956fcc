/* SPDX-License-Identifier: Apache-2.0 */
/* ClassPortInfo of communication management (management 6.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_only_adapters_manage_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
