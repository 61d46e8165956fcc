/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked on the control socket (host/protocol.h): one JSON object in, one out. */
#ifndef SOFTIB_DAEMON_COMMANDS_H
#define SOFTIB_DAEMON_COMMANDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "host/control.h"

struct client;

struct reply {
	json_t *object;				  /* NULL: the answer comes later */
	int descriptors[CONTROL_DESCRIPTORS_MAX]; /* borrowed, those from given_from on given away
						   */
	unsigned descriptor_count;
	unsigned given_from;
	bool gives_all;	      /* from the first on */
	uint32_t ring_shared; /* id of the direct ring whose descriptors these are; 0: none */
	bool process_shared;  /* the descriptors of an attachment are among them */
};

typedef void (*command_function)(struct client *client, const json_t *request,
				 struct reply *ret_reply);

struct command {
	const char *name;
	command_function run;
};

/* Carries out one request; text need not be JSON at all. -EPROTO: not a request, nothing to answer.
 */
MUST_USE int command_run(struct client *client, const char *text, size_t byte_count,
			 struct reply *ret_reply);

void reply_ok(struct reply *reply, json_t *object);
void reply_error(struct reply *reply, int error, const char *format, ...) PRINTF_LIKE(3, 4);

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

json_t *guid_to_json(uint64_t guid);

#endif
