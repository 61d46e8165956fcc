/* SPDX-License-Identifier: Apache-2.0 */
/* softib get and softib set: attributes and counters of any node. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/attributes.h"
#include "cli/answer_pages.h"
#include "cli/fabric_client.h"
#include "cli/fabric_options.h"
#include "cli/node_target.h"
#include "cli/subcommand.h"

enum { FIELD_BYTES = 128 };

static json_t *make_request(const char *command, const struct node_target *target)
{
	json_t *request = json_pack("{s:s, s:s}", "command", command, "node", target->node);

	if (target->port != NODE_TARGET_NO_PORT)
		json_object_set_new(request, "port", json_integer(target->port));
	return request;
}

static void print_value(const char *name, const json_t *value)
{
	if (json_is_string(value))
		printf("%-34s %s\n", name, json_string_value(value));
	else
		printf("%-34s %lld\n", name, (long long)json_integer_value(value));
}

static void print_fields(const json_t *fields)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)fields, name, value)
		print_value(name, value);
}

/* Unused entries are not shown: an unused P_Key, a LID without a route. */
static bool is_empty(const char *table, const json_t *value)
{
	enum { NO_ROUTE = 255 };

	if (json_is_string(value))
		return strcmp(json_string_value(value), "0x0") == 0;
	return strcmp(table, "lft") == 0 && json_integer_value(value) == NO_ROUTE;
}

static void print_table(const char *table, const json_t *entries)
{
	char name[FIELD_BYTES];
	json_t *value;
	size_t index;

	json_array_foreach (entries, index, value) {
		snprintf(name, sizeof(name), "%s[%zu]", table, index);
		if (!is_empty(table, value))
			print_value(name, value);
	}
}

/* NULL after printing the error. */
static json_t *collect(int socket, const struct node_target *target, const char *attribute)
{
	json_t *request = make_request("get", target);

	json_object_set_new(request, "attribute", json_string(attribute));
	return answer_pages_collect(socket, request, "entries");
}

static int run_get(const struct subcommand *self, int argument_count, char **arguments)
{
	struct fabric_options options;
	struct node_target target;
	int code = fabric_options_read(self, FABRIC_NAME_AND_JSON, argument_count, arguments,
				       &options);

	if (code >= 0)
		return code;
	if (argument_count - optind != 2)
		return subcommand_misuse(self, "name a node and an attribute");
	if (!node_target_parse(arguments[optind], &target))
		return subcommand_misuse(self, "name NODE, or NODE:PORT with a port from 0 to 254");

	int socket = fabric_client_open(options.fabric);
	json_t *answer = socket < 0 ? NULL : collect(socket, &target, arguments[optind + 1]);

	if (socket >= 0)
		close(socket);
	if (!answer)
		return EXIT_FAILURE;
	if (options.wants_json)
		print_json(answer);
	else if (json_object_get(answer, "fields"))
		print_fields(json_object_get(answer, "fields"));
	else
		print_table(arguments[optind + 1], json_object_get(answer, "entries"));
	json_decref(answer);
	return EXIT_SUCCESS;
}

/* Sets one FIELD=VALUE. Returns the exit code. */
static int set_one(const struct subcommand *self, int socket, const struct node_target *target,
		   const char *assignment)
{
	const char *sign = strchr(assignment, '=');
	char field[FIELD_BYTES];

	if (!sign || sign == assignment || (size_t)(sign - assignment) >= sizeof(field))
		return subcommand_misuse(self, "write FIELD=VALUE");
	memcpy(field, assignment, (size_t)(sign - assignment));
	field[sign - assignment] = '\0';

	json_t *request = make_request("set", target);

	json_object_set_new(request, "field", json_string(field));
	json_object_set_new(request, "value", json_string(sign + 1));

	json_t *answer = fabric_client_ask(socket, request, ANSWER_TIMEOUT_MS);

	if (!answer)
		return EXIT_FAILURE;
	json_decref(answer);
	return EXIT_SUCCESS;
}

static int run_set(const struct subcommand *self, int argument_count, char **arguments)
{
	struct fabric_options options;
	struct node_target target;
	int code = fabric_options_read(self, FABRIC_NAME_ONLY, argument_count, arguments, &options);

	if (code >= 0)
		return code;
	if (argument_count - optind < 2)
		return subcommand_misuse(self, "name a node and at least one FIELD=VALUE");
	if (!node_target_parse(arguments[optind], &target))
		return subcommand_misuse(self, "name NODE, or NODE:PORT with a port from 0 to 254");

	int socket = fabric_client_open(options.fabric);

	if (socket < 0)
		return EXIT_FAILURE;
	code = EXIT_SUCCESS;
	for (int index = optind + 1; index < argument_count && code == EXIT_SUCCESS; index++)
		code = set_one(self, socket, &target, arguments[index]);
	close(socket);
	return code;
}

const struct subcommand subcommand_get = {
	.name = "get",
	.summary = "show an attribute or the counters of a node",
	.usage =
		"Usage: softib get NODE[:PORT] ATTRIBUTE [OPTION]...\n"
		"Shows an attribute as the node's agents would answer it, field by field.\n"
		"ATTRIBUTE is node_info, switch_info, port_info, port_info_extended, counters,\n"
		"description, or one of the tables pkeys, guids, sl_to_vl, vl_low, vl_high, lft, mft.\n"
		"NODE is a host, a switch or a node GUID. Without PORT: port 0 of a switch, port 1 of\n"
		"any other node.\n"
		"\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  -j, --json          print JSON\n",
	.run = run_get,
};

const struct subcommand subcommand_set = {
	.name = "set",
	.summary = "set a field, a table entry or a counter of a node",
	.usage =
		"Usage: softib set NODE[:PORT] FIELD=VALUE... [OPTION]...\n"
		"Sets a value in a node, for tests. FIELD is a field that softib get shows (lid,\n"
		"port_info.lid, counters.symbol_error), a table entry (pkeys[1], lft[7]) or description.\n"
		"The value is set inside the node: no M_Key is checked, and no subnet manager is told.\n"
		"\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n",
	.run = run_set,
};
