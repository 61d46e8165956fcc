/* SPDX-License-Identifier: Apache-2.0 */
/* Conversations on the control socket, good and bad.
 * Covers: daemon/server.c daemon/control/program_commands.c daemon/core/client.c
 * daemon/daemon.c daemon/daemon_start.c daemon/managers/sm_runner.c
 * daemon/client_lifetime.c daemon/core/daemon_core.c daemon/core/event_loop.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "ipc/control_socket.h"
#include "unit/daemon/daemon_fixture.h"

static struct daemon *softibd;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:3");
	return 0;
}

static void expect_refusal(int socket, const char *request, const char *part)
{
	json_t *answer = fixture_ask(socket, "%s", request);
	const char *reason = json_string_value(json_object_get(answer, "error"));

	assert_true(json_is_false(json_object_get(answer, "ok")));
	assert_true(json_integer_value(json_object_get(answer, "errno")) > 0);
	if (!reason || !strstr(reason, part))
		fail_msg("no \"%s\" in %s", part, reason);
	json_decref(answer);
}

static const char *hello(int version, const char *kind, const char *host)
{
	static char text[128];

	snprintf(text, sizeof(text),
		 "{\"command\":\"hello\",\"version\":%d,\"kind\":\"%s\",\"host\":\"%s\"}", version,
		 kind, host);
	return text;
}

static void test_hello_says_where_and_what(void **state)
{
	int socket = fixture_connect();
	json_t *answer = fixture_ask(socket, "%s", hello(PROTOCOL_VERSION, "program", "h2"));
	const json_t *adapter = json_array_get(json_object_get(answer, "adapters"), 0);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(answer, "host")), "h2");
	assert_string_equal(json_string_value(json_object_get(answer, "fabric")), "test");
	assert_int_equal(access(json_string_value(json_object_get(answer, "tree")), R_OK), 0);
	assert_string_equal(json_string_value(json_object_get(adapter, "name")), "softib0");
	assert_string_equal(json_string_value(json_object_get(adapter, "node_guid")),
			    "0x025f1b0100020000");
	assert_int_equal(json_integer_value(json_object_get(adapter, "ports")), 1);
	json_decref(answer);
	close(socket);
}

/* Only management programs can use it. */
static void test_switch_is_a_host_without_adapters(void **state)
{
	int socket = fixture_connect();
	json_t *answer = fixture_ask(socket, "%s", hello(PROTOCOL_VERSION, "program", "switch-1"));

	(void)state;
	assert_string_equal(json_string_value(json_object_get(answer, "host")), "switch-1");
	assert_int_equal(json_array_size(json_object_get(answer, "adapters")), 0);
	json_decref(answer);
	expect_refusal(socket, "{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":1}",
		       "no such adapter and port");
	answer = fixture_ask(socket, "{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":0}");
	assert_true(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
	close(socket);
	assert_int_equal(softibd->core.hosts.device_count, 1);
	assert_non_null(host_table_device(&softibd->core.hosts, &softibd->core.fabric, "switch-1"));
	assert_int_equal(softibd->core.hosts.device_count, 1);
	assert_null(host_table_device(&softibd->core.hosts, &softibd->core.fabric, "h1"));
}

static void test_refusals_say_why(void **state)
{
	int socket = fixture_connect();
	char ours[16];

	(void)state;
	expect_refusal(socket, "{\"command\":\"dance\"}", "unknown command \"dance\"");
	expect_refusal(socket, hello(PROTOCOL_VERSION, "king", "h1"), "program, hold or tool");
	snprintf(ours, sizeof(ours), "version %d", PROTOCOL_VERSION);
	expect_refusal(socket, hello(PROTOCOL_VERSION + 4, "hold", "h1"), ours);
	expect_refusal(socket, hello(PROTOCOL_VERSION, "hold", "x"),
		       "no host x in fabric test; its hosts are: h1, h2, h3");
	expect_refusal(socket, "{\"command\":\"attach\"}", "after hello");
	expect_refusal(socket, "{\"command\":\"qpns\",\"adapter\":0,\"count\":1}",
		       "send attach first");
	expect_refusal(socket, "{\"command\":\"ring\",\"id\":1}", "no such ring");
	close(socket);
}

/* The softib command may do all of this from the operators' socket; each is refused with EPERM
 * before its arguments are looked at. */
static void test_programs_may_not_do_what_operators_do(void **state)
{
	static const char *const commands[] = {"link",
					       "set",
					       "get",
					       "down",
					       "fault-add",
					       "fault-clear",
					       "fault-replay",
					       "capture",
					       "redirect",
					       "redirect_off",
					       "io-slots",
					       "io-test-outcome",
					       "perf-sweep",
					       "baseboard-sensor",
					       "baseboard-power",
					       "baseboard-protect",
					       "baseboard-hang-bus"};
	int program = fixture_connect_program();
	int tool = fixture_connect();
	char text[64];

	(void)state;
	for (unsigned index = 0; index < ARRAY_COUNT(commands); index++) {
		snprintf(text, sizeof(text), "{\"command\":\"%s\"}", commands[index]);
		expect_refusal(program, text, "is for operators");
	}
	expect_refusal(program, "{\"command\":\"io-pull\",\"node\":\"h2\",\"slot\":1}",
		       "is for operators");
	fixture_order(program, "{\"command\":\"status\"}");
	fixture_order(tool, "{\"command\":\"link\",\"node\":\"h3\",\"up\":false}");
	fixture_order(tool, "{\"command\":\"link\",\"node\":\"h3\",\"up\":true}");
	close(program);
	close(tool);
}

