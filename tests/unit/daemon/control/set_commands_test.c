/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of "softib get" and "softib set". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "net/node/node.h"
#include "unit/daemon/daemon_fixture.h"

static int tool;

static int set_up(void **state)
{
	(void)state;
	fixture_start("ring:3");
	tool = fixture_connect();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(tool);
	fixture_stop();
	return 0;
}

static int errno_of(const char *request)
{
	json_t *answer = fixture_ask(tool, "%s", request);
	int error = (int)json_integer_value(json_object_get(answer, "errno"));

	assert_true(json_is_false(json_object_get(answer, "ok")));
	json_decref(answer);
	return error;
}

static void test_port_info_is_shown_by_its_fields(void **state)
{
	(void)state;
	json_t *answer = fixture_ask(
		tool, "{\"command\":\"get\",\"node\":\"h2\",\"attribute\":\"port_info\"}");
	const json_t *fields = json_object_get(answer, "fields");

	assert_int_equal(json_integer_value(json_object_get(fields, "lid")),
			 fixture_port("h2")->info.lid);
	assert_string_equal(json_string_value(json_object_get(fields, "gid_prefix")),
			    "0xfe80000000000000");
	json_decref(answer);
}

static void test_long_table_comes_in_parts(void **state)
{
	(void)state;
	json_t *answer =
		fixture_ask(tool, "{\"command\":\"get\",\"node\":\"s1\",\"attribute\":\"lft\"}");

	assert_int_equal(json_integer_value(json_object_get(answer, "count")), LFT_ENTRIES);
	assert_int_equal(json_array_size(json_object_get(answer, "entries")), 1024);
	assert_int_equal(json_integer_value(json_object_get(answer, "next")), 1024);
	json_decref(answer);
	answer = fixture_ask(
		tool, "{\"command\":\"get\",\"node\":\"s1\",\"attribute\":\"lft\",\"from\":48640}");
	assert_int_equal(json_array_size(json_object_get(answer, "entries")), 512);
	assert_null(json_object_get(answer, "next"));
	json_decref(answer);
}

static void test_set_changes_the_port(void **state)
{
	(void)state;
	fixture_order(tool, "{\"command\":\"set\",\"node\":\"h1\",\"field\":\"symbol_error\","
			    "\"value\":\"12\"}");
	assert_int_equal(fixture_port("h1")->counters.symbol_errors, 12);
	fixture_order(tool, "{\"command\":\"set\",\"node\":\"h1\",\"port\":1,"
			    "\"field\":\"description\",\"value\":\"box\"}");
	assert_string_equal(fixture_port("h1")->node->description, "box");
}

static void test_bad_questions_get_reasons(void **state)
{
	(void)state;
	assert_int_equal(errno_of("{\"command\":\"get\",\"node\":\"h9\",\"attribute\":\"x\"}"),
			 ENOENT);
	assert_int_equal(errno_of("{\"command\":\"get\",\"attribute\":\"x\"}"), ENOENT);
	assert_int_equal(errno_of("{\"command\":\"get\",\"node\":\"h1\",\"attribute\":\"x\"}"),
			 ENOENT);
	assert_int_equal(errno_of("{\"command\":\"get\",\"node\":\"h1\"}"), ENOENT);
	assert_int_equal(
		errno_of("{\"command\":\"get\",\"node\":\"h1\",\"port\":7,\"attribute\":\"lft\"}"),
		ENOENT);
	assert_int_equal(errno_of("{\"command\":\"set\",\"node\":\"h1\"}"), EINVAL);
	assert_int_equal(
		errno_of("{\"command\":\"set\",\"node\":\"h1\",\"field\":\"lid\",\"value\":\"x\"}"),
		EINVAL);
	assert_int_equal(errno_of("{\"command\":\"set\",\"node\":\"h1\",\"field\":\"lid\","
				  "\"value\":\"0xffff\"}"),
			 ERANGE);
	assert_int_equal(errno_of("{\"command\":\"set\",\"node\":\"h1\",\"field\":\"node_type\","
				  "\"value\":\"2\"}"),
			 EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_port_info_is_shown_by_its_fields, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_long_table_comes_in_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_set_changes_the_port, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_questions_get_reasons, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
