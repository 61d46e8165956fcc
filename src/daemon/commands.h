/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the control socket (ipc/protocol.h): one JSON object in, one JSON object out. */
#ifndef SOFTIB_DAEMON_COMMANDS_H
#define SOFTIB_DAEMON_COMMANDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "ipc/control_socket.h"

struct client;

struct reply {
	json_t *object;
	bool is_later;				  /* the server sends the reply in a later turn */
	int descriptors[CONTROL_DESCRIPTORS_MAX]; /* softibd keeps the first given_from, the server
						     closes the others after sending */
	unsigned descriptor_count;
	unsigned given_from;
	bool gives_all;	      /* the server closes all descriptors, from the first on */
	uint32_t ring_shared; /* id of the direct ring whose descriptors these are; 0: none */
	bool process_shared;  /* they include the client's memory file, which softibd closes after
				 sending */
};

typedef void (*command_function)(struct client *client, const json_t *request,
				 struct reply *ret_reply);

enum command_right {
	FOR_ALL,
	FOR_OPERATORS, /* changes the fabric, or shows what programs must not see */
};

struct command {
	const char *name;
	command_function run;
	enum command_right right;
};

/* Once, before the first request: jansson takes its memory here, so that a lack is noticed. */
void commands_init(void);

/* Runs one request. The text need not be JSON. -EPROTO: it is not a request, and there is nothing
 * to reply to; -ENOMEM: it could not be read. A reply without an object: no memory for all of it.
 */
MUST_USE int command_run(struct client *client, const char *text, size_t byte_count,
			 struct reply *ret_reply);

void reply_ok(struct reply *reply, json_t *object);
void reply_error(struct reply *reply, int error, const char *format, ...) PRINTF_LIKE(3, 4);
void reply_not_operator(struct reply *reply, const char *command);

/* Tables of commands, each ended by a NULL name. */
extern const struct command program_commands[];
extern const struct command tool_commands[];
extern const struct command set_commands[];
extern const struct command mads_commands[];
extern const struct command cm_commands[];
extern const struct command domain_commands[];
extern const struct command capture_commands[];
extern const struct command fault_commands[];
extern const struct command explain_commands[];
extern const struct command raw_commands[];
extern const struct command io_commands[];
extern const struct command perf_commands[];
extern const struct command baseboard_commands[];
extern const struct command redirect_commands[];

json_t *guid_to_json(uint64_t guid);

#endif
