/* SPDX-License-Identifier: Apache-2.0 */
/* softib log: the last events of a node, read by MADs (docs/vendor-class.md). */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/attributes.h"
#include "cli/fabric_client.h"
#include "cli/node_log_text.h"
#include "cli/node_target.h"
#include "cli/subcommand.h"
#include "cli/vendor_client.h"

enum { LOG_BYTES = NODE_LOG_HEADER_BYTES + NODE_LOG_ENTRIES_PER_MAD * NODE_LOG_ENTRY_BYTES };

#define FOLLOW_INTERVAL MILLISECONDS(200)

static const struct option options[] = {
	{"name", required_argument, NULL, 'n'}, {"host", required_argument, NULL, 'H'},
	{"follow", no_argument, NULL, 'f'},	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},	{NULL, 0, NULL, 0},
};

struct log_options {
	const char *fabric, *host;
	bool follows, wants_json;
	json_t *rows; /* of all entries; NULL: each is printed at once */
};

static void print_entry(const struct log_options *wanted, const struct node_log_header *header,
			const struct node_log_entry *entry, uint32_t number)
{
	char text[NODE_LOG_TEXT_BYTES];
	uint64_t age_ms = header->now_ns > entry->time_ns
				  ? (header->now_ns - entry->time_ns) / MILLISECONDS(1)
				  : 0;

	if (wanted->rows) {
		json_array_append_new(wanted->rows, node_log_json(entry, number));
		return;
	}
	if (wanted->wants_json) {
		json_t *row = node_log_json(entry, number);

		json_dumpf(row, stdout, JSON_COMPACT);
		json_decref(row);
		putchar('\n');
		return;
	}
	node_log_text(entry, text);
	/* Links train before the clock of the fabric runs. */
	if (entry->time_ns == 0)
		printf("%6" PRIu32 "  at the start  %s", number, text);
	else
		printf("%6" PRIu32 " %6" PRIu64 ".%03" PRIu64 " s ago  %s", number, age_ms / 1000,
		       age_ms % 1000, text);
	if (entry->count > 1)
		printf(" (%" PRIu32 " times)", entry->count);
	putchar('\n');
}

/* Prints the entries from this number on. *from is the next number afterwards. */
static bool read_log(struct vendor_client *client, const struct log_options *wanted, uint32_t *from)
{
	struct node_log_header header;
	struct node_log_entry entry;

	do {
		uint8_t data[LOG_BYTES] = {0};

		if (!vendor_client_ask(client, MAD_GET, ATTRIBUTE_NODE_LOG, *from, data,
				       sizeof(data)))
			return false;
		node_log_header_decode(data, &header);
		if (header.entry_count > NODE_LOG_ENTRIES_PER_MAD)
			header.entry_count = NODE_LOG_ENTRIES_PER_MAD;
		for (unsigned i = 0; i < header.entry_count; i++) {
			node_log_entry_decode(data + NODE_LOG_HEADER_BYTES +
						      (size_t)i * NODE_LOG_ENTRY_BYTES,
					      &entry);
			print_entry(wanted, &header, &entry, header.first + i);
		}
		*from = header.first + header.entry_count;
	} while (header.entry_count == NODE_LOG_ENTRIES_PER_MAD && *from != header.next);
	return true;
}

static int read_and_follow(struct vendor_client *client, const struct log_options *wanted)
{
	uint32_t next = 0;
	bool is_read = read_log(client, wanted, &next);

	while (is_read && wanted->follows) {
		fflush(stdout);
		is_read = vendor_client_wait(client, FOLLOW_INTERVAL) &&
			  read_log(client, wanted, &next);
	}
	if (wanted->rows && is_read)
		print_json(wanted->rows);
	return is_read || client->is_interrupted ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_log(const struct subcommand *self, int argument_count, char **arguments)
{
	struct log_options wanted = {0};
	struct vendor_client client;
	struct node_target node;
	int letter, code;

	while ((letter = getopt_long(argument_count, arguments, "n:H:fjh", options, NULL)) != -1) {
		switch (letter) {
		case 'n':
			wanted.fabric = optarg;
			break;
		case 'H':
			wanted.host = optarg;
			break;
		case 'f':
			wanted.follows = true;
			break;
		case 'j':
			wanted.wants_json = true;
			break;
		case 'h':
			return subcommand_help(self);
		default:
			return subcommand_misuse(self, NULL);
		}
	}
	if (optind + 1 != argument_count || !node_target_parse(arguments[optind], &node))
		return subcommand_misuse(self, "name one NODE, or NODE:PORT");
	if (vendor_client_open(&client, self->name, fabric_name_or_default(wanted.fabric),
			       wanted.host, &node) != 0)
		return EXIT_FAILURE;
	if (wanted.wants_json && !wanted.follows)
		wanted.rows = json_array();
	code = read_and_follow(&client, &wanted);
	json_decref(wanted.rows);
	vendor_client_close(&client);
	return code;
}

const struct subcommand subcommand_log = {
	.name = "log",
	.summary = "show the last events of a node",
	.usage =
		"Usage: softib log NODE [OPTION]...\n"
		"Shows the last events of a node: port states, traps, key violations, Sets, identify.\n"
		"A host's port asks the node by MADs of softib's vendor class.\n"
		"\n"
		"  -f, --follow        wait for more, until SIGINT\n"
		"  -H, --host HOST     the host that asks (default: the first)\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  -j, --json          print JSON; with --follow one object per line\n",
	.run = run_log,
};
