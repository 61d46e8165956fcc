/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that connect, as softibd meets them: the command socket and event channels by hand, good
 * programs, hostile ones, and ones that go. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/random.h"
#include "daemon/cm_ids.h"
#include "daemon/cm_program.h"
#include "unit/daemon/daemon_fixture.h"
#include "host/cm_protocol.h"
#include "wire/cm_ip_header.h"

enum { STEPS_MAX = 5000, SERVICE_PORT = 7471 };

static struct daemon *softibd;
static uint32_t next_qpn;

struct connector {
	int control;
	int commands;
	int events;
	uint32_t channel;
	uint32_t id;
};

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:2");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fixture_stop();
	return 0;
}

static int receive_answer(int socket, struct cm_answer *ret_answer)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec piece = {ret_answer, sizeof(*ret_answer)};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	int descriptor = -1;

	for (unsigned step = 0; step < STEPS_MAX; step++) {
		daemon_step(softibd, 0);
		if (recvmsg(socket, &message, MSG_DONTWAIT) == (ssize_t)sizeof(*ret_answer)) {
			struct cmsghdr *header = CMSG_FIRSTHDR(&message);

			if (header)
				memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
			return descriptor;
		}
	}
	fail_msg("no answer");
	return -1;
}

static int ask(struct connector *connector, const struct cm_command *command,
	       struct cm_answer *ret_answer)
{
	size_t byte_count = cm_command_bytes(command);

	assert_int_equal(send(connector->commands, command, byte_count, 0), byte_count);
	return receive_answer(connector->commands, ret_answer);
}

static int32_t order(struct connector *connector, enum cm_command_kind kind)
{
	struct cm_command command = {.kind = kind, .id = connector->id};
	struct cm_answer answer;

	/* No two of a host have the same. */
	command.parameters.qpn = 0x400 + next_qpn++;
	ask(connector, &command, &answer);
	return answer.error;
}

static struct connector open_connector(const char *host)
{
	struct connector connector = {.control = fixture_connect()};
	struct cm_command command = {.kind = CM_OPEN_CHANNEL};
	struct control_message message;
	struct cm_answer answer;

	fixture_order(connector.control,
		      "{\"command\":\"hello\",\"version\":1,\"kind\":\"program\",\"host\":\"%s\"}",
		      host);
	assert_int_equal(control_send(connector.control, "{\"command\":\"cm\"}", NULL, 0), 0);
	fixture_settle();
	assert_int_equal(control_receive(connector.control, 1000, &message), 0);
	assert_int_equal(message.descriptor_count, 2);
	connector.commands = control_message_take(&message, 1);
	control_message_release(&message);
	connector.events = ask(&connector, &command, &answer);
	assert_true(connector.events >= 0);
	connector.channel = answer.number;
	command = (struct cm_command){
		.kind = CM_CREATE, .channel = connector.channel, .port_space = CM_PORT_SPACE_TCP};
	ask(&connector, &command, &answer);
	assert_int_equal(answer.error, 0);
	connector.id = answer.id;
	return connector;
}

static void close_connector(struct connector *connector)
{
	close(connector->commands);
	close(connector->events);
	close(connector->control);
	fixture_settle();
}

static struct cm_event_message next_event(struct connector *connector, enum cm_program_event kind)
{
	struct cm_event_message event;

	for (unsigned step = 0; step < STEPS_MAX; step++) {
		daemon_step(softibd, 1);
		if (recv(connector->events, &event, sizeof(event), MSG_DONTWAIT) > 0) {
			assert_int_equal(event.kind, kind);
			return event;
		}
	}
	fail_msg("no event");
	return event;
}

static const struct cm_address service = {
	.family = CM_ADDRESS_IPV4, .port = SERVICE_PORT, .bytes = {[12] = 127, 100, 0, 1}};

static struct connector open_listener(uint32_t backlog)
{
	struct connector listener = open_connector("h1");
	struct cm_command command = {.kind = CM_BIND, .id = listener.id, .source = service};
	struct cm_answer answer;

	ask(&listener, &command, &answer);
	assert_int_equal(answer.error, 0);
	command = (struct cm_command){.kind = CM_LISTEN, .id = listener.id, .value = backlog};
	ask(&listener, &command, &answer);
	assert_int_equal(answer.error, 0);
	return listener;
}

static struct connector call(void)
{
	struct connector caller = open_connector("h2");
	struct cm_command command = {.kind = CM_RESOLVE_ADDRESS,
				     .id = caller.id,
				     .timeout_ms = 5000,
				     .destination = service};
	struct cm_answer answer;

	ask(&caller, &command, &answer);
	assert_int_equal(answer.error, 0);
	next_event(&caller, CM_PROGRAM_ADDRESS_RESOLVED);
	assert_int_equal(order(&caller, CM_RESOLVE_ROUTE), 0);
	next_event(&caller, CM_PROGRAM_ROUTE_RESOLVED);
	assert_int_equal(order(&caller, CM_CONNECT), 0);
	return caller;
}

static uint32_t connections_of(unsigned host)
{
	struct cm_counts counts = cm_count(softibd->hosts.hosts[host]->cm->cm);

	return counts.connections - counts.in_timewait;
}

