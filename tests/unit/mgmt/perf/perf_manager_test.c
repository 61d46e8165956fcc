/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps: on demand, by interval, paced; the SA's tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>
#include "perf_fixture.h"

static struct perf_fixture fixture;

static int tear_down(void **state)
{
	(void)state;
	perf_fixture_stop(&fixture);
	return 0;
}

static void test_nothing_is_sent_until_somebody_asks(void **state)
{
	struct mad_message message;

	(void)state;
	perf_fixture_start(&fixture, NULL);
	assert_int_equal(perf_manager_transmit(&fixture.manager, fixture.sa.now, 1, &message), 0);
	assert_true(perf_manager_deadline(&fixture.manager) == TIME_NEVER);
	assert_true(perf_manager_is_idle(&fixture.manager));
	assert_int_equal(perf_manager_next_sweep(&fixture.manager), 1);
}

static void test_tables_are_read_once_until_they_are_old(void **state)
{
	(void)state;
	perf_fixture_start(&fixture, NULL);
	perf_fixture_sweep(&fixture);
	assert_true(fixture.manager.last.has_tables);
	assert_int_equal(fixture.manager.nodes.node_count, 7);
	perf_fixture_sweep(&fixture);
	assert_false(fixture.manager.last.has_tables);
	assert_int_equal(fixture.manager.last.mad_count, PERF_FIXTURE_PORTS_ALL);
	perf_fixture_pass_time(&fixture, SECONDS(61));
	perf_fixture_sweep(&fixture);
	assert_true(fixture.manager.last.has_tables);
	assert_int_equal(perf_fixture_port(&fixture, 3, 1)->history.reading_count, 3);
}

static void test_a_node_that_went_away_is_forgotten(void **state)
{
	(void)state;
	perf_fixture_start(&fixture, NULL);
	perf_fixture_sweep(&fixture);
	fixture.agents[3].is_silent = true;
	fixture_sweep_without(&fixture.sa, 3);
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 1);
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.failed_count, 0);
	assert_int_equal(fixture.manager.nodes.node_count, 6);
}

static void test_without_an_sa_the_sweep_ends_with_an_error(void **state)
{
	(void)state;
	perf_fixture_start(&fixture, NULL);
	fixture.sa_is_silent = true;
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.error, -EHOSTUNREACH);
	perf_manager_set_port(&fixture.manager, &(struct perf_own_port){.sm_lid = 0});
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.error, -EHOSTUNREACH);
}

static void test_a_silent_sa_leaves_the_known_ports(void **state)
{
	(void)state;
	perf_fixture_start(&fixture, NULL);
	perf_fixture_sweep(&fixture);
	fixture.sa_is_silent = true;
	perf_fixture_pass_time(&fixture, SECONDS(61));
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.error, 0);
	assert_int_equal(fixture.manager.last.read_count, PERF_FIXTURE_PORTS_ALL);
}

static void test_requests_under_way_are_bounded(void **state)
{
	const struct perf_options options = {.requests_max = 4};

	(void)state;
	perf_fixture_start(&fixture, &options);
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.read_count, PERF_FIXTURE_PORTS_ALL);
	assert_true(fixture.under_way_max <= 4);
}

static void test_sweeps_come_by_interval(void **state)
{
	const struct perf_options options = {.interval = SECONDS(10)};
	time_ns begin;

	(void)state;
	perf_fixture_start(&fixture, &options);
	begin = fixture.sa.now;
	for (unsigned i = 0; i < 200 && fixture.manager.last.number < 3; i++) {
		time_ns deadline = perf_manager_deadline(&fixture.manager);

		if (deadline > fixture.sa.now)
			fixture.sa.now = deadline;
		perf_fixture_run(&fixture);
	}
	assert_int_equal(fixture.manager.last.number, 3);
	assert_true(fixture.sa.now >= begin + SECONDS(20));
	assert_true(fixture.manager.last.is_paced);
	assert_true(perf_manager_deadline(&fixture.manager) ==
		    fixture.manager.last.began_at + SECONDS(10));
}

static void test_a_paced_sweep_takes_its_time(void **state)
{
	const struct perf_options options = {.interval = SECONDS(1000), .ports_per_second = 10};
	struct mad_message message;
	time_ns begin;

	(void)state;
	perf_fixture_start(&fixture, &options);
	begin = fixture.sa.now;
	assert_int_equal(perf_manager_transmit(&fixture.manager, begin, 1, &message), 1);
	/* As if 320 ports more than the first burst had been asked. */
	fixture.manager.current.asked_count = 1024 + 320;
	perf_fixture_run(&fixture);
	assert_int_equal(fixture.manager.last.read_count, PERF_FIXTURE_PORTS_ALL);
	assert_true(fixture.sa.now - begin >= SECONDS(32));
	assert_true(fixture.sa.now - begin < SECONDS(40));
}

static void test_an_asked_sweep_is_not_paced_and_ends_a_pace(void **state)
{
	(void)state;
	perf_fixture_start(&fixture, NULL);
	perf_fixture_sweep(&fixture);
	assert_false(fixture.manager.last.is_paced);
	fixture.manager.current.is_paced = true;
	perf_manager_ask_sweep(&fixture.manager);
	assert_false(fixture.manager.current.is_paced);
}

static void test_a_question_during_a_sweep_waits_for_the_next_one(void **state)
{
	struct mad_message message;

	(void)state;
	perf_fixture_start(&fixture, NULL);
	perf_manager_ask_sweep(&fixture.manager);
	assert_int_equal(perf_manager_next_sweep(&fixture.manager), 1);
	assert_int_equal(perf_manager_transmit(&fixture.manager, fixture.sa.now, 1, &message), 1);
	/* That request is lost: the SA's client repeats it. */
	assert_int_equal(perf_manager_next_sweep(&fixture.manager), 2);
	perf_manager_ask_sweep(&fixture.manager);
	perf_fixture_run(&fixture);
	assert_int_equal(fixture.manager.last.number, 2);
}

static void test_foreign_and_late_messages_change_nothing(void **state)
{
	struct mad_message message = {.bytes = {1, MAD_CLASS_PERFORMANCE, 1, 0x81}};

	(void)state;
	perf_fixture_start(&fixture, NULL);
	perf_fixture_sweep(&fixture);
	perf_manager_receive(&fixture.manager, fixture.sa.now, &message);
	message.bytes[MAD_CLASS_OFFSET] = MAD_CLASS_BASEBOARD;
	perf_manager_receive(&fixture.manager, fixture.sa.now, &message);
	message.bytes[MAD_CLASS_OFFSET] = MAD_CLASS_SUBNET_ADMINISTRATION;
	perf_manager_receive(&fixture.manager, fixture.sa.now, &message);
	assert_true(perf_manager_is_idle(&fixture.manager));
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.read_count, PERF_FIXTURE_PORTS_ALL);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_teardown(function, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_nothing_is_sent_until_somebody_asks),
		TEST(test_tables_are_read_once_until_they_are_old),
		TEST(test_a_node_that_went_away_is_forgotten),
		TEST(test_without_an_sa_the_sweep_ends_with_an_error),
		TEST(test_a_silent_sa_leaves_the_known_ports),
		TEST(test_requests_under_way_are_bounded),
		TEST(test_sweeps_come_by_interval),
		TEST(test_a_paced_sweep_takes_its_time),
		TEST(test_an_asked_sweep_is_not_paced_and_ends_a_pace),
		TEST(test_a_question_during_a_sweep_waits_for_the_next_one),
		TEST(test_foreign_and_late_messages_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
