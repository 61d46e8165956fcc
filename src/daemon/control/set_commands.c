/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of "softib get" and "softib set": a node's attributes and counters, shown and set by
 * name. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "daemon/commands.h"
#include "daemon/control/named_port.h"
#include "daemon/control/request_fields.h"
#include "daemon/core/flow_table.h"
#include "daemon/core/log.h"
#include "daemon/daemon.h"
#include "mgmt/agents/node_fields.h"
#include "net/node/node.h"

/* The entries of a table that fit one message; "next" says where the next request starts. */
enum { TABLE_ENTRIES_MAX = 1024 };

static json_t *number_to_json(uint64_t value, bool is_hexadecimal)
{
	if (is_hexadecimal || value > INT64_MAX)
		return json_sprintf("0x%" PRIx64, value);
	return json_integer((json_int_t)value);
}

/* GUIDs, keys, masks and ids are read as hexadecimal numbers, everything else as decimal. */
static bool is_hexadecimal(const struct node_attribute *attribute,
			   const struct attribute_field *field)
{
	if (attribute->is_counters)
		return false;
	return field->bit_count == 64 || strstr(field->name, "mask") || strstr(field->name, "_id");
}

static void show_attribute(const struct node_attribute *attribute, const struct port *port,
			   struct reply *ret_reply)
{
	json_t *fields = json_object();

	for (size_t i = 0; i < attribute->layout->field_count; i++) {
		const struct attribute_field *field = &attribute->layout->fields[i];

		if (!node_field_is_shown(attribute, field, port))
			continue;
		json_object_set_new(fields, field->name,
				    number_to_json(node_field_value(attribute, field, port),
						   is_hexadecimal(attribute, field)));
	}
	reply_ok(ret_reply,
		 json_pack("{s:s, s:i, s:s, s:o}", "node", port->node->description, "port",
			   (int)port->number, "attribute", attribute->name, "fields", fields));
}

static void show_table(const struct node_table *table, const struct port *port, uint32_t from,
		       struct reply *ret_reply)
{
	uint32_t count = table->entry_count(port);
	uint32_t end = count;
	json_t *entries = json_array();

	if (from < count && count - from > TABLE_ENTRIES_MAX)
		end = from + TABLE_ENTRIES_MAX;
	for (uint32_t index = from; index < end; index++)
		json_array_append_new(
			entries, number_to_json(table->get(port, index), table->is_hexadecimal));
	reply_ok(ret_reply, json_pack("{s:s, s:i, s:s, s:i, s:o}", "node", port->node->description,
				      "port", (int)port->number, "table", table->name, "count",
				      (int)count, "entries", entries));
	if (end < count)
		json_object_set_new(ret_reply->object, "next", json_integer(end));
}

/* The error names the attributes that there are. */
static void refuse_attribute(const char *name, struct reply *ret_reply)
{
	char text[256] = "description";

	for (const struct node_attribute *row = node_attributes; row->name; row++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %s", row->name);
	for (const struct node_table *row = node_tables; row->name; row++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %s", row->name);
	reply_error(ret_reply, ENOENT, "no attribute %.*s here; choose from: %s", NAME_SHOWN, name,
		    text);
}

static void run_get(struct client *client, const json_t *request, struct reply *ret_reply)
{
	const char *name = json_string_value(json_object_get(request, "attribute"));
	json_int_t from = request_from(request);
	struct port *port =
		named_port_find(client_daemon(client), request, "node", "port", ret_reply);

	if (!port)
		return;

	const struct node_attribute *attribute = name ? node_attribute_find(name) : NULL;
	const struct node_table *table = name ? node_table_find(name) : NULL;

	if (name && strcmp(name, "description") == 0) {
		reply_ok(ret_reply,
			 json_pack("{s:s, s:i, s:s, s:{s:s}}", "node", port->node->description,
				   "port", (int)port->number, "attribute", name, "fields",
				   "description", port->node->description));
		return;
	}
	if (attribute && node_attribute_exists(attribute, port)) {
		flows_fold_all(client->core);
		show_attribute(attribute, port, ret_reply);
		return;
	}
	if (table && table->entry_count(port)) {
		show_table(table, port, from > 0 && from <= INT32_MAX ? (uint32_t)from : 0,
			   ret_reply);
		return;
	}
	refuse_attribute(name ? name : "", ret_reply);
}

static void explain_set(enum node_set_result result, const char *field, const char *value,
			uint64_t maximum, struct reply *ret_reply)
{
	switch (result) {
	case NODE_SET_OK:
		reply_ok(ret_reply, json_object());
		break;
	case NODE_SET_NO_SUCH_FIELD:
		reply_error(ret_reply, ENOENT, "no field or entry %.*s here; softib get lists them",
			    NAME_SHOWN, field);
		break;
	case NODE_SET_NOT_A_NUMBER:
		reply_error(ret_reply, EINVAL, "%.*s takes a number, not \"%.*s\"", NAME_SHOWN,
			    field, NAME_SHOWN, value);
		break;
	case NODE_SET_OUT_OF_RANGE:
		reply_error(ret_reply, ERANGE,
			    "%.*s can't be %.*s: at most %" PRIu64 " (0x%" PRIx64 ")", NAME_SHOWN,
			    field, NAME_SHOWN, value, maximum, maximum);
		break;
	case NODE_SET_FIXED:
		reply_error(ret_reply, EPERM, "%.*s can't be changed", NAME_SHOWN, field);
		break;
	case NODE_SET_LINK_IS_DOWN:
		reply_error(ret_reply, ENOLINK, "the port's link can't be in that state");
		break;
	}
}

static void run_set(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	const char *field = json_string_value(json_object_get(request, "field"));
	const char *value = json_string_value(json_object_get(request, "value"));
	struct port *port = named_port_find(daemon, request, "node", "port", ret_reply);
	uint64_t maximum = 0;

	if (!port)
		return;
	if (!field || !value) {
		reply_error(ret_reply, EINVAL, "set takes a field and a value");
		return;
	}
	/* Offloaded packets so far count before the counter is set. */
	flows_fold_all(&daemon->core);

	enum node_set_result result = node_field_set(&daemon->core.fabric.agents, port,
						     daemon->core.loop.now, field, value, &maximum);

	if (result == NODE_SET_OK)
		log_line("set %s:%d %.*s=%.*s", port->node->description, (int)port->number,
			 NAME_SHOWN, field, NAME_SHOWN, value);
	explain_set(result, field, value, maximum, ret_reply);
}

const struct command set_commands[] = {
	{"get", run_get, FOR_OPERATORS},
	{"set", run_set, FOR_OPERATORS},
	{NULL, NULL},
};