static void test_two_programs_connect_and_part(void **state)
{
	(void)state;
	struct connector listener = open_listener(4), caller = call();
	struct connector called = listener;

	called.id = next_event(&listener, CM_PROGRAM_CONNECT_REQUEST).id;
	assert_int_equal(order(&called, CM_ACCEPT), 0);
	next_event(&caller, CM_PROGRAM_CONNECT_RESPONSE);
	assert_int_equal(order(&caller, CM_ESTABLISH), 0);
	next_event(&listener, CM_PROGRAM_ESTABLISHED);
	assert_int_equal(order(&caller, CM_DISCONNECT), 0);
	assert_int_equal(next_event(&listener, CM_PROGRAM_DISCONNECTED).id, called.id);
	assert_int_equal(order(&called, CM_DISCONNECT), 0);
	next_event(&caller, CM_PROGRAM_DISCONNECTED);
	assert_int_equal(order(&caller, CM_DESTROY), 0);
	assert_int_equal(order(&caller, CM_DESTROY), -ENOENT);
	close_connector(&caller);
	close_connector(&listener);
	assert_int_equal(connections_of(0), 0);
	assert_int_equal(connections_of(1), 0);
	assert_int_equal(cm_count(softibd->hosts.hosts[0]->cm->cm).listeners, 0);
}

static void test_a_program_that_goes_while_it_calls_is_gone_for_its_peer(void **state)
{
	(void)state;
	struct connector listener = open_listener(4), caller = call();
	struct connector called = listener;

	called.id = next_event(&listener, CM_PROGRAM_CONNECT_REQUEST).id;
	assert_int_equal(order(&called, CM_ACCEPT), 0);
	next_event(&caller, CM_PROGRAM_CONNECT_RESPONSE);
	close_connector(&caller);
	next_event(&listener, CM_PROGRAM_REJECTED);
	close_connector(&listener);
	assert_int_equal(connections_of(0), 0);
}

static void test_a_listener_that_goes_refuses_who_waits(void **state)
{
	(void)state;
	struct connector listener = open_listener(4), caller = call();

	next_event(&listener, CM_PROGRAM_CONNECT_REQUEST);
	close_connector(&listener);
	assert_int_equal(next_event(&caller, CM_PROGRAM_REJECTED).status, 28);
	close_connector(&caller);
	assert_int_equal(connections_of(0), 0);
	assert_int_equal(connections_of(1), 0);
}

static void test_no_more_requests_wait_than_the_backlog_allows(void **state)
{
	(void)state;
	struct connector listener = open_listener(1);
	struct cm_program *program =
		container_of(list_first(&softibd->cm.programs), struct cm_program, link);

	/* The least that programs get is more than a test wants to make. */
	assert_int_equal(cm_program_find_id(program, listener.id)->backlog, CM_BACKLOG_MIN);
	cm_program_find_id(program, listener.id)->backlog = 1;

	struct connector first = call(), second = call();

	next_event(&listener, CM_PROGRAM_CONNECT_REQUEST);
	assert_int_equal(next_event(&second, CM_PROGRAM_REJECTED).status, 3);
	close_connector(&first);
	close_connector(&second);
	close_connector(&listener);
}

static void test_commands_that_make_no_sense_end_their_program_only(void **state)
{
	(void)state;
	struct connector good = open_listener(4), bad = open_connector("h2");
	struct cm_command command = {.kind = CM_QUERY, .id = bad.id, .private_byte_count = 5000};
	char byte;

	assert_true(send(bad.commands, &command, sizeof(command), 0) > 0);
	fixture_settle();
	assert_int_equal(recv(bad.commands, &byte, 1, MSG_DONTWAIT), 0);
	close_connector(&bad);
	bad = open_connector("h2");
	assert_true(send(bad.commands, "x", 1, 0) == 1);
	fixture_settle();
	assert_int_equal(recv(bad.commands, &byte, 1, MSG_DONTWAIT), 0);
	close_connector(&bad);
	assert_int_equal(order(&good, CM_QUERY), 0);
	close_connector(&good);
}

/* Whatever the fields say, softibd answers and goes on. */
static void test_random_commands_are_answered(void **state)
{
	(void)state;
	struct connector good = open_listener(4), bad = open_connector("h2");
	struct random random = random_seeded(5);

	for (unsigned round = 0; round < 2000; round++) {
		struct cm_command command;
		uint8_t *bytes = (uint8_t *)&command;
		struct cm_answer answer;

		for (size_t index = 0; index < sizeof(command); index++)
			bytes[index] = (uint8_t)random_next(&random);
		command.kind = (uint32_t)random_below(&random, CM_QUERY + 3);
		command.id = (uint32_t)random_below(&random, 4);
		command.channel = (uint32_t)random_below(&random, 3);
		command.source.family = (uint16_t)random_below(&random, 5);
		command.destination.family = (uint16_t)random_below(&random, 5);
		command.private_byte_count =
			(uint32_t)random_below(&random, CM_PRIVATE_BYTES_MAX + 1);
		if (command.kind == CM_CLOSE_CHANNEL)
			continue;

		int descriptor = ask(&bad, &command, &answer);

		if (descriptor >= 0)
			close(descriptor);
	}
	assert_int_equal(order(&good, CM_QUERY), 0);
	close_connector(&bad);
	close_connector(&good);
	assert_int_equal(connections_of(1), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_two_programs_connect_and_part),
		TEST(test_a_program_that_goes_while_it_calls_is_gone_for_its_peer),
		TEST(test_a_listener_that_goes_refuses_who_waits),
		TEST(test_no_more_requests_wait_than_the_backlog_allows),
		TEST(test_commands_that_make_no_sense_end_their_program_only),
		TEST(test_random_commands_are_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
