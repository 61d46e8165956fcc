/* SPDX-License-Identifier: Apache-2.0 */
/* The console that a controller has without a command: lines in, text out. */
#ifndef SOFTIB_IO_CONSOLE_CONSOLE_SHELL_H
#define SOFTIB_IO_CONSOLE_CONSOLE_SHELL_H

#include <stddef.h>
#include <stdint.h>
#include "base/time.h"

enum { CONSOLE_LINE_BYTES_MAX = 512, CONSOLE_REPLY_BYTES_MAX = 1024 };

/* What the commands show. */
struct console_facts {
	const char *service_name;
	uint64_t guid;
	uint64_t service_id;
	unsigned slot;
	const unsigned *slots; /* of this process */
	unsigned slot_count;
	unsigned session_count;
	time_ns started_at;
};

/* The answer to one line without its newline. Returns its length; it is ended by a zero too. */
size_t console_shell_answer(const struct console_facts *facts, time_ns now, const char *line,
			    char ret_text[static CONSOLE_REPLY_BYTES_MAX]);

#endif
