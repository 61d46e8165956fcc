/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the control socket: looking one up, running it, and the two kinds of reply. */
#include "daemon/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/core/client.h"
#include "daemon/core/limits.h"

/* Whether JSON lacked memory since the present command began. */
static bool json_ran_out;

static void *json_allocate(size_t byte_count)
{
	void *memory = malloc(byte_count);

	json_ran_out |= !memory;
	return memory;
}

void commands_init(void)
{
	json_set_alloc_funcs(json_allocate, free);
}

void reply_ok(struct reply *reply, json_t *object)
{
	json_object_set_new(object, "ok", json_true());
	reply->object = object;
}

/* A name that was cut may end within a character, and JSON takes only whole ones. */
static void make_text(char *text)
{
	json_t *string = json_string(text);

	for (char *at = text; !string && *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	json_decref(string);
}

void reply_error(struct reply *reply, int error, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	make_text(text);
	reply->object = json_pack("{s:b, s:s, s:i}", "ok", 0, "error", text, "errno", error);
}

void reply_not_operator(struct reply *reply, const char *command)
{
	reply_error(
		reply, EPERM,
		"\"%s\" is for operators: use the softib command, or the socket \"operator\" in "
		"the fabric's folder",
		command);
}

json_t *guid_to_json(uint64_t guid)
{
	return json_sprintf("0x%016" PRIx64, guid);
}

static const struct command *find_command(const char *name)
{
	const struct command *const tables[] = {
		program_commands,   tool_commands,    set_commands,   mads_commands,
		cm_commands,	    capture_commands, fault_commands, explain_commands,
		domain_commands,    raw_commands,     io_commands,    perf_commands,
		baseboard_commands, redirect_commands};

	for (unsigned table = 0; table < ARRAY_COUNT(tables); table++) {
		for (const struct command *command = tables[table]; command->name; command++) {
			if (strcmp(command->name, name) == 0)
				return command;
		}
	}
	return NULL;
}

/* Whatever part of softibd met a limit, the error says which. */
static void name_the_limit(const struct account *account, struct reply *reply)
{
	char limit[LIMIT_TEXT_BYTES];

	if (account->refused == LIMIT_COUNT || !reply->object ||
	    json_is_true(json_object_get(reply->object, "ok")))
		return;
	account_explain(account, account->refused, limit);
	json_object_set_new(reply->object, "error",
			    json_sprintf("%s: %s",
					 json_string_value(json_object_get(reply->object, "error")),
					 limit));
}

/* A list without the rows that there was no memory for would look complete. */
static void drop_incomplete(struct reply *reply)
{
	if (!json_ran_out)
		return;
	json_decref(reply->object);
	reply->object = NULL;
}

int command_run(struct client *client, const char *text, size_t byte_count, struct reply *ret_reply)
{
	json_ran_out = false;

	json_t *request = json_loadb(text, byte_count, 0, NULL);
	const char *name = json_string_value(json_object_get(request, "command"));

	*ret_reply = (struct reply){0};
	if (!name) {
		json_decref(request);
		return json_ran_out ? -ENOMEM : -EPROTO;
	}

	const struct command *command = find_command(name);

	client->account->refused = LIMIT_COUNT;
	if (command && command->right == FOR_OPERATORS && !client->is_operator)
		reply_not_operator(ret_reply, command->name);
	else if (command)
		command->run(client, request, ret_reply);
	else
		reply_error(ret_reply, EOPNOTSUPP, "unknown command \"%.32s\"", name);
	/* An object that could not be made: no memory, or a name in the topology that is no text.
	 */
	if (!ret_reply->object && !ret_reply->is_later)
		reply_error(ret_reply, ENOMEM, "softibd can't put the answer into words");
	name_the_limit(client->account, ret_reply);
	drop_incomplete(ret_reply);
	json_decref(request);
	return 0;
}
