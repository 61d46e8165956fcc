/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands about links that fail on purpose.
 *
 *   {"command":"fault-add","port":"h1","settings":["drop=0.01","out",...],"seed":N}  -> "links"
 *   {"command":"fault-list"} -> "faults":[{...}], "verbs":[{...}]
 *   {"command":"fault-clear","ports":[...]}  (none: all) -> "links"
 *   {"command":"fault-record","from":N} -> "lines":[...], "next" while there are more, "forgotten"
 *   {"command":"fault-replay","text":"...","is_last":bool}  parts of a record -> "links"
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/commands.h"
#include "daemon/core/log.h"
#include "daemon/control/request_fields.h"
#include "daemon/daemon.h"
#include "daemon/packets/fault_log.h"
#include "daemon/packets/verb_fault_injection.h"
#include "fabric/fabric.h"
#include "fabric/faults/fault_text.h"
#include "fabric/topology/port_names.h"

enum { REASON_BYTES = 256, LINES_BYTES_MAX = 40000, FAULT_ROWS_MAX = 120 };

enum direction { DIRECTION_OUT = 1, DIRECTION_IN = 2, DIRECTION_BOTH = 3 };

/* A request, before its port names are looked up. */
struct fault_request {
	const json_t *words;
	enum direction direction;
	uint64_t seed;
};

static int read_words(const json_t *words, struct fault_settings *settings,
		      enum direction *ret_direction, char *reason)
{
	enum direction direction = 0;
	size_t index;
	const json_t *value;

	if (!json_array_size(words)) {
		snprintf(reason, REASON_BYTES, "no fault given: drop=0.01, delay=1ms ...");
		return -EINVAL;
	}
	json_array_foreach (words, index, value) {
		const char *word = json_string_value(value);
		const char *why = NULL;

		if (!word)
			word = "that";
		if (strcmp(word, "out") == 0)
			direction |= DIRECTION_OUT;
		else if (strcmp(word, "in") == 0)
			direction |= DIRECTION_IN;
		else
			why = fault_text_parse(word, settings);
		if (why) {
			snprintf(reason, REASON_BYTES, "%.40s %s", word, why);
			return -EINVAL;
		}
	}
	*ret_direction = direction ? direction : DIRECTION_BOTH;
	return 0;
}

/* Settings that the request does not name stay as they are. Only one end of a cable flaps it. */
static int set_faults(struct daemon *daemon, struct port *output,
		      const struct fault_request *request, bool may_flap)
{
	struct fault_settings settings = {0};
	enum direction direction;
	char reason[REASON_BYTES];

	if (output->faults)
		settings = output->faults->judge.settings;
	if (read_words(request->words, &settings, &direction, reason) != 0)
		return -EINVAL;
	if (!may_flap)
		settings.flap_up = settings.flap_down = 0;
	daemon->core.fabric.faults.observer = (struct fault_observer){
		.decided = fault_log_note, .context = &daemon->packets.fault_log};
	return faults_set(&daemon->core.fabric, output, &settings, request->seed,
			  daemon->core.loop.now);
}

static int add_to_ports(struct daemon *daemon, const struct port_list *ports,
			const struct fault_request *request)
{
	int error = 0;

	for (uint32_t index = 0; index < ports->port_count && !error; index++) {
		struct port *port = ports->ports[index];

		if (request->direction & DIRECTION_OUT)
			error = set_faults(daemon, port, request, true);
		if (!error && (request->direction & DIRECTION_IN))
			error = set_faults(daemon, port->peer, request,
					   request->direction == DIRECTION_IN);
	}
	return error;
}

static void add_to_verbs(struct client *client, const char *name,
			 const struct fault_request *wanted, struct reply *reply)
{
	char reason[REASON_BYTES] = "";
	int error = verb_faults_add(client->core, name, wanted->words, wanted->seed, reason,
				    sizeof(reason));

	if (error) {
		reply_error(reply, -error, "%s", reason);
		return;
	}
	log_line("verb fault at %s", name);
	reply_ok(reply, json_object());
}

static void run_add(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	const char *name = json_string_value(json_object_get(request, "port"));
	const json_t *seed = json_object_get(request, "seed");
	struct fault_request wanted = {.words = json_object_get(request, "settings"),
				       .seed = seed ? (uint64_t)json_integer_value(seed) : 1};
	struct fault_settings trial = {0};
	struct port_list ports = {0};
	char reason[REASON_BYTES] = "";

	if (verb_faults_are_named(wanted.words)) {
		add_to_verbs(client, name ? name : "", &wanted, ret_reply);
		return;
	}

	int error = read_words(wanted.words, &trial, &wanted.direction, reason);

	if (!error)
		error = port_names_add(&daemon->core.fabric, name ? name : "", &ports, reason,
				       sizeof(reason));
	if (!error) {
		error = add_to_ports(daemon, &ports, &wanted);
		snprintf(reason, sizeof(reason), "%s", strerror(-error));
	}
	if (error) {
		reply_error(ret_reply, -error, "%s", reason);
	} else {
		log_line("fault at %s", name);
		reply_ok(ret_reply, json_pack("{s:i}", "links", (int)ports.port_count));
	}
	port_list_release(&ports);
}

static json_t *describe(const struct link_faults *faults)
{
	const struct fault_counts *counts = &faults->counts;
	char from[PORT_NAME_BYTES], to[PORT_NAME_BYTES], text[FAULT_TEXT_BYTES];

	port_name_text(faults->output, from);
	port_name_text(faults->output->peer, to);
	fault_text_write(&faults->judge.settings, text);
	return json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "from",
			 from, "to", to, "settings", text, "is_replay",
			 faults->judge.script != NULL, "packets", (json_int_t)counts->packets,
			 "dropped", (json_int_t)counts->dropped, "corrupted",
			 (json_int_t)counts->corrupted, "duplicated",
			 (json_int_t)counts->duplicated, "reordered", (json_int_t)counts->reordered,
			 "delayed", (json_int_t)counts->delayed, "credits_lost",
			 (json_int_t)counts->credits_lost, "flaps", (json_int_t)counts->flaps);
}

