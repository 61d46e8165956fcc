/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about I/O units: plug, pull, list, and what an ended program leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "mgmt/agents/io_unit.h"
#include "unit/daemon/daemon_fixture.h"

#define SRP_PROFILE                                                                                \
	"\"profile\":{\"io_class\":\"0x100\",\"io_subclass\":24734,\"protocol\":264,"              \
	"\"protocol_version\":1,\"id_string\":\"disk\"}"
#define SERVICE(id) "\"services\":[{\"name\":\"SRP.T10:0123456789abcdef\",\"id\":\"" id "\"}]"

static struct daemon *softibd;
static int tool;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:2+2");
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

static int errno_of(int socket, const char *request)
{
	json_t *answer = fixture_ask(socket, "%s", request);
	int error = (int)json_integer_value(json_object_get(answer, "errno"));

	assert_true(json_is_false(json_object_get(answer, "ok")));
	assert_non_null(json_object_get(answer, "error"));
	json_decref(answer);
	return error;
}

static const struct io_controller *controller_of(const char *host, unsigned slot)
{
	return io_unit_controller(
		io_unit_find(&softibd->core.fabric.agent_memory, fixture_port(host)->node), slot);
}

static void test_tool_plugs_and_pulls(void **state)
{
	json_t *answer = fixture_ask(tool, "{\"command\":\"io-plug\",\"node\":\"tca1\"," SRP_PROFILE
					   "," SERVICE("0x12") "}");

	(void)state;
	assert_true(json_is_true(json_object_get(answer, "ok")));
	assert_int_equal(json_integer_value(json_object_get(answer, "slot")), 1);
	json_decref(answer);
	assert_int_equal(controller_of("tca1", 1)->profile.io_class, 0x0100);
	assert_int_equal(controller_of("tca1", 1)->profile.service_entries, 1);
	assert_int_equal(controller_of("tca1", 1)->services[0].id, 0x12);
	assert_string_equal(controller_of("tca1", 1)->id_string, "disk");
	fixture_order(tool, "{\"command\":\"io-pull\",\"node\":\"tca1\",\"slot\":1}");
	assert_null(controller_of("tca1", 1));
	assert_int_equal(errno_of(tool, "{\"command\":\"io-pull\",\"node\":\"tca1\",\"slot\":1}"),
			 ENOENT);
}

/* The controller of a program is in its host's adapter, and goes with its connection. */
static void test_controller_ends_with_its_program(void **state)
{
	struct program program;

	(void)state;
	program_start(&program, "h2");
	fixture_order(program.socket, "{\"command\":\"io-plug\",\"slot\":3}");
	fixture_order(tool, "{\"command\":\"io-plug\",\"node\":\"h2\",\"slot\":4}");
	assert_non_null(controller_of("h2", 3));
	assert_true(fixture_port("h2")->info.capability_mask & CAPABILITY_DEVICE_MANAGEMENT);
	program_end(&program);
	fixture_settle();
	assert_null(controller_of("h2", 3));
	assert_non_null(controller_of("h2", 4));
	fixture_order(tool, "{\"command\":\"io-pull\",\"node\":\"h2\",\"slot\":4}");
	assert_false(fixture_port("h2")->info.capability_mask & CAPABILITY_DEVICE_MANAGEMENT);
}

static void test_only_its_owner_or_an_operator_pulls_a_controller(void **state)
{
	struct program owner, other;

	(void)state;
	program_start(&owner, "h2");
	program_start(&other, "h2");
	fixture_order(owner.socket,
		      "{\"command\":\"io-plug\"," SRP_PROFILE "," SERVICE("0x12") "}");
	assert_int_equal(errno_of(other.socket, "{\"command\":\"io-pull\",\"slot\":1}"), ENOENT);
	assert_int_equal(
		errno_of(other.socket, "{\"command\":\"io-pull\",\"node\":\"h2\",\"slot\":1}"),
		EPERM);
	assert_non_null(controller_of("h2", 1));
	fixture_order(owner.socket, "{\"command\":\"io-pull\",\"slot\":1}");
	fixture_order(owner.socket,
		      "{\"command\":\"io-plug\"," SRP_PROFILE "," SERVICE("0x12") "}");
	fixture_order(tool, "{\"command\":\"io-pull\",\"node\":\"h2\",\"slot\":1}");
	program_end(&owner);
	program_end(&other);
}

