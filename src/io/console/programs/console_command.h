/* SPDX-License-Identifier: Apache-2.0 */
/* A command whose input and output are a console session. */
#ifndef SOFTIB_IO_CONSOLE_PROGRAMS_CONSOLE_COMMAND_H
#define SOFTIB_IO_CONSOLE_PROGRAMS_CONSOLE_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/attributes.h"
#include "io/console/console_link.h"

struct console_command {
	pid_t pid;				   /* 0: none */
	int input;				   /* -1: closed */
	int output;				   /* -1: closed; carries errors as well */
	uint8_t unwritten[CONSOLE_TEXT_BYTES_MAX]; /* read from the link, not yet taken */
	size_t unwritten_bytes;
};

/* Starts arguments[0], found by PATH. 0 or -errno. */
MUST_USE int console_command_start(char *const arguments[], struct console_command *ret_command);
/* Moves text between the link and the command, as much as goes without waiting. Ends the link when
 * the command has closed its output. */
void console_command_move(struct console_command *command, struct console_link *link);
/* Kills the command, and what it started, if it still runs. */
void console_command_stop(struct console_command *command);

#endif