static void run_list(struct client *client, const json_t *request, struct reply *ret_reply)
{
	json_int_t from = request_from(request);
	json_t *rows = json_array();
	json_int_t position = 0;

	list_for_each (link, &client->core->fabric.faults.links) {
		if (position++ < from || json_array_size(rows) == FAULT_ROWS_MAX)
			continue;
		json_array_append_new(rows, describe(container_of(link, struct link_faults, link)));
	}
	reply_ok(ret_reply, json_pack("{s:o, s:o}", "faults", rows, "verbs",
				      verb_faults_describe(client->core)));
	if (position > from + FAULT_ROWS_MAX)
		json_object_set_new(ret_reply->object, "next", json_integer(from + FAULT_ROWS_MAX));
}

static unsigned clear(struct daemon *daemon, struct port *output)
{
	bool is_faulty = output->faults != NULL;

	faults_clear(&daemon->core.fabric, output, daemon->core.loop.now);
	return is_faulty;
}

static unsigned clear_all(struct daemon *daemon)
{
	unsigned count = 0;

	list_for_each_safe (link, &daemon->core.fabric.faults.links)
		count += clear(daemon, container_of(link, struct link_faults, link)->output);
	fault_log_clear(&daemon->packets.fault_log);
	return count + verb_faults_clear(&daemon->core, NULL);
}

static void run_clear(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	const json_t *names = json_object_get(request, "ports");
	char reason[REASON_BYTES] = "";
	struct port_list ports = {0};
	unsigned count = 0;
	size_t index;
	const json_t *value;
	int error = 0;

	json_array_foreach (names, index, value) {
		const char *name = json_string_value(value);
		struct host *host = name ? host_table_find(&daemon->core.hosts, name) : NULL;

		if (!error)
			error = port_names_add(&daemon->core.fabric, name ? name : "", &ports,
					       reason, sizeof(reason));
		if (!error && host)
			count += verb_faults_clear(&daemon->core, host);
	}
	if (!error && !json_array_size(names))
		count = clear_all(daemon);
	for (uint32_t port = 0; !error && port < ports.port_count; port++)
		count += clear(daemon, ports.ports[port]) + clear(daemon, ports.ports[port]->peer);
	if (error)
		reply_error(ret_reply, -error, "%s", reason);
	else
		reply_ok(ret_reply, json_pack("{s:i}", "links", (int)count));
	port_list_release(&ports);
}

static void run_record(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	json_int_t index = request_from(request);
	json_t *lines = json_array();
	char line[FAULT_LINE_BYTES];
	size_t bytes = 0, length;

	if (index <= 0) {
		index = 0;
		fault_log_sort(&daemon->packets.fault_log);
	}
	while (bytes < LINES_BYTES_MAX &&
	       (length = fault_log_line(&daemon->packets.fault_log, &daemon->core.fabric,
					(size_t)index, line)) != 0) {
		json_array_append_new(lines, json_string(line));
		bytes += length + 3;
		index++;
	}
	reply_ok(ret_reply, json_pack("{s:o, s:I}", "lines", lines, "forgotten",
				      (json_int_t)daemon->packets.fault_log.forgotten));
	if (bytes >= LINES_BYTES_MAX)
		json_object_set_new(ret_reply->object, "next", json_integer(index));
}

/* The parts of a record come on one connection; the first part of another connection's record drops
 * them. */
static int collect(struct daemon *daemon, const struct client *client, const char *text)
{
	struct fault_replay *replay = &daemon->packets.fault_replay;
	size_t length = strlen(text);

	if (replay->client_id != client->id) {
		free(replay->text);
		*replay = (struct fault_replay){.client_id = client->id};
	}
	if (replay->byte_count + length >= FAULT_RECORD_BYTES_MAX)
		return -E2BIG;

	char *grown = realloc(replay->text, replay->byte_count + length + 1);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + replay->byte_count, text, length + 1);
	replay->text = grown;
	replay->byte_count += length;
	return 0;
}

static void run_replay(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	const char *text = json_string_value(json_object_get(request, "text"));
	bool is_last = json_is_true(json_object_get(request, "is_last"));
	char reason[REASON_BYTES] = "the record is too long";
	int error = text ? collect(daemon, client, text) : -EINVAL;

	if (!error && !is_last) {
		reply_ok(ret_reply, json_object());
		return;
	}
	if (!error) {
		fault_log_clear(&daemon->packets.fault_log);
		daemon->core.fabric.faults.observer = (struct fault_observer){
			.decided = fault_log_note, .context = &daemon->packets.fault_log};
		error = fault_log_replay(&daemon->core.fabric, daemon->packets.fault_replay.text,
					 daemon->core.loop.now, reason, sizeof(reason));
	}
	free(daemon->packets.fault_replay.text);
	daemon->packets.fault_replay = (struct fault_replay){0};
	if (error)
		reply_error(ret_reply, -error, "%s", reason);
	else
		reply_ok(ret_reply,
			 json_pack("{s:i}", "links", (int)daemon->core.fabric.faults.link_count));
}

const struct command fault_commands[] = {
	{"fault-add", run_add, FOR_OPERATORS},	     {"fault-list", run_list},
	{"fault-clear", run_clear, FOR_OPERATORS},   {"fault-record", run_record},
	{"fault-replay", run_replay, FOR_OPERATORS}, {NULL, NULL},
};
