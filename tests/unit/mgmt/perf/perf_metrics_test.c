/* SPDX-License-Identifier: Apache-2.0 */
/* The text format of Prometheus, read by a strict parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/perf/perf_metrics.h"
#include "perf_fixture.h"

enum { NAME_BYTES = 128 };

static struct perf_fixture fixture;
static char *text;

static int set_up(void **state)
{
	size_t byte_count;
	FILE *file;

	(void)state;
	perf_fixture_start(&fixture, NULL);
	fixture.agents[1].counters[1].xmit_data = 1000;
	fixture.agents[5].counters[1].symbol_error = 3;
	fixture.agents[4].is_silent = true;
	perf_fixture_sweep(&fixture);
	snprintf(perf_fixture_port(&fixture, 3, 1)->node->name, PERF_NAME_BYTES, "a\"b\\c");
	snprintf(perf_fixture_port(&fixture, 2, 1)->node->name, PERF_NAME_BYTES, "h2/1");
	file = open_memstream(&text, &byte_count);
	perf_metrics_write(&fixture.manager, file);
	fclose(file);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(text);
	perf_fixture_stop(&fixture);
	return 0;
}

static size_t name_length(const char *at)
{
	return strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
}

/* Returns the place after {label="value",...}. */
static const char *skip_labels(const char *at)
{
	if (*at != '{')
		return at;
	do {
		at++;
		assert_true(name_length(at) > 0);
		at += name_length(at);
		assert_memory_equal(at, "=\"", 2);
		for (at += 2; *at != '"'; at++) {
			assert_true(*at && *at != '\n');
			if (*at == '\\') {
				at++;
				assert_true(*at == '\\' || *at == '"' || *at == 'n');
			}
		}
		at++;
	} while (*at == ',');
	assert_int_equal(*at, '}');
	return at + 1;
}

static void test_every_line_is_a_sample_of_the_metric_above(void **state)
{
	char name[NAME_BYTES] = "";
	bool has_type = false;
	unsigned sample_count = 0;

	(void)state;
	for (const char *line = text; *line;) {
		const char *end = strchr(line, '\n');
		size_t length;
		char *after;

		assert_non_null(end);
		if (strncmp(line, "# HELP ", 7) == 0) {
			length = name_length(line + 7);
			snprintf(name, sizeof(name), "%.*s", (int)length, line + 7);
			assert_int_equal(line[7 + length], ' ');
			has_type = false;
		} else if (strncmp(line, "# TYPE ", 7) == 0) {
			length = name_length(line + 7);
			assert_int_equal(length, strlen(name));
			assert_memory_equal(line + 7, name, length);
			assert_true(strncmp(line + 7 + length, " counter\n", 9) == 0 ||
				    strncmp(line + 7 + length, " gauge\n", 7) == 0);
			/* Names of counters end in _total. */
			if (line[8 + length] == 'c')
				assert_string_equal(name + length - 6, "_total");
			has_type = true;
		} else {
			assert_true(has_type);
			length = name_length(line);
			assert_int_equal(length, strlen(name));
			assert_memory_equal(line, name, length);

			const char *value = skip_labels(line + length);

			assert_int_equal(*value, ' ');
			strtod(value + 1, &after);
			assert_ptr_equal(after, end);
			sample_count++;
		}
		line = end + 1;
	}
	assert_true(sample_count > 400);
}

static void test_no_metric_is_described_twice(void **state)
{
	(void)state;
	for (const char *line = strstr(text, "# TYPE "); line; line = strstr(line, "# TYPE ")) {
		char head[NAME_BYTES];

		snprintf(head, sizeof(head), "# TYPE %.*s ", (int)name_length(line + 7), line + 7);
		line += 7;
		assert_null(strstr(line, head));
	}
}

static void test_names_labels_and_units_are_those_of_the_exporters(void **state)
{
	(void)state;
	assert_non_null(strstr(text, "\ninfiniband_hca_port_transmit_data_bytes_total{guid="
				     "\"0x0000000000000110\",port=\"1\"} 4000\n"));
	assert_non_null(strstr(text, "\nnode_infiniband_port_data_transmitted_bytes_total{device="
				     "\"softib0\",host=\"node 110\",port=\"1\"} 4000\n"));
	assert_non_null(strstr(text, "\ninfiniband_switch_port_symbol_error_total{guid="
				     "\"0x0000000000000200\",port=\"1\"} 3\n"));
	assert_non_null(strstr(text, "\nnode_infiniband_rate_bytes_per_second{device=\"softib1\","
				     "host=\"h2\",port=\"1\"} 12500000000\n"));
	assert_non_null(strstr(text, "hca=\"a\\\"b\\\\c\""));
	assert_non_null(strstr(text, "uplink_guid=\"0x0000000000000200\",uplink_type=\"SW\","
				     "uplink_port=\"1\",uplink_lid=\"5\"} 1\n"));
	assert_non_null(strstr(text, "\nsoftib_perf_ports_failed 1\n"));
}

static void test_ports_that_were_never_read_have_no_counters(void **state)
{
	(void)state;
	assert_null(strstr(text, "infiniband_hca_port_transmit_data_bytes_total{guid="
				 "\"0x0000000000000140\""));
	assert_non_null(strstr(text, "infiniband_hca_info{guid=\"0x0000000000000140\""));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_every_line_is_a_sample_of_the_metric_above),
		TEST(test_no_metric_is_described_twice),
		TEST(test_names_labels_and_units_are_those_of_the_exporters),
		TEST(test_ports_that_were_never_read_have_no_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