static void test_garbage_ends_only_its_sender(void **state)
{
	static const char *const messages[] = {"garbage", "{}", "[1,2]", "{\"command\":17}",
					       "{\"command\":"};
	int good = fixture_connect();

	(void)state;
	for (unsigned index = 0; index < sizeof(messages) / sizeof(messages[0]); index++) {
		int bad = fixture_connect();

		assert_int_equal(control_send(bad, messages[index], NULL, 0), 0);
		assert_true(fixture_is_cut_off(bad));
		close(bad);
	}
	fixture_order(good, "{\"command\":\"status\"}");
	close(good);
}

/* Two processes took all numbers of an adapter. */
static void test_a_process_leaves_others_as_many_numbers_as_it_has(void **state)
{
	struct program program;
	const struct qpn_space *qpns =
		&host_table_find(&softibd->core.hosts, "h1")->adapters[0]->qpns;

	(void)state;
	program_start(&program, "h1");
	softibd->core.accounts.process_max[LIMIT_QPN_BLOCKS] = QPN_SPACE_BLOCKS;
	fixture_order(program.socket, "{\"command\":\"qpns\",\"adapter\":0,\"count\":%d}",
		      8000 * QPN_BLOCK);
	expect_refusal(program.socket, "{\"command\":\"qpns\",\"adapter\":0,\"count\":1024000}",
		       "no more");
	assert_in_range(qpn_space_free_count(qpns), 8000, QPN_BLOCKS_MAX - 8000);
	program_end(&program);
	assert_int_equal(qpn_space_free_count(qpns), QPN_BLOCKS_MAX);
}

static void test_queue_pair_numbers_are_given_in_blocks_with_a_limit(void **state)
{
	struct program program;

	(void)state;
	program_start(&program, "h1");
	assert_int_equal(program.first_qpn % QPN_BLOCK, 0);
	assert_true(program.first_qpn >= QPN_BLOCK);

	json_t *answer = fixture_ask(program.socket,
				     "{\"command\":\"qpns\",\"adapter\":0,\"count\":100000}");

	assert_int_equal(json_integer_value(json_object_get(answer, "count")), 98 * QPN_BLOCK);
	json_decref(answer);
	expect_refusal(program.socket, "{\"command\":\"qpns\",\"adapter\":0,\"count\":0}",
		       "numbers");
	expect_refusal(program.socket, "{\"command\":\"qpns\",\"adapter\":1,\"count\":1}",
		       "1 adapters");
	expect_refusal(program.socket, "{\"command\":\"qpns\",\"adapter\":0,\"count\":16775168}",
		       "no more");
	program_end(&program);
}

static void test_a_program_that_goes_leaves_nothing(void **state)
{
	struct program program;
	struct adapter_entry *adapter = host_table_find(&softibd->core.hosts, "h1")->adapters[0];

	(void)state;
	program_start(&program, "h1");
	assert_int_equal(softibd->core.clients.user_count, 1);
	assert_int_equal(program.page->program_count, 1);
	assert_non_null(qpn_space_owner(&adapter->qpns, program.first_qpn));
	program_end(&program);
	assert_int_equal(softibd->core.clients.user_count, 0);
	assert_int_equal(softibd->core.clients.client_count, 0);
	assert_int_equal(softibd->core.page->program_count, 0);
	assert_null(qpn_space_owner(&adapter->qpns, program.first_qpn));
	assert_true(list_is_empty(&host_table_find(&softibd->core.hosts, "h1")->programs));
}

static int connect_raw(void)
{
	int socket = control_connect("test");

	assert_true(socket >= 0);
	return socket;
}

/* The answer to a first request, whenever softibd refused the connection. */
static void expect_refused_connection(int socket, bool asks_first, const char *part)
{
	struct control_message message;

	if (!asks_first)
		fixture_settle();
	(void)!control_send(socket, "{\"command\":\"status\"}", NULL, 0);
	fixture_settle();
	assert_int_equal(control_receive(socket, 0, &message), 0);
	if (!strstr(message.text, part) || !strstr(message.text, "\"errno\":24"))
		fail_msg("no \"%s\" in %s", part, message.text);
	control_message_release(&message);
	close(socket);
}

static void test_too_many_connections_are_refused_with_the_limit(void **state)
{
	uint32_t before = softibd->core.accounts.process_max[LIMIT_CONNECTIONS];
	int one = fixture_connect();
	int two = fixture_connect();

	(void)state;
	softibd->core.accounts.process_max[LIMIT_CONNECTIONS] = 2;
	expect_refused_connection(connect_raw(), true, "a process may have 2");
	expect_refused_connection(connect_raw(), false, "a process may have 2");
	fixture_order(one, "{\"command\":\"status\"}");
	close(two);
	fixture_settle();
	two = fixture_connect();
	fixture_order(two, "{\"command\":\"status\"}");
	softibd->core.accounts.process_max[LIMIT_CONNECTIONS] = before;
	close(one);
	close(two);
	fixture_settle();
	assert_int_equal(softibd->core.accounts.by_process.count, 0);
}

