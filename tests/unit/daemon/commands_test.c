/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a command says, an answer comes, soon, and softibd goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/random.h"
#include "daemon/commands.h"
#include "ipc/control_socket.h"
#include "support/control_grammar.h"
#include "unit/daemon/daemon_fixture.h"

enum { ROUNDS = 8000, SLOW_MS = 500 };

static struct daemon *softibd;
static struct random random_source;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:3");
	random_source = random_seeded(42);
	return 0;
}

static unsigned draw(unsigned count)
{
	return (unsigned)(random_next(&random_source) % count);
}

/* Most fields are there, with values of any kind. */
static void write_command(char *ret_text, size_t text_bytes)
{
	const struct control_grammar_command *command =
		&control_grammar_commands[draw(ARRAY_COUNT(control_grammar_commands))];
	unsigned count = control_grammar_field_count(command);
	int length = snprintf(ret_text, text_bytes, "{\"command\":\"%s\"", command->name);

	for (unsigned index = 0; index < count; index++)
		if (draw(8))
			length += snprintf(
				ret_text + length, text_bytes - (size_t)length, ",\"%s\":%s",
				command->fields[index],
				control_grammar_values[draw(ARRAY_COUNT(control_grammar_values))]);
	snprintf(ret_text + length, text_bytes - (size_t)length, "}");
}

static long cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int open_program(void)
{
	int socket = fixture_connect();

	fixture_order(socket,
		      "{\"command\":\"hello\",\"version\":%d,\"kind\":\"program\",\"host\":\"h1\"}",
		      PROTOCOL_VERSION);
	fixture_order(socket, "{\"command\":\"attach\"}");
	return socket;
}

static void test_any_command_is_answered_soon(void **state)
{
	struct control_message message;
	int socket = open_program();
	char text[2048];

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct client *client =
			container_of(list_first(&softibd->core.clients.all), struct client, link);
		struct reply reply;
		long before = cpu_ms();

		write_command(text, sizeof(text));
		assert_int_equal(command_run(client, text, strlen(text), &reply), 0);
		if (cpu_ms() - before > SLOW_MS)
			fail_msg("%ld ms: %s", cpu_ms() - before, text);
		if (!reply.object && !reply.is_later)
			fail_msg("no answer: %s", text);

		char *answer = reply.object ? json_dumps(reply.object, JSON_COMPACT) : NULL;

		if (reply.object && !answer)
			fail_msg("no text: %s", text);
		free(answer);
		json_decref(reply.object);
		for (unsigned index = reply.given_from; index < reply.descriptor_count; index++)
			if ((reply.given_from || reply.gives_all) && reply.descriptors[index] >= 0)
				close(reply.descriptors[index]);
		daemon_turn(softibd);
		/* Replies that came later. */
		while (control_receive(socket, 0, &message) == 0)
			control_message_release(&message);
	}
	close(socket);
	fixture_settle();
	socket = fixture_connect();
	fixture_order(socket, "{\"command\":\"status\"}");
	close(socket);
}

/* Or the tests and the fuzz target that use it leave a command out. */
static void test_the_grammar_has_every_command(void **state)
{
	static const struct command *const tables[] = {
		program_commands,   tool_commands,    set_commands,   mads_commands,
		cm_commands,	    capture_commands, fault_commands, explain_commands,
		domain_commands,    raw_commands,     io_commands,    perf_commands,
		baseboard_commands, redirect_commands};

	(void)state;
	for (unsigned table = 0; table < ARRAY_COUNT(tables); table++) {
		for (const struct command *command = tables[table]; command->name; command++) {
			bool is_there = false;

			for (unsigned row = 0; row < ARRAY_COUNT(control_grammar_commands); row++)
				is_there |= strcmp(control_grammar_commands[row].name,
						   command->name) == 0;
			if (!is_there)
				fail_msg("not in the grammar: %s", command->name);
		}
	}
}

static void expect_reason(int socket, const char *text)
{
	json_t *answer = fixture_ask(socket, "%s", text);

	assert_int_not_equal(json_integer_value(json_object_get(answer, "errno")), ENOMEM);
	assert_non_null(json_string_value(json_object_get(answer, "error")));
	json_decref(answer);
}

/* JSON takes whole characters only, so such an error had no answer at all. */
static void test_an_error_that_cuts_a_character_is_answered(void **state)
{
	int socket = fixture_connect();

	(void)state;
	for (unsigned offset = 0; offset < 4; offset++) {
		char name[160], text[256];

		for (unsigned index = 0; index < sizeof(name) - 1; index++)
			name[index] = index < offset		  ? 'x'
				      : (index - offset) % 2 == 0 ? '\xc3'
								  : '\xa4';
		name[offset + (sizeof(name) - 1 - offset) / 2 * 2] = '\0';
		snprintf(text, sizeof(text), "{\"command\":\"%s\"}", name);
		expect_reason(socket, text);
		snprintf(text, sizeof(text), "{\"command\":\"link\",\"node\":\"%s\"}", name);
		expect_reason(socket, text);
	}
	close(socket);
}

/* Each such command read the whole ring and stepped the fabric 256 times. */
static void test_catch_up_waits_for_its_turn(void **state)
{
	struct program program;
	struct control_message message;

	(void)state;
	program_start(&program, "h1");
	for (unsigned count = 0; count < 300; count++)
		program_send(&program, program.lid, program.first_qpn, "x");
	assert_int_equal(control_send(program.socket, "{\"command\":\"catch-up\"}", NULL, 0), 0);
	fixture_settle();
	assert_int_equal(control_receive(program.socket, 0, &message), 0);
	assert_non_null(strstr(message.text, "\"ok\":true"));
	control_message_release(&message);
	assert_int_equal(__atomic_load_n(&program.up.shared->head, __ATOMIC_ACQUIRE),
			 program.up.tail);
	fixture_order(program.socket, "{\"command\":\"catch-up\"}");
	program_end(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_grammar_has_every_command),
		cmocka_unit_test_setup_teardown(test_any_command_is_answered_soon, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_an_error_that_cuts_a_character_is_answered,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_catch_up_waits_for_its_turn, set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
