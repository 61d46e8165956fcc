/* SPDX-License-Identifier: Apache-2.0 */
/* Reports: the same seed gives the same bytes, another seed different ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "sim/experiment_report.h"
#include "support/scenario_run.h"

static char *report_of(uint64_t seed, void (*write)(const struct experiment *, FILE *))
{
	struct scenario_run run;
	char text[300];
	char *bytes = NULL;
	size_t byte_count;
	FILE *file = open_memstream(&bytes, &byte_count);

	assert_non_null(file);
	snprintf(text, sizeof(text),
		 "topology fat-tree:4\nseed %llu\nduration 5ms\n"
		 "flow a from h1 to h9 service rc size 8K rate 2Gbit\n"
		 "flow \"b\\ from h2 to h16 service ud size 1K rate 1Gbit\n"
		 "at 0 fault s1:3 drop=0.02 duplicate=0.02\nat 0 fault s1:4 drop=0.02\n",
		 (unsigned long long)seed);
	run_scenario(&run, text);
	write(&run.experiment, file);
	fclose(file);
	end_scenario(&run);
	return bytes;
}

static void test_the_same_seed_gives_the_same_bytes(void **state)
{
	void (*const writers[])(const struct experiment *, FILE *) = {experiment_report_write_text,
								      experiment_report_write_json};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char *first = report_of(1, writers[i]), *again = report_of(1, writers[i]);
		char *other = report_of(2, writers[i]);

		assert_string_equal(first, again);
		assert_string_not_equal(first, other);
		free(first);
		free(again);
		free(other);
	}
}

static void test_names_are_escaped_in_json(void **state)
{
	char *report = report_of(1, experiment_report_write_json);

	(void)state;
	assert_non_null(strstr(report, "\"name\": \"\\\"b\\\\\""));
	free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_seed_gives_the_same_bytes),
		cmocka_unit_test(test_names_are_escaped_in_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