/* Sends the request, and softibd works on it when it may open so many more files. */
static json_t *ask_with_descriptors_left(int socket, int descriptor, const char *text,
					 unsigned spare)
{
	struct control_message message;
	struct rlimit before, tight;
	unsigned next = (unsigned)dup(0);

	close((int)next);
	assert_int_equal(control_send(socket, text, &descriptor, descriptor >= 0), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	tight = before;
	tight.rlim_cur = next + spare;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	fixture_settle();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(control_receive(socket, 0, &message), 0);

	json_t *answer = json_loadb(message.text, message.byte_count, 0, NULL);

	assert_non_null(answer);
	control_message_release(&message);
	return answer;
}

/* Whatever descriptor is the last one, the program gets all of its rings, or the reason and none of
 * them. */
static void test_a_lack_of_descriptors_is_answered(void **state)
{
	bool is_served = false;

	(void)state;
	for (unsigned spare = 0; !is_served; spare++) {
		int socket = fixture_connect_program();

		assert_true(spare < 20);
		fixture_order(socket, "%s", hello(PROTOCOL_VERSION, "program", "h1"));

		json_t *answer =
			ask_with_descriptors_left(socket, -1, "{\"command\":\"attach\"}", spare);

		is_served = json_is_true(json_object_get(answer, "ok"));
		if (!is_served)
			assert_int_equal(json_integer_value(json_object_get(answer, "errno")),
					 EMFILE);
		json_decref(answer);
		close(socket);
	}
	fixture_settle();
	for (unsigned limit = 0; limit < LIMIT_COUNT; limit++)
		assert_int_equal(softibd->core.accounts.used[limit], 0);
}

/* Nothing was done, so the program goes on. */
static void test_a_request_whose_descriptor_is_lost_is_answered(void **state)
{
	int socket = fixture_connect_program();
	json_t *answer = ask_with_descriptors_left(socket, socket, "{\"command\":\"status\"}", 0);

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(answer, "errno")), EMFILE);
	json_decref(answer);
	fixture_order(socket, "{\"command\":\"status\"}");
	close(socket);
}

/* Whatever a program had, nothing of it counts once it has gone. */
static void test_a_program_that_goes_gives_everything_back(void **state)
{
	uint32_t before = softibd->core.accounts.process_max[LIMIT_DESCRIPTORS];
	struct program program;

	(void)state;
	program_start(&program, "h1");
	fixture_order(program.socket, "{\"command\":\"cm\"}");
	fixture_order(program.socket, "{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":1}");
	/* The fixture closes the sockets that come with these answers. */
	fixture_settle();
	softibd->core.accounts.process_max[LIMIT_DESCRIPTORS] =
		softibd->core.accounts.used[LIMIT_DESCRIPTORS];
	expect_refusal(program.socket, "{\"command\":\"cm\"}", "descriptors in softibd for this");
	expect_refusal(program.socket, "{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":1}",
		       "descriptors in softibd for this");
	softibd->core.accounts.process_max[LIMIT_DESCRIPTORS] = before;
	program_end(&program);
	fixture_settle();
	for (unsigned limit = 0; limit < LIMIT_COUNT; limit++)
		assert_int_equal(softibd->core.accounts.used[limit], 0);
	assert_int_equal(softibd->core.accounts.by_process.count, 0);
}

static void test_the_control_socket_is_watched_while_rings_are_busy(void **state)
{
	struct program program;
	int tool = fixture_connect();

	(void)state;
	program_start(&program, "h1");
	for (unsigned count = 0; count < 100; count++)
		program_send(&program, program.lid, program.first_qpn, "x");
	fixture_order(tool, "{\"command\":\"status\"}");
	program_end(&program);
	close(tool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hello_says_where_and_what),
		cmocka_unit_test(test_switch_is_a_host_without_adapters),
		cmocka_unit_test(test_refusals_say_why),
		cmocka_unit_test(test_programs_may_not_do_what_operators_do),
		cmocka_unit_test(test_garbage_ends_only_its_sender),
		cmocka_unit_test(test_a_process_leaves_others_as_many_numbers_as_it_has),
		cmocka_unit_test(test_queue_pair_numbers_are_given_in_blocks_with_a_limit),
		cmocka_unit_test(test_a_program_that_goes_leaves_nothing),
		cmocka_unit_test(test_too_many_connections_are_refused_with_the_limit),
		cmocka_unit_test(test_a_lack_of_descriptors_is_answered),
		cmocka_unit_test(test_a_request_whose_descriptor_is_lost_is_answered),
		cmocka_unit_test(test_a_program_that_goes_gives_everything_back),
		cmocka_unit_test(test_the_control_socket_is_watched_while_rings_are_busy),
	};

	return cmocka_run_group_tests(tests, set_up, fixture_tear_down);
}
