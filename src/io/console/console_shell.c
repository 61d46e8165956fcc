/* SPDX-License-Identifier: Apache-2.0 */
/* The console that a controller has without a command. */
#include "io/console/console_shell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char help_text[] = "help         this text\n"
				"info         the controller\n"
				"echo TEXT    TEXT\n"
				"uptime       seconds since the controller was plugged\n"
				"slots        the slots of this process\n";

static int answer_info(const struct console_facts *facts, char *ret_text)
{
	return snprintf(ret_text, CONSOLE_REPLY_BYTES_MAX,
			"name %s\nguid 0x%016" PRIx64 "\nservice 0x%016" PRIx64
			"\nslot %u\nsessions %u\n",
			facts->service_name, facts->guid, facts->service_id, facts->slot,
			facts->session_count);
}

static int answer_slots(const struct console_facts *facts, char *ret_text)
{
	int length = 0;

	for (unsigned i = 0; i < facts->slot_count && length < CONSOLE_REPLY_BYTES_MAX - 8; i++)
		length += snprintf(ret_text + length, CONSOLE_REPLY_BYTES_MAX - (size_t)length,
				   "%s%u", i ? " " : "", facts->slots[i]);
	length += snprintf(ret_text + length, CONSOLE_REPLY_BYTES_MAX - (size_t)length, "\n");
	return length;
}

size_t console_shell_answer(const struct console_facts *facts, time_ns now, const char *line,
			    char ret_text[static CONSOLE_REPLY_BYTES_MAX])
{
	int length;

	ret_text[0] = '\0';
	if (!*line)
		return 0;
	if (strcmp(line, "help") == 0)
		length = snprintf(ret_text, CONSOLE_REPLY_BYTES_MAX, "%s", help_text);
	else if (strcmp(line, "info") == 0)
		length = answer_info(facts, ret_text);
	else if (strcmp(line, "echo") == 0)
		length = snprintf(ret_text, CONSOLE_REPLY_BYTES_MAX, "\n");
	else if (strncmp(line, "echo ", 5) == 0)
		length = snprintf(ret_text, CONSOLE_REPLY_BYTES_MAX, "%.*s\n",
				  CONSOLE_LINE_BYTES_MAX, line + 5);
	else if (strcmp(line, "uptime") == 0)
		length = snprintf(ret_text, CONSOLE_REPLY_BYTES_MAX, "%" PRIu64 "\n",
				  (now - facts->started_at) / SECONDS(1));
	else if (strcmp(line, "slots") == 0)
		length = answer_slots(facts, ret_text);
	else
		length = snprintf(ret_text, CONSOLE_REPLY_BYTES_MAX,
				  "%.*s: unknown command; help lists them\n", 64, line);
	return (size_t)length;
}
