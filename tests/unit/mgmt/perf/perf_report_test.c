/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: every part is well formed, sorted and paged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>
#include "mgmt/perf/perf_report.h"
#include "perf_fixture.h"

static struct perf_fixture fixture;
/* The second one is given to a report to cover twice the same. */
static const struct perf_manager *const managers[] = {&fixture.manager, &fixture.manager};
static uint32_t subnet_count;
static json_t *report;

static int set_up(void **state)
{
	(void)state;
	subnet_count = 1;
	perf_fixture_start(&fixture, NULL);
	fixture.manager.options.thresholds = perf_thresholds_default;
	perf_fixture_sweep(&fixture);
	perf_fixture_pass_time(&fixture, SECONDS(1));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	json_decref(report);
	report = NULL;
	perf_fixture_stop(&fixture);
	return 0;
}

static json_t *write_part(const char *name, uint32_t from, uint32_t count, uint32_t top)
{
	const struct perf_report_range range = {.from = from, .count = count, .top = top};
	const struct perf_subnets subnets = {.managers = managers, .count = subnet_count};
	enum perf_report_part part;
	char *text = NULL;
	size_t byte_count;
	FILE *file = open_memstream(&text, &byte_count);

	assert_true(perf_report_part_find(name, &part));
	assert_int_equal(perf_report_write(&subnets, fixture.sa.now, part, &range, file), 0);
	fclose(file);
	json_decref(report);
	report = json_loadb(text, byte_count, 0, NULL);
	free(text);
	assert_non_null(report);
	return json_object_get(report, "rows");
}

static const char *text_at(const json_t *rows, size_t index, const char *key)
{
	return json_string_value(json_object_get(json_array_get(rows, index), key));
}

static void test_summary_has_totals(void **state)
{
	(void)state;
	fixture.agents[1].counters[1].xmit_data = 250;
	fixture.agents[5].counters[1].rcv_data = 250;
	fixture.agents[5].counters[3].symbol_error = 4;
	perf_fixture_sweep(&fixture);
	write_part("summary", 0, 0, 0);
	assert_int_equal(json_integer_value(json_object_get(report, "host_xmit_bytes")), 1000);
	assert_int_equal(json_integer_value(json_object_get(report, "errors")), 4);
	assert_int_equal(json_integer_value(json_object_get(report, "ports_with_errors")), 1);
	assert_int_equal(json_integer_value(json_object_get(report, "ports")),
			 PERF_FIXTURE_PORTS_ALL);
	assert_int_equal(json_integer_value(json_object_get(report, "links")), 6);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(report, "sweep"), "ports_read")),
		PERF_FIXTURE_PORTS_ALL);
	write_part("sweep", 0, 0, 0);
	assert_int_equal(json_object_size(report), 1);
}

static void test_links_are_sorted_by_rate(void **state)
{
	(void)state;
	fixture.agents[1].counters[1].xmit_data = 1000;
	fixture.agents[3].counters[1].xmit_data = 3000;
	fixture.agents[2].counters[1].xmit_data = 2000;
	perf_fixture_sweep(&fixture);

	json_t *rows = write_part("links", 0, 100, 2);

	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(text_at(rows, 0, "a"), "node 130:1");
	assert_string_equal(text_at(rows, 0, "b"), "node 210:3");
	assert_string_equal(text_at(rows, 1, "a"), "node 120:1");
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(json_array_get(rows, 0), "a_to_b"), "bytes")),
			 12000);
	assert_null(json_object_get(report, "next"));
	assert_int_equal(json_array_size(write_part("links", 0, 100, 0)), 0);
}

static void test_errors_name_the_counters(void **state)
{
	(void)state;
	fixture.agents[5].counters[3].symbol_error = 40;
	fixture.agents[6].counters[4].link_downed = 50;
	perf_fixture_sweep(&fixture);

	json_t *rows = write_part("errors", 0, 100, 10);

	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(text_at(rows, 0, "port"), "node 210:4");
	assert_string_equal(text_at(rows, 0, "peer"), "node 140:1");
	assert_int_equal(
		json_integer_value(json_object_get(
			json_object_get(json_array_get(rows, 0), "counters"), "link_downed")),
		50);
	assert_int_equal(json_object_size(json_object_get(json_array_get(rows, 0), "counters")), 1);

	rows = write_part("events", 0, 1, 0);
	assert_int_equal(json_array_size(rows), 1);
	assert_int_equal(json_integer_value(json_object_get(report, "next")), 1);
	assert_string_equal(text_at(rows, 0, "kind"), "errors");
}

