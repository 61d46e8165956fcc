/* SPDX-License-Identifier: Apache-2.0 */
/* LEDs that show where a node is, for a time (management 2.5: LedInfo). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "mgmt/agents/identify.h"

static void set(uint8_t is_on, uint32_t seconds)
{
	const struct identify wanted = {.is_on = is_on, .seconds = seconds};

	assert_int_equal(identify_set(&fixture.memory, &fixture.hub, fixture.now, &wanted), 0);
}

/* As the subnet management agent shows it. */
static bool led(uint32_t port_number)
{
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_LED_INFO, port_number, NULL),
			 MAD_STATUS_OK);
	return fixture_data()[0] == 0x80;
}

static struct identify get(void)
{
	return identify_get(&fixture.memory, &fixture.hub, fixture.now);
}

static void test_led_info_shows_it(void **state)
{
	(void)state;
	assert_false(led(1));
	set(1, 0);
	assert_true(led(0));
	assert_true(led(4));
	assert_int_equal(get().is_on, 1);
	assert_int_equal(get().seconds, 0);
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
	assert_ptr_equal(identification_next(&fixture.memory, NULL)->node, &fixture.hub);
	set(0, 0);
	assert_false(led(4));
	assert_null(identification_next(&fixture.memory, NULL));
}

static void test_it_ends_when_its_time_is_up(void **state)
{
	(void)state;
	fixture.now = SECONDS(5);
	set(1, 10);
	assert_int_equal(get().seconds, 10);
	assert_int_equal(agent_deadline(&fixture.memory), SECONDS(15));
	fixture.now += SECONDS(9) + 1;
	agent_run(&fixture.environment, fixture.now);
	assert_int_equal(get().seconds, 1);
	assert_true(led(1));
	fixture.now = SECONDS(15);
	agent_run(&fixture.environment, fixture.now);
	assert_int_equal(get().is_on, 0);
	assert_false(led(1));
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

static void test_a_second_set_replaces_the_time(void **state)
{
	(void)state;
	set(1, 10);
	set(1, 100);
	fixture.now = SECONDS(11);
	agent_run(&fixture.environment, fixture.now);
	assert_int_equal(get().seconds, 89);
	set(1, 0);
	fixture.now = SECONDS(1000);
	agent_run(&fixture.environment, fixture.now);
	assert_true(led(2));
}

static void test_a_node_that_goes_is_forgotten(void **state)
{
	(void)state;
	set(1, 10);
	agent_memory_forget(&fixture.memory, &fixture.hub);
	agent_run(&fixture.environment, SECONDS(20));
	assert_null(identification_next(&fixture.memory, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_led_info_shows_it),
		TEST(test_it_ends_when_its_time_is_up),
		TEST(test_a_second_set_replaces_the_time),
		TEST(test_a_node_that_goes_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
