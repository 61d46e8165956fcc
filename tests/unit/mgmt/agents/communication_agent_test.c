/* SPDX-License-Identifier: Apache-2.0 */
/* ClassPortInfo of communication management (management 6.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "base/bytes.h"
#include "wire/pkey.h"

/* The status of the answer of this port. */
static uint16_t ask(struct node *node, unsigned port_number, enum mad_method method)
{
	struct mad_message request = {.bytes = {1, MAD_CLASS_COMMUNICATION, 2,
						(uint8_t)method, [17] = ATTRIBUTE_CLASS_PORT_INFO}};

	/* TrapLID and TrapQP. */
	put_be16(request.bytes + 24 + 60, 9);
	put_be32(request.bytes + 24 + 64, QPN_GSI);
	assert_int_equal(
		gsa_receive(&fixture.environment, node, port_number, 0, &request, &fixture.answer),
		AGENT_ANSWERED);
	return get_be16(fixture.answer.bytes + 4);
}

static void test_only_adapters_manage_connections(void **state)
{
	(void)state;
	assert_int_equal(ask(&fixture.adapter, 1, MAD_GET), 0);
	/* Reliable connections, reliable datagrams, unreliable connections, service id resolution.
	 */
	assert_int_equal(get_be16(fixture.answer.bytes + 24 + 2), 0x3600);
	assert_int_equal(ask(&fixture.hub, 0, MAD_GET), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_int_equal(ask(&fixture.hub, 0, MAD_SET), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_trap_address_can_be_set(void **state)
{
	(void)state;
	assert_int_equal(ask(&fixture.adapter, 1, MAD_SET), 0);
	assert_int_equal(get_be16(fixture.answer.bytes + 24 + 2), 0x3600);
	assert_int_equal(ask(&fixture.adapter, 1, MAD_GET), 0);
	assert_int_equal(get_be16(fixture.answer.bytes + 24 + 60), 9);
	assert_int_equal(ask(&fixture.router, 1, MAD_SET), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_only_adapters_manage_connections),
		TEST(test_trap_address_can_be_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
