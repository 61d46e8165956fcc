/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of the console controllers of this process: each has a driver somewhere in the
 * fabric, and a command or the built-in console. */
#ifndef SOFTIB_IO_CONSOLE_PROGRAMS_CONSOLE_SESSIONS_H
#define SOFTIB_IO_CONSOLE_PROGRAMS_CONSOLE_SESSIONS_H

#include "io/console/programs/console_command.h"
#include "io/console/console_link.h"
#include "io/console/programs/console_port.h"
#include "io/console/console_shell.h"

enum { CONSOLE_SESSIONS_MAX = 64 };

/* One controller in a slot. */
struct console_controller {
	unsigned slot;
	uint64_t guid;
	uint64_t service_id;
	char service_name[40];
	time_ns plugged_at;
};

struct console_session {
	struct console_link link;
	const struct console_controller *controller;
	struct ibv_ah *ah; /* NULL until the driver's first frame */
	uint32_t qpn;
	struct console_command command; /* pid 0: the built-in console */
	char line[CONSOLE_LINE_BYTES_MAX];
	size_t line_bytes;
};

struct console_sessions {
	struct console_port *port;
	char *const *command; /* its arguments; NULL: the built-in console */
	const unsigned *slots;
	unsigned slot_count;
	struct console_session *sessions[CONSOLE_SESSIONS_MAX];
	unsigned count;
};

/* Starts a session of this controller. -ENOSPC: there are too many; the errors of
 * console_command_start(). */
MUST_USE int console_sessions_open(struct console_sessions *sessions, time_ns now,
				   const struct console_controller *controller,
				   uint32_t *ret_session);
/* Receives frames, moves text and sends. Returns whether there was a frame. */
bool console_sessions_run(struct console_sessions *sessions, time_ns now);
time_ns console_sessions_deadline(const struct console_sessions *sessions);
void console_sessions_close(struct console_sessions *sessions);

#endif
