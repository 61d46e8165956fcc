/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to agents that answer, lie, are busy, redirect or vanish (management 1.4, 1.6, 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "perf_fixture.h"

static struct perf_fixture fixture;

static int set_up(void **state)
{
	(void)state;
	perf_fixture_start(&fixture, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	perf_fixture_stop(&fixture);
	return 0;
}

static void test_counters_of_every_port_are_read(void **state)
{
	(void)state;
	fixture.agents[3].counters[1].xmit_data = 12345;
	fixture.agents[5].counters[8].symbol_error = 6;
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.read_count, PERF_FIXTURE_PORTS_ALL);
	assert_int_equal(fixture.manager.last.failed_count, 0);
	assert_int_equal(perf_fixture_port(&fixture, 3, 1)->history.last.values[PERF_XMIT_DATA],
			 12345);
	assert_int_equal(perf_fixture_port(&fixture, 5, 8)->history.errors, 6);
	assert_int_equal(perf_fixture_port(&fixture, 5, 8)->node->wait_tick, MICROSECONDS(1));
	assert_int_equal(fixture.agents[5].get_count, 8);
}

static void test_basic_agent_gets_port_counters_only(void **state)
{
	(void)state;
	fixture.agents[3].capability_mask = 0;
	fixture.agents[3].capability_mask2 = 0;
	fixture.agents[3].counters[1].xmit_data = 1ull << 40; /* sticks at 32 bits */
	perf_fixture_sweep(&fixture);

	const struct port_history *history = &perf_fixture_port(&fixture, 3, 1)->history;

	assert_int_equal(fixture.agents[3].get_count, 1);
	/* The counter stuck and has been cleared. */
	assert_int_equal(fixture.agents[3].set_count, 1);
	assert_int_equal(fixture.agents[3].counters[1].xmit_data, 0);
	assert_int_equal(history->last.values[PERF_XMIT_DATA], 0);
	assert_true(history->lower_bounds >> PERF_XMIT_DATA & 1);
	fixture.agents[3].counters[1].xmit_data = 77;
	perf_fixture_sweep(&fixture);
	assert_int_equal(history->increments[PERF_XMIT_DATA], 77);
	assert_int_equal(history->clear_count, 0); /* it was our own */
	assert_int_equal(fixture.agents[3].set_count, 1);
}

static void test_extended_agent_without_errors_gets_both(void **state)
{
	(void)state;
	fixture.agents[3].capability_mask2 = 0;
	fixture.agents[3].counters[1].xmit_data = 1ull << 40;
	fixture.agents[3].counters[1].symbol_error = 3;
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.agents[3].get_count, 2);
	assert_int_equal(fixture.agents[3].set_count, 0);
	assert_int_equal(perf_fixture_port(&fixture, 3, 1)->history.last.values[PERF_XMIT_DATA],
			 1ull << 40);
	assert_int_equal(perf_fixture_port(&fixture, 3, 1)->history.errors, 3);
}

static void test_an_answer_for_another_port_is_not_taken(void **state)
{
	(void)state;
	fixture.agents[4].names_wrong_port = true;
	fixture.agents[4].counters[1].xmit_data = 999;
	perf_fixture_sweep(&fixture);
	assert_int_equal(perf_fixture_port(&fixture, 4, 1)->history.reading_count, 0);
	assert_int_equal(fixture.manager.last.failed_count, 1);
	assert_true(perf_fixture_has_event(&fixture, PERF_EVENT_BAD_ANSWER, "node 140:1"));
	fixture.agents[4].names_wrong_port = false;
	perf_fixture_sweep(&fixture);
	assert_int_equal(perf_fixture_port(&fixture, 4, 1)->history.reading_count, 1);
}

static void test_a_busy_agent_is_asked_again(void **state)
{
	(void)state;
	fixture.agents[5].busy_left = 2; /* ClassPortInfo */
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 0);
	fixture.agents[5].busy_left = 9;
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 0);
	assert_int_equal(fixture.manager.last.read_count, PERF_FIXTURE_PORTS_ALL);
	fixture.agents[5].busy_left = 1000;
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 8);
}

