/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the built-in console. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "io/console/console_shell.h"

static const unsigned slots[255] = {3, 4, 7};
static const struct console_facts facts = {.service_name = "console.softib:3",
					   .guid = 0x25,
					   .service_id = 0x10025f1b00010003,
					   .slot = 3,
					   .slots = slots,
					   .slot_count = 3,
					   .session_count = 2,
					   .started_at = SECONDS(10)};
static char text[CONSOLE_REPLY_BYTES_MAX];

static void expect(const char *line, const char *answer)
{
	assert_int_equal(console_shell_answer(&facts, SECONDS(75), line, text), strlen(answer));
	assert_string_equal(text, answer);
}

static void test_commands(void **state)
{
	(void)state;
	expect("", "");
	expect("echo", "\n");
	expect("echo hello  world", "hello  world\n");
	expect("uptime", "65\n");
	expect("slots", "3 4 7\n");
	expect("info", "name console.softib:3\nguid 0x0000000000000025\n"
		       "service 0x10025f1b00010003\nslot 3\nsessions 2\n");
	expect("reboot", "reboot: unknown command; help lists them\n");
	assert_true(console_shell_answer(&facts, 0, "help", text) > 0);
	assert_non_null(strstr(text, "uptime"));
}

static void test_long_lines_and_many_slots_fit(void **state)
{
	struct console_facts many = facts;
	char line[CONSOLE_LINE_BYTES_MAX];

	(void)state;
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	assert_true(console_shell_answer(&facts, 0, line, text) < sizeof(text));
	memcpy(line, "echo ", 5);
	assert_int_equal(console_shell_answer(&facts, 0, line, text), sizeof(line) - 1 - 5 + 1);
	many.slot_count = 255;

	size_t byte_count = console_shell_answer(&many, 0, "slots", text);

	assert_int_equal(byte_count, strlen(text));
	assert_true(byte_count < sizeof(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_long_lines_and_many_slots_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
