/* SPDX-License-Identifier: Apache-2.0 */
/* softib hosts: lists the ports of all hosts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/attributes.h"
#include "cli/answer_pages.h"
#include "cli/fabric_client.h"
#include "cli/fabric_options.h"
#include "cli/subcommand.h"

static const struct {
	const char *title;
	const char *key;
} columns[] = {
	{"HOST", "host"},	{"ADAPTER", "adapter"},	    {"PORT", "port"},
	{"LID", "lid"},		{"PORT GUID", "port_guid"}, {"STATE", "state"},
	{"ADDRESS", "address"}, {"IPV6", "ipv6"},
};

enum { CELL_BYTES = 72 };

static void format_cell(const json_t *row, unsigned column, char ret_text[static CELL_BYTES])
{
	const json_t *value = json_object_get(row, columns[column].key);

	if (json_is_integer(value))
		snprintf(ret_text, CELL_BYTES, "%d", (int)json_integer_value(value));
	else
		snprintf(ret_text, CELL_BYTES, "%s",
			 json_is_string(value) ? json_string_value(value) : "-");
}

static void print_cell(const char *cell, unsigned column, size_t width)
{
	if (column + 1 == ARRAY_COUNT(columns))
		printf("%s\n", cell);
	else
		printf("%-*s  ", (int)width, cell);
}

static void print_table(const json_t *rows)
{
	size_t widths[ARRAY_COUNT(columns)];
	char cell[CELL_BYTES];
	size_t index;
	json_t *row;

	for (unsigned column = 0; column < ARRAY_COUNT(columns); column++)
		widths[column] = strlen(columns[column].title);
	json_array_foreach (rows, index, row) {
		for (unsigned column = 0; column < ARRAY_COUNT(columns); column++) {
			format_cell(row, column, cell);
			if (strlen(cell) > widths[column])
				widths[column] = strlen(cell);
		}
	}
	for (unsigned column = 0; column < ARRAY_COUNT(columns); column++)
		print_cell(columns[column].title, column, widths[column]);
	json_array_foreach (rows, index, row) {
		for (unsigned column = 0; column < ARRAY_COUNT(columns); column++) {
			format_cell(row, column, cell);
			print_cell(cell, column, widths[column]);
		}
	}
}

static int run_hosts(const struct subcommand *self, int argument_count, char **arguments)
{
	struct fabric_options options;
	int code = fabric_options_read_all(self, FABRIC_NAME_AND_JSON, argument_count, arguments,
					   &options);

	if (code >= 0)
		return code;

	int socket = fabric_client_open(options.fabric);

	if (socket < 0)
		return EXIT_FAILURE;

	json_t *answer =
		answer_pages_collect(socket, json_pack("{s:s}", "command", "hosts"), "ports");
	json_t *rows = json_incref(json_object_get(answer, "ports"));

	json_decref(answer);
	close(socket);
	return fabric_options_print(&options, rows, print_table);
}

const struct subcommand subcommand_hosts = {
	.name = "hosts",
	.summary = "list hosts with their adapters, LIDs, GUIDs and addresses",
	.usage = "Usage: softib hosts [OPTION]...\n"
		 "Lists the hosts of a fabric, one line per adapter port.\n"
		 "\n"
		 "  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		 "  --json              print JSON\n",
	.run = run_hosts,
};
