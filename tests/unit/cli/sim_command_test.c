/* SPDX-License-Identifier: Apache-2.0 */
/* softib sim: files and options in, a report or a line with the reason out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/subcommand.h"

enum { OUTPUT_BYTES = 65536 };

static const char scenario_text[] = "topology star:2\n"
				    "duration 2ms\n"
				    "warmup 1ms\n"
				    "seed 5\n"
				    "flow a from h1 to h2 service rc size 4K\n";

static char folder[] = "/tmp/softib-sim-test-XXXXXX";
static char path[64], output[OUTPUT_BYTES], errors[OUTPUT_BYTES];
static const char *misuse;

int subcommand_help(const struct subcommand *self)
{
	puts(self->usage);
	return EXIT_SUCCESS;
}

int subcommand_misuse(const struct subcommand *self, const char *reason)
{
	(void)self;
	misuse = reason ? reason : "an option";
	return EXIT_USAGE;
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/a.scenario", folder);
	return 0;
}

static void write_text(const char *file_path, const char *text)
{
	FILE *file = fopen(file_path, "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static FILE *divert(int descriptor, int *ret_kept)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	*ret_kept = dup(descriptor);
	dup2(fileno(file), descriptor);
	return file;
}

static void restore(int descriptor, int kept, FILE *file, char ret_text[static OUTPUT_BYTES])
{
	dup2(kept, descriptor);
	close(kept);
	rewind(file);
	ret_text[fread(ret_text, 1, OUTPUT_BYTES - 1, file)] = '\0';
	fclose(file);
}

/* Runs it with these words, NULL at the end. */
static int run(const char *word, ...)
{
	char *arguments[16] = {(char *)"sim"};
	int argument_count = 1, kept_output, kept_errors, code;
	va_list words;

	va_start(words, word);
	for (; word; word = va_arg(words, const char *))
		arguments[argument_count++] = (char *)word;
	va_end(words);
	misuse = NULL;
	fflush(stdout);
	fflush(stderr);

	FILE *output_file = divert(STDOUT_FILENO, &kept_output);
	FILE *errors_file = divert(STDERR_FILENO, &kept_errors);

	optind = 0;
	code = subcommand_sim.run(&subcommand_sim, argument_count, arguments);
	fflush(stdout);
	fflush(stderr);
	restore(STDERR_FILENO, kept_errors, errors_file, errors);
	restore(STDOUT_FILENO, kept_output, output_file, output);
	return code;
}

static void test_same_scenario_gives_the_same_report(void **state)
{
	static char first[OUTPUT_BYTES];

	(void)state;
	write_text(path, scenario_text);
	assert_int_equal(run(path, NULL), EXIT_SUCCESS);
	assert_string_equal(errors, "");
	assert_non_null(strstr(output, "star:2: 2 hosts"));
	memcpy(first, output, sizeof(first));
	assert_int_equal(run(path, NULL), EXIT_SUCCESS);
	assert_string_equal(output, first);
	/* What the file says anyway changes nothing. */
	assert_int_equal(run("--seed", "5", "--until", "2ms", path, NULL), EXIT_SUCCESS);
	assert_string_equal(output, first);
}

static void test_json_is_json_of_the_same_run(void **state)
{
	(void)state;
	write_text(path, scenario_text);
	assert_int_equal(run("-j", path, NULL), EXIT_SUCCESS);
	assert_int_equal(output[0], '{');
	assert_non_null(strstr(output, "\"flows\""));
}

static void test_options_replace_what_the_scenario_says(void **state)
{
	(void)state;
	write_text(path, scenario_text);
	assert_int_equal(run("-s", "77", "-u", "3ms", path, NULL), EXIT_SUCCESS);
	assert_non_null(strstr(output, "seed 77"));
	/* A shorter time than the warm-up leaves nothing to report. */
	assert_int_equal(run("-u", "1ms", path, NULL), EXIT_FAILURE);
	assert_non_null(strstr(errors, "warm-up"));
}

static void test_error_names_file_line_and_reason(void **state)
{
	char place[80];

	(void)state;
	write_text(path, "topology star:2\nduration 2ms\nfrobnicate\n");
	snprintf(place, sizeof(place), "softib sim: %s:3: ", path);
	assert_int_equal(run(path, NULL), EXIT_FAILURE);
	assert_non_null(strstr(errors, place));
	assert_string_equal(output, "");
}

static void test_topology_file_is_looked_for_beside_the_scenario(void **state)
{
	char missing[80];

	(void)state;
	write_text(path, "topology file none.topology\nduration 2ms\n");
	snprintf(missing, sizeof(missing), "%s/none.topology: No such file", folder);
	assert_int_equal(run(path, NULL), EXIT_FAILURE);
	assert_non_null(strstr(errors, missing));
}

static void test_file_that_is_not_there_is_named(void **state)
{
	(void)state;
	assert_int_equal(run("/nowhere/at.all", NULL), EXIT_FAILURE);
	assert_non_null(strstr(errors, "/nowhere/at.all: No such file"));
}

static void test_misuse_runs_nothing(void **state)
{
	(void)state;
	assert_int_equal(run(NULL), EXIT_USAGE);
	assert_string_equal(misuse, "name one scenario file");
	assert_int_equal(run("a", "b", NULL), EXIT_USAGE);
	assert_int_equal(run("-s", "many", "a", NULL), EXIT_USAGE);
	assert_string_equal(misuse, "--seed takes a number");
	assert_int_equal(run("-u", "soon", "a", NULL), EXIT_USAGE);
	assert_int_equal(run("-u", "0ms", "a", NULL), EXIT_USAGE);
	assert_string_equal(misuse, "--until takes a time such as 10ms or 1s");
	assert_int_equal(run("--help", NULL), EXIT_SUCCESS);
	assert_non_null(strstr(output, "Usage: softib sim"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_scenario_gives_the_same_report),
		cmocka_unit_test(test_json_is_json_of_the_same_run),
		cmocka_unit_test(test_options_replace_what_the_scenario_says),
		cmocka_unit_test(test_error_names_file_line_and_reason),
		cmocka_unit_test(test_topology_file_is_looked_for_beside_the_scenario),
		cmocka_unit_test(test_file_that_is_not_there_is_named),
		cmocka_unit_test(test_misuse_runs_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
