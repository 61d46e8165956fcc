/* SPDX-License-Identifier: Apache-2.0 */
/* softib get and set: what they ask of a fabric, and what they print of its answers.
 * Covers: cli/answer_pages.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/attributes.h"
#include "cli/fabric_client.h"
#include "cli/fabric_options.h"
#include "cli/subcommand.h"

enum { REQUESTS_MAX = 8, OUTPUT_BYTES = 4096 };

/* The fabric: the test's answers, and the requests that came. */
static struct {
	const char *answers[REQUESTS_MAX]; /* NULL: refused */
	char *requests[REQUESTS_MAX];
	unsigned request_count;
	const char *fabric;
	const char *misuse;
	bool is_down;
} world;

int fabric_client_open(const char *fabric)
{
	world.fabric = fabric;
	return world.is_down ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

json_t *fabric_client_ask(int socket, json_t *request, int timeout_ms)
{
	const char *answer = world.answers[world.request_count];

	assert_true(socket >= 0);
	assert_int_equal(timeout_ms, ANSWER_TIMEOUT_MS);
	assert_true(world.request_count < REQUESTS_MAX);
	world.requests[world.request_count++] = json_dumps(request, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(request);
	return answer ? json_loads(answer, 0, NULL) : NULL;
}

/* Only for commands without arguments, which these two are not. */
json_t *fabric_ask(const char *fabric, json_t *request)
{
	(void)fabric;
	json_decref(request);
	return NULL;
}

const char *fabric_name_or_default(const char *name)
{
	return name ? name : "default";
}

void print_json(const json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);

	puts(text);
	free(text);
}

int subcommand_help(const struct subcommand *self)
{
	puts(self->usage);
	return EXIT_SUCCESS;
}

int subcommand_misuse(const struct subcommand *self, const char *reason)
{
	(void)self;
	world.misuse = reason ? reason : "an option";
	return EXIT_USAGE;
}

static int tear_down(void **state)
{
	(void)state;
	for (unsigned i = 0; i < world.request_count; i++)
		free(world.requests[i]);
	memset(&world, 0, sizeof(world));
	return 0;
}

/* Runs it with these words, NULL at the end; what it prints is in output. */
static char output[OUTPUT_BYTES];

static int run(const struct subcommand *subcommand, ...)
{
	char *arguments[16] = {(char *)subcommand->name};
	int argument_count = 1, code;
	va_list words;

	va_start(words, subcommand);
	for (char *word; (word = va_arg(words, char *));)
		arguments[argument_count++] = word;
	va_end(words);

	FILE *file = tmpfile();
	int kept = dup(STDOUT_FILENO);

	assert_non_null(file);
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	optind = 0;
	code = subcommand->run(subcommand, argument_count, arguments);
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	rewind(file);
	output[fread(output, 1, sizeof(output) - 1, file)] = '\0';
	fclose(file);
	return code;
}

static void test_get_asks_for_an_attribute_and_prints_its_fields(void **state)
{
	(void)state;
	world.answers[0] = "{\"ok\": true, \"fields\": {\"lid\": 7, \"mkey\": \"0x12\"}}";
	assert_int_equal(run(&subcommand_get, "h1", "port_info", NULL), EXIT_SUCCESS);
	assert_int_equal(world.request_count, 1);
	assert_string_equal(
		world.requests[0],
		"{\"attribute\":\"port_info\",\"command\":\"get\",\"from\":0,\"node\":\"h1\"}");
	assert_string_equal(output, "lid                                7\n"
				    "mkey                               0x12\n");
}

static void test_get_names_port_and_fabric(void **state)
{
	(void)state;
	world.answers[0] = "{\"ok\": true, \"fields\": {}}";
	assert_int_equal(run(&subcommand_get, "s1:0", "port_info", "-n", "other", NULL),
			 EXIT_SUCCESS);
	assert_string_equal(world.fabric, "other");
	assert_non_null(strstr(world.requests[0], "\"node\":\"s1\",\"port\":0}"));
	assert_string_equal(output, "");
}

/* A long table comes in pages; unused entries are not shown. */
static void test_get_puts_the_parts_of_a_table_together(void **state)
{
	(void)state;
	world.answers[0] = "{\"ok\": true, \"entries\": [255, 3], \"next\": 2}";
	world.answers[1] = "{\"ok\": true, \"entries\": [255, 0], \"next\": 4}";
	world.answers[2] = "{\"ok\": true, \"entries\": [9]}";
	assert_int_equal(run(&subcommand_get, "s1", "lft", NULL), EXIT_SUCCESS);
	assert_int_equal(world.request_count, 3);
	assert_non_null(strstr(world.requests[1], "\"from\":2"));
	assert_non_null(strstr(world.requests[2], "\"from\":4"));
	assert_string_equal(output, "lft[1]                             3\n"
				    "lft[3]                             0\n"
				    "lft[4]                             9\n");
}

/* 255 means no route in one table only; an unused key is 0x0. */
static void test_get_leaves_out_what_is_empty_by_the_kind_of_table(void **state)
{
	(void)state;
	world.answers[0] = "{\"ok\": true, \"entries\": [255, 1]}";
	assert_int_equal(run(&subcommand_get, "s1", "vl_low", NULL), EXIT_SUCCESS);
	assert_non_null(strstr(output, "vl_low[0]                          255\n"));
	world.answers[1] = "{\"ok\": true, \"entries\": [\"0xffff\", \"0x0\", \"0x8001\"]}";
	assert_int_equal(run(&subcommand_get, "h1", "pkeys", NULL), EXIT_SUCCESS);
	assert_null(strstr(output, "pkeys[1]"));
	assert_non_null(strstr(output, "pkeys[2]                           0x8001\n"));
}

static void test_get_prints_json_without_what_is_between_the_programs(void **state)
{
	(void)state;
	world.answers[0] = "{\"ok\": true, \"entries\": [1], \"next\": 1}";
	world.answers[1] = "{\"ok\": true, \"entries\": [2]}";
	assert_int_equal(run(&subcommand_get, "s1", "lft", "--json", NULL), EXIT_SUCCESS);
	assert_string_equal(output, "{\"entries\":[1,2]}\n");
	world.answers[2] = "{\"ok\": true, \"fields\": {}}";
	assert_int_equal(run(&subcommand_get, "s1", "node_info", "-j", NULL), EXIT_SUCCESS);
	assert_string_equal(output, "{\"fields\":{}}\n");
}

/* An answer that points back to itself must not be followed for ever. */
static void test_get_ends_when_the_next_part_is_no_further(void **state)
{
	(void)state;
	world.answers[0] = "{\"ok\": true, \"entries\": [1], \"next\": 0}";
	assert_int_equal(run(&subcommand_get, "s1", "lft", NULL), EXIT_SUCCESS);
	assert_int_equal(world.request_count, 1);
}

static void test_get_fails_in_the_middle_of_a_table(void **state)
{
	(void)state;
	world.answers[0] = "{\"ok\": true, \"entries\": [1], \"next\": 1}";
	assert_int_equal(run(&subcommand_get, "s1", "lft", NULL), EXIT_FAILURE);
	assert_int_equal(world.request_count, 2);
	assert_string_equal(output, "");
}

static void test_set_sends_one_request_per_assignment_in_order(void **state)
{
	(void)state;
	world.answers[0] = world.answers[1] = "{\"ok\": true}";
	assert_int_equal(run(&subcommand_set, "h1:1", "port_info.lid=9", "description=a=b", NULL),
			 EXIT_SUCCESS);
	assert_int_equal(world.request_count, 2);
	assert_string_equal(world.requests[0],
			    "{\"command\":\"set\",\"field\":\"port_info.lid\",\"node\":\"h1\","
			    "\"port\":1,\"value\":\"9\"}");
	assert_non_null(strstr(world.requests[1], "\"field\":\"description\""));
	assert_non_null(strstr(world.requests[1], "\"value\":\"a=b\""));
}

static void test_set_ends_at_the_first_refusal(void **state)
{
	(void)state;
	world.answers[1] = "{\"ok\": true}";
	assert_int_equal(run(&subcommand_set, "h1", "lid=9", "lmc=1", NULL), EXIT_FAILURE);
	assert_int_equal(world.request_count, 1);
}

static void test_misuse_is_said_before_anybody_is_asked(void **state)
{
	char long_field[200] = {0};

	(void)state;
	memset(long_field, 'x', sizeof(long_field) - 3);
	memcpy(long_field + sizeof(long_field) - 3, "=1", 2);
	assert_int_equal(run(&subcommand_get, "h1", NULL), EXIT_USAGE);
	assert_string_equal(world.misuse, "name a node and an attribute");
	assert_int_equal(run(&subcommand_get, "h1:300", "port_info", NULL), EXIT_USAGE);
	assert_int_equal(run(&subcommand_set, "h1", NULL), EXIT_USAGE);
	assert_int_equal(run(&subcommand_set, "h1:x", "lid=1", NULL), EXIT_USAGE);
	assert_int_equal(run(&subcommand_set, "h1", "lid", NULL), EXIT_USAGE);
	assert_string_equal(world.misuse, "write FIELD=VALUE");
	assert_int_equal(run(&subcommand_set, "h1", "=1", NULL), EXIT_USAGE);
	assert_int_equal(run(&subcommand_set, "h1", long_field, NULL), EXIT_USAGE);
	assert_int_equal(world.request_count, 0);
}

static void test_no_fabric_is_a_failure(void **state)
{
	(void)state;
	world.is_down = true;
	assert_int_equal(run(&subcommand_get, "h1", "port_info", NULL), EXIT_FAILURE);
	assert_int_equal(run(&subcommand_set, "h1", "lid=1", NULL), EXIT_FAILURE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_teardown(function, tear_down)
		TEST(test_get_asks_for_an_attribute_and_prints_its_fields),
		TEST(test_get_names_port_and_fabric),
		TEST(test_get_puts_the_parts_of_a_table_together),
		TEST(test_get_leaves_out_what_is_empty_by_the_kind_of_table),
		TEST(test_get_prints_json_without_what_is_between_the_programs),
		TEST(test_get_ends_when_the_next_part_is_no_further),
		TEST(test_get_fails_in_the_middle_of_a_table),
		TEST(test_set_sends_one_request_per_assignment_in_order),
		TEST(test_set_ends_at_the_first_refusal),
		TEST(test_misuse_is_said_before_anybody_is_asked),
		TEST(test_no_fabric_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
