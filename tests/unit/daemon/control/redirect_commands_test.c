/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of "softib redirect" (management 1.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <unistd.h>
#include "daemon/daemon.h"
#include "mgmt/agents/redirects.h"
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

static int errno_of(const char *fields)
{
	json_t *answer = fixture_ask(tool, "{\"command\":\"redirect\",%s}", fields);
	int error = (int)json_integer_value(json_object_get(answer, "errno"));

	json_decref(answer);
	return error;
}

static const struct redirect *first(void)
{
	return redirect_next(&softibd->core.fabric.agent_memory, NULL);
}

static void test_every_field_is_set(void **state)
{
	(void)state;
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h2\""), 0);
	assert_ptr_equal(first()->port, fixture_port("h1"));
	assert_int_equal(first()->place.redirect_lid, fixture_port("h2")->info.lid);
	assert_int_equal(first()->place.redirect_qpn, 1);
	assert_int_equal(first()->place.redirect_qkey, 0x80010000);
	assert_int_equal(first()->place.redirect_pkey, 0xffff);
	assert_int_equal(first()->place.redirect_gid_guid, 0);
	/* Again: one redirection of a class. */
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h3\",\"to_port\":1,"
				  "\"gid\":true,\"qp\":85,\"pkey\":32769,\"qkey\":17,\"sl\":3,"
				  "\"tclass\":9,\"flow\":5,\"when_busy\":true"),
			 0);
	assert_int_equal(first()->place.redirect_lid, 0);
	assert_int_equal(first()->place.redirect_gid_guid, fixture_port("h3")->guid);
	assert_int_equal(first()->place.redirect_qpn, 85);
	assert_int_equal(first()->place.redirect_qkey, 17);
	assert_int_equal(first()->place.redirect_pkey, 0x8001);
	assert_int_equal(first()->place.redirect_sl, 3);
	assert_int_equal(first()->place.redirect_traffic_class, 9);
	assert_int_equal(first()->place.redirect_flow_label, 5);
	assert_int_equal(first()->condition, REDIRECT_WHEN_BUSY);
	assert_null(redirect_next(&softibd->core.fabric.agent_memory, first()));
}

static void test_a_switch_redirects_at_port_0(void **state)
{
	(void)state;
	assert_int_equal(errno_of("\"node\":\"s1\",\"port\":2,\"class\":4,\"to\":\"h2\""), 0);
	assert_int_equal(first()->port->number, 0);
}

static void test_bad_requests_are_refused(void **state)
{
	(void)state;
	assert_int_equal(errno_of("\"node\":\"h9\",\"class\":4,\"to\":\"h2\""), ENOENT);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h9\""), ENOENT);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h2\",\"to_port\":9"),
			 ENOENT);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":1,\"to\":\"h2\""), EINVAL);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":129,\"to\":\"h2\""), EINVAL);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":0,\"to\":\"h2\""), EINVAL);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":256,\"to\":\"h2\""), EINVAL);
	assert_int_equal(errno_of("\"node\":\"h1\",\"to\":\"h2\""), EINVAL);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h1\""), EINVAL);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h2\",\"qp\":0"), EINVAL);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h2\",\"qp\":16777216"),
			 ERANGE);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h2\",\"sl\":16"), ERANGE);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h2\",\"pkey\":\"x\""),
			 ERANGE);
	assert_null(first());
	/* Another QP of the same port is a place. */
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h1\",\"qp\":77"), 0);
}

/* REJ 25 names a port of the node by its GID. The hosts of this fabric have one port. */
static void test_connections_alone_go_to_another_port_of_the_node(void **state)
{
	(void)state;
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":7,\"to\":\"h2\",\"connections\":true"),
			 EINVAL);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":7,\"to\":\"h1\",\"connections\":true"),
			 EINVAL);
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":4,\"to\":\"h2\",\"connections\":true"),
			 EINVAL);
	assert_null(first());
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":7,\"to\":\"h2\""), 0);
	assert_int_equal(first()->scope, REDIRECT_ALL);
}

static void test_redirections_are_listed_and_ended(void **state)
{
	json_t *answer;

	(void)state;
	assert_int_equal(errno_of("\"node\":\"h1\",\"class\":50,\"to\":\"h2\",\"gid\":true"), 0);
	answer = fixture_ask(tool, "{\"command\":\"redirects\"}");
	assert_int_equal(json_array_size(json_object_get(answer, "redirects")), 1);
	json_decref(answer);
	answer = fixture_ask(tool, "{\"command\":\"redirects\",\"from\":1}");
	assert_int_equal(json_array_size(json_object_get(answer, "redirects")), 0);
	json_decref(answer);
	fixture_order(tool, "{\"command\":\"redirect_off\",\"node\":\"h1\",\"class\":50}");
	assert_null(first());
	answer = fixture_ask(tool, "{\"command\":\"redirect_off\",\"node\":\"h1\",\"class\":50}");
	assert_int_equal(json_integer_value(json_object_get(answer, "errno")), ENOENT);
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_every_field_is_set),
		TEST(test_a_switch_redirects_at_port_0),
		TEST(test_bad_requests_are_refused),
		TEST(test_connections_alone_go_to_another_port_of_the_node),
		TEST(test_redirections_are_listed_and_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