static void test_ports_come_in_pages(void **state)
{
	json_t *rows = write_part("ports", 0, 16, 0);

	(void)state;
	assert_int_equal(json_array_size(rows), 16);
	assert_int_equal(json_integer_value(json_object_get(report, "next")), 16);
	assert_int_equal(json_object_size(json_object_get(json_array_get(rows, 0), "counters")),
			 PERF_COUNTER_COUNT);
	assert_int_equal(json_array_size(write_part("ports", 16, 16, 0)), 5);
	assert_null(json_object_get(report, "next"));
	assert_int_equal(json_array_size(write_part("ports", 5000, 16, 0)), 0);
	assert_null(json_object_get(report, "next"));
}

/* A report over several subnets: sums, one order, and pages that go from subnet to subnet. */
static void test_all_subnets_are_in_a_report(void **state)
{
	json_t *rows;

	(void)state;
	fixture.agents[5].counters[3].symbol_error = 40;
	fixture.agents[6].counters[4].link_downed = 50;
	perf_fixture_sweep(&fixture);
	perf_manager_ask_details(&fixture.manager, "node 110:1");
	perf_fixture_run(&fixture);
	subnet_count = 2;
	write_part("summary", 0, 0, 0);
	assert_int_equal(json_integer_value(json_object_get(report, "subnets")), 2);
	assert_int_equal(json_integer_value(json_object_get(report, "ports")),
			 2 * PERF_FIXTURE_PORTS_ALL);
	assert_int_equal(json_integer_value(json_object_get(report, "errors")), 2 * 90);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(report, "sweep"), "numbers")), 2);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(report, "sweep"), "number")), 3);

	rows = write_part("errors", 0, 100, 10);
	assert_int_equal(json_array_size(rows), 4);
	assert_string_equal(text_at(rows, 0, "port"), "node 210:4");
	assert_string_equal(text_at(rows, 1, "port"), "node 210:4");
	assert_string_equal(text_at(rows, 2, "port"), text_at(rows, 3, "port"));

	rows = write_part("events", 0, 100, 0);
	assert_int_equal(json_array_size(rows), 4);
	rows = write_part("events", 1, 2, 0);
	assert_int_equal(json_array_size(rows), 2);
	assert_int_equal(json_integer_value(json_object_get(report, "next")), 3);

	rows = write_part("ports", 16, 16, 0);
	assert_int_equal(json_array_size(rows), 16);
	assert_int_equal(json_integer_value(json_object_get(report, "next")), 32);

	const char *again = text_at(rows, PERF_FIXTURE_PORTS_ALL - 16, "port");

	assert_string_equal(again, "node 110:1");
	assert_int_equal(json_array_size(write_part("ports", 32, 16, 0)), 10);
	assert_null(json_object_get(report, "next"));
	assert_int_equal(json_array_size(write_part("ports", 99, 16, 0)), 0);
	write_part("details", 0, 0, 0);
	assert_true(json_is_true(json_object_get(report, "is_found")));
}

static void test_values_beyond_json_integers_stay_valid(void **state)
{
	(void)state;
	fixture.agents[1].counters[1].rcv_packets = UINT64_MAX;
	perf_fixture_sweep(&fixture);
	assert_int_equal(json_array_size(write_part("ports", 0, 100, 0)), PERF_FIXTURE_PORTS_ALL);
}

static void test_text_is_escaped(void **state)
{
	char *text = NULL;
	size_t byte_count;
	FILE *file = open_memstream(&text, &byte_count);
	enum perf_report_part part;

	(void)state;
	perf_report_write_text("a\"b\\c", file);
	fclose(file);
	assert_string_equal(text, "\"a\\\"b\\\\c\"");
	free(text);
	assert_false(perf_report_part_find("nothing", &part));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_summary_has_totals),
		TEST(test_links_are_sorted_by_rate),
		TEST(test_errors_name_the_counters),
		TEST(test_ports_come_in_pages),
		TEST(test_all_subnets_are_in_a_report),
		TEST(test_values_beyond_json_integers_stay_valid),
		TEST(test_text_is_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
