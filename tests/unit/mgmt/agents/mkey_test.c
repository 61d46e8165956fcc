/* SPDX-License-Identifier: Apache-2.0 */
/* The M_Key: every protection level with and without the key, and its lease (management 2.3).
 * Covers: mgmt/agents/agent_memory.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"

enum { KEY = 0x5eed };

static struct port_info *guard(void)
{
	return &fixture.hub.ports[0].info;
}

static int setup(void **state)
{
	int error = fixture_setup(state);

	guard()->mkey = KEY;
	return error;
}

static int get(void)
{
	return fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_INFO, 0, NULL);
}

static int set(void)
{
	return fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_SWITCH_INFO, 0, NULL);
}

static void test_every_protection_level(void **state)
{
	(void)state;
	for (unsigned protect = 0; protect < 4; protect++) {
		guard()->mkey_protect_bits = (uint8_t)protect;
		guard()->mkey_violations = 0;
		fixture.mkey = KEY;
		assert_int_equal(get(), 0);
		assert_int_equal(get_be64(fixture_data()), KEY);
		assert_int_equal(set(), 0);
		assert_int_equal(guard()->mkey_violations, 0);

		fixture.mkey = 1;
		assert_int_equal(get(), protect < 2 ? 0 : -1);
		if (protect < 2)
			assert_int_equal(get_be64(fixture_data()), protect == 0 ? KEY : 0);
		assert_int_equal(set(), -1);
		assert_int_equal(fixture.verdict, AGENT_CONSUMED);
		assert_int_equal(guard()->mkey_violations, protect < 2 ? 1 : 2);
	}
}

static void test_key_zero_lets_everybody_in(void **state)
{
	(void)state;
	guard()->mkey = 0;
	guard()->mkey_protect_bits = 3;
	fixture.mkey = 77;
	assert_int_equal(get(), 0);
	assert_int_equal(set(), 0);
}

static void test_violations_stick_at_their_maximum(void **state)
{
	(void)state;
	guard()->mkey_violations = 0xfffe;
	assert_int_equal(set(), -1);
	assert_int_equal(set(), -1);
	assert_int_equal(guard()->mkey_violations, 0xffff);
}

static void test_lease_ends_protection_but_not_the_key(void **state)
{
	(void)state;
	guard()->mkey_protect_bits = 2;
	guard()->mkey_lease_period = 10;
	fixture.now = SECONDS(100);
	assert_int_equal(get(), -1);
	/* A second violation does not restart the lease timer. */
	fixture.now = SECONDS(105);
	assert_int_equal(get(), -1);
	fixture.now = SECONDS(110) - 1;
	assert_int_equal(get(), -1);
	fixture.now = SECONDS(110);
	assert_int_equal(get(), 0);
	assert_int_equal(get_be64(fixture_data()), KEY);
	assert_int_equal(guard()->mkey_protect_bits, 0);
	assert_int_equal(set(), -1);
}

static void test_lease_ends_by_itself_when_its_time_has_come(void **state)
{
	(void)state;
	struct port *port = &fixture.adapter.ports[1];

	port->info.mkey = 5;
	port->info.mkey_protect_bits = 2;
	port->info.mkey_lease_period = 10;
	fixture.mkey = 6;
	fixture.now = SECONDS(1);
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_NODE_INFO, 0, NULL), -1);
	assert_int_equal(agent_deadline(&fixture.memory), SECONDS(11));
	agent_run(&fixture.environment, SECONDS(11) - 1);
	assert_int_equal(port->info.mkey_protect_bits, 2);
	agent_run(&fixture.environment, SECONDS(11));
	assert_int_equal(port->info.mkey_protect_bits, 0);
	assert_int_equal(port->info.mkey, 5);
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

static void test_matching_request_renews_the_lease(void **state)
{
	(void)state;
	guard()->mkey_protect_bits = 2;
	guard()->mkey_lease_period = 10;
	assert_int_equal(get(), -1);
	fixture.now = SECONDS(9);
	fixture.mkey = KEY;
	assert_int_equal(get(), 0);
	fixture.mkey = 0;
	fixture.now = SECONDS(12);
	assert_int_equal(get(), -1);
	fixture.now = SECONDS(21);
	assert_int_equal(get(), -1);
	fixture.now = SECONDS(22);
	assert_int_equal(get(), 0);
}

static void test_lease_of_zero_never_expires(void **state)
{
	(void)state;
	guard()->mkey_protect_bits = 2;
	assert_int_equal(get(), -1);
	fixture.now = SECONDS(1000000);
	assert_int_equal(get(), -1);
}

static void test_forgotten_node_has_no_lease(void **state)
{
	(void)state;
	guard()->mkey_protect_bits = 2;
	guard()->mkey_lease_period = 10;
	assert_int_equal(get(), -1);
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_false(list_is_empty(&fixture.memory.leases));
	agent_memory_forget(&fixture.memory, &fixture.hub);
	assert_true(list_is_empty(&fixture.memory.leases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)
		TEST(test_every_protection_level),
		TEST(test_key_zero_lets_everybody_in),
		TEST(test_violations_stick_at_their_maximum),
		TEST(test_lease_ends_protection_but_not_the_key),
		TEST(test_lease_ends_by_itself_when_its_time_has_come),
		TEST(test_matching_request_renews_the_lease),
		TEST(test_lease_of_zero_never_expires),
		TEST(test_forgotten_node_has_no_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
