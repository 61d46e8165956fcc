/* SPDX-License-Identifier: Apache-2.0 */
/* What the physical world does to baseboards: the commands of softibd, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "daemon/daemon.h"
#include "mgmt/agents/baseboard.h"
#include "net/node/node.h"
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;
static int tool;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("ring:3");
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

/* 0: the command was carried out. */
static int errno_of(const char *request)
{
	json_t *answer = fixture_ask(tool, "%s", request);
	bool is_ok = json_is_true(json_object_get(answer, "ok"));
	int error = (int)json_integer_value(json_object_get(answer, "errno"));

	json_decref(answer);
	return is_ok ? 0 : error;
}

static struct baseboard *board_of(const char *host)
{
	return baseboard_find(&softibd->core.fabric.agent_memory, fixture_port(host)->node);
}

static void test_finding_a_node_makes_no_baseboard(void **state)
{
	json_t *answer = fixture_ask(tool, "{\"command\":\"baseboard\",\"node\":\"h2\"}");

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(answer, "lid")),
			 fixture_port("h2")->info.lid);
	assert_true(json_is_true(json_object_get(answer, "has_power")));
	json_decref(answer);
	assert_null(board_of("h2"));
	assert_int_equal(errno_of("{\"command\":\"baseboard\",\"node\":\"h9\"}"), ENOENT);
	assert_int_equal(errno_of("{\"command\":\"baseboard\",\"node\":\"h2\",\"port\":9}"),
			 ENOENT);
	assert_int_equal(errno_of("{\"command\":\"baseboard\"}"), ENOENT);
}

static void test_sensor_gets_its_value(void **state)
{
	(void)state;
	assert_int_equal(errno_of("{\"command\":\"baseboard-sensor\",\"node\":\"h2\",\"sensor\":"
				  "\"temp1\",\"value\":-71.5}"),
			 0);
	assert_int_equal(board_of("h2")->sensors[0].value, -71500);
	assert_int_equal(board_of("h2")->sensors[0].level, SENSOR_LOW_CRITICAL);
	assert_int_equal(errno_of("{\"command\":\"baseboard-sensor\",\"node\":\"h2\",\"sensor\":"
				  "\"temp1\",\"value\":1e300}"),
			 ERANGE);
	assert_int_equal(errno_of("{\"command\":\"baseboard-sensor\",\"node\":\"h2\",\"sensor\":"
				  "\"temp1\",\"value\":\"warm\"}"),
			 ERANGE);
	assert_int_equal(errno_of("{\"command\":\"baseboard-sensor\",\"node\":\"h2\",\"value\":1}"),
			 ENOENT);
}

static void test_power_button_and_switches(void **state)
{
	(void)state;
	assert_int_equal(errno_of("{\"command\":\"baseboard-power\",\"node\":\"h2\",\"on\":false}"),
			 0);
	assert_int_equal(board_of("h2")->module_power, POWER_OFF);
	assert_int_not_equal(board_of("h2")->power_due_at, TIME_NEVER);
	assert_int_equal(errno_of("{\"command\":\"baseboard-power\",\"node\":\"h2\",\"on\":1}"),
			 EINVAL);
	assert_int_equal(errno_of("{\"command\":\"baseboard-protect\",\"node\":\"h2\",\"vpd\":"
				  "\"chassis\",\"on\":true}"),
			 0);
	assert_true(board_of("h2")->vpds[1].is_protected);
	assert_false(board_of("h2")->vpds[0].is_protected);
	assert_int_equal(errno_of("{\"command\":\"baseboard-protect\",\"node\":\"h2\",\"vpd\":"
				  "\"roof\",\"on\":true}"),
			 EINVAL);
	assert_int_equal(errno_of("{\"command\":\"baseboard-hang-bus\",\"node\":\"h2\"}"), 0);
	assert_true(board_of("h2")->bus_is_hung);
	assert_int_equal(errno_of("{\"command\":\"baseboard-hang-bus\",\"node\":[]}"), ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_finding_a_node_makes_no_baseboard),
		TEST(test_sensor_gets_its_value),
		TEST(test_power_button_and_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