static void test_bad_descriptions_get_reasons(void **state)
{
	static const struct {
		int error;
		const char *request;
	} rows[] = {
		{ENODEV, "{\"command\":\"io-plug\"}"}, /* a tool has no adapter of its own */
		{ENODEV, "{\"command\":\"io-plug\",\"node\":\"nobody\"}"},
		{EINVAL, "{\"command\":\"io-plug\",\"node\":\"switch-1\"}"},
		{EINVAL, "{\"command\":\"io-plug\",\"node\":\"tca1\",\"slot\":300}"},
		{EINVAL, "{\"command\":\"io-plug\",\"node\":\"tca1\",\"slot\":17}"},
		{EINVAL, "{\"command\":\"io-plug\",\"node\":\"tca1\",\"profile\":{\"x\":1}}"},
		{EINVAL, "{\"command\":\"io-plug\",\"node\":\"tca1\",\"profile\":{\"io_class\":"
			 "65536}}"},
		{EINVAL, "{\"command\":\"io-plug\",\"node\":\"tca1\",\"profile\":{\"io_class\":"
			 "\"-1\"}}"},
		{EINVAL, "{\"command\":\"io-plug\",\"node\":\"tca1\",\"profile\":{\"id_string\":"
			 "7}}"},
		{EINVAL, "{\"command\":\"io-plug\",\"node\":\"tca1\",\"services\":[{\"name\":"
			 "\"a\"}]}"},
		{EINVAL, "{\"command\":\"io-plug\",\"node\":\"tca1\",\"services\":[{\"name\":"
			 "\"1234567890123456789012345678901234567890\",\"id\":1}]}"},
		{EADDRINUSE, "{\"command\":\"io-plug\",\"node\":\"tca1\",\"services\":[{\"name\":"
			     "\"a\",\"id\":1},{\"name\":\"b\",\"id\":\"0x1\"}]}"},
		{EINVAL, "{\"command\":\"io-slots\",\"node\":\"tca1\",\"slots\":300}"},
		{EINVAL, "{\"command\":\"io-slots\",\"node\":\"tca1\"}"},
		{ENOENT, "{\"command\":\"io-test-outcome\",\"node\":\"tca1\",\"slot\":1,\"code\":"
			 "1}"},
		{EINVAL, "{\"command\":\"io-test-outcome\",\"node\":\"tca1\",\"slot\":1,\"code\":"
			 "65536}"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++)
		if (errno_of(tool, rows[i].request) != rows[i].error)
			fail_msg("%s", rows[i].request);
	assert_null(controller_of("tca1", 1));
}

static void test_long_lists_come_in_parts(void **state)
{
	unsigned count = 0;
	json_int_t from = 0;

	(void)state;
	for (unsigned i = 1; i <= 2; i++) {
		fixture_order(tool, "{\"command\":\"io-slots\",\"node\":\"tca%u\",\"slots\":255}",
			      i);
		for (unsigned slot = 1; slot <= 255; slot++)
			fixture_order(tool,
				      "{\"command\":\"io-plug\",\"node\":\"tca%u\",\"services\":["
				      "{\"name\":\"a\",\"id\":%u}]}",
				      i, slot);
	}
	do {
		json_t *answer = fixture_ask(tool, "{\"command\":\"io\",\"from\":%d}", (int)from);

		count += (unsigned)json_array_size(json_object_get(answer, "controllers"));
		from = json_integer_value(json_object_get(answer, "next"));
		json_decref(answer);
	} while (from);
	assert_int_equal(count, 510);

	json_t *answer = fixture_ask(tool, "{\"command\":\"io-units\"}");
	const json_t *unit = json_array_get(json_object_get(answer, "units"), 1);

	assert_string_equal(json_string_value(json_object_get(unit, "node")), "tca2");
	assert_int_equal(json_integer_value(json_object_get(unit, "controllers")), 255);
	assert_int_equal(json_integer_value(json_object_get(unit, "slots")), 255);
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_tool_plugs_and_pulls),
		TEST(test_controller_ends_with_its_program),
		TEST(test_only_its_owner_or_an_operator_pulls_a_controller),
		TEST(test_bad_descriptions_get_reasons),
		TEST(test_long_lists_come_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