static void test_a_silent_agent_costs_one_wait_and_one_event(void **state)
{
	time_ns before;

	(void)state;
	perf_fixture_sweep(&fixture);
	fixture.agents[6].is_silent = true;
	before = fixture.sa.now;
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 8);
	assert_true(fixture.sa.now - before <= SECONDS(2));
	assert_true(perf_fixture_has_event(&fixture, PERF_EVENT_SILENT, "node 210:"));

	uint64_t events = fixture.manager.events.count;

	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.events.count, events);
	assert_int_equal(fixture.manager.last.read_count, PERF_FIXTURE_PORTS_ALL - 8);
	fixture.agents[6].is_silent = false;
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.read_count, PERF_FIXTURE_PORTS_ALL);
}

static void test_an_agent_that_refuses_the_class_is_left_alone(void **state)
{
	(void)state;
	fixture.agents[7].refusal = MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 1);
	assert_int_equal(perf_fixture_port(&fixture, 7, 1)->node->agent, PERF_AGENT_ABSENT);
	fixture.agents[7].refusal = 0;
	perf_fixture_pass_time(&fixture, SECONDS(120)); /* The tables are read again. */
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 0);
}

static void test_redirection_is_followed_by_lid_and_by_gid(void **state)
{
	(void)state;
	fixture.agents[3].redirect_lid = 4;
	fixture.agents[2].redirect_guid = fixture_port(&fixture.sa, 4)->guid;
	fixture.agents[4].counters[1].xmit_data = 4242;
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 0);
	assert_int_equal(perf_fixture_port(&fixture, 3, 1)->history.last.values[PERF_XMIT_DATA],
			 4242);
	assert_int_equal(perf_fixture_port(&fixture, 2, 1)->history.last.values[PERF_XMIT_DATA],
			 4242);
	assert_int_equal(fixture.agents[3].get_count, 0);
	assert_int_equal(fixture.agents[4].get_count, 3);
}

static void test_redirection_that_begins_or_ends_later_is_followed(void **state)
{
	(void)state;
	perf_fixture_sweep(&fixture);
	fixture.agents[3].redirect_lid = 4;
	fixture.agents[4].counters[1].xmit_data = 1;
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 0);
	assert_int_equal(fixture.agents[3].get_count, 1);
	/* The place is gone: the agent is asked where it is. */
	fixture.agents[3].redirect_lid = 0;
	fixture.agents[4].is_silent = true;
	perf_fixture_sweep(&fixture);
	perf_fixture_sweep(&fixture);
	assert_int_equal(perf_fixture_port(&fixture, 3, 1)->is_failed, false);
}

static void test_redirection_in_a_circle_ends(void **state)
{
	(void)state;
	fixture.agents[3].redirect_lid = 4;
	fixture.agents[4].redirect_lid = 3;
	fixture.agents[2].redirect_guid = 0xdead; /* nobody's */
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 3);
	assert_int_equal(fixture.manager.last.read_count, PERF_FIXTURE_PORTS_ALL - 3);
}

static void test_clear_sets_all_ports_of_a_node_at_once(void **state)
{
	(void)state;
	fixture.agents[6].capability_mask &= (uint16_t)~PERFORMANCE_ALL_PORT_SELECT;
	fixture.agents[5].counters[2].xmit_data = 100;
	fixture.agents[6].counters[8].symbol_error = 100;
	perf_manager_ask_clear(&fixture.manager);
	perf_fixture_run(&fixture);
	assert_int_equal(fixture.agents[5].set_count, 1);
	assert_int_equal(fixture.agents[5].last_set_select, PORT_SELECT_ALL);
	assert_int_equal(fixture.agents[6].set_count, 8);
	assert_int_equal(fixture.agents[5].counters[2].xmit_data, 0);
	assert_int_equal(fixture.agents[6].counters[8].symbol_error, 0);
	assert_int_equal(perf_fixture_port(&fixture, 6, 8)->history.errors, 0);
	/* The next sweep clears nothing. */
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.agents[5].set_count, 1);
	assert_int_equal(perf_fixture_port(&fixture, 5, 2)->history.clear_count, 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_counters_of_every_port_are_read),
		TEST(test_basic_agent_gets_port_counters_only),
		TEST(test_extended_agent_without_errors_gets_both),
		TEST(test_an_answer_for_another_port_is_not_taken),
		TEST(test_a_busy_agent_is_asked_again),
		TEST(test_a_silent_agent_costs_one_wait_and_one_event),
		TEST(test_an_agent_that_refuses_the_class_is_left_alone),
		TEST(test_redirection_is_followed_by_lid_and_by_gid),
		TEST(test_redirection_that_begins_or_ends_later_is_followed),
		TEST(test_redirection_in_a_circle_ends),
		TEST(test_clear_sets_all_ports_of_a_node_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
