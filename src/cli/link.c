/* SPDX-License-Identifier: Apache-2.0 */
/* softib link: pulls a cable or puts it back. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/connection.h"
#include "cli/fabric_options.h"
#include "cli/subcommand.h"

enum { NODE_BYTES = 128 };

/* NODE or NODE:PORT. Port 0 stands for all. */
static bool parse_target(const char *text, char ret_node[static NODE_BYTES], int *ret_port)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : strlen(text);
	long port = 0;
	char *end;

	if (length == 0 || length >= NODE_BYTES)
		return false;
	if (colon) {
		port = strtol(colon + 1, &end, 10);
		if (*end || end == colon + 1 || port < 1 || port > 254)
			return false;
	}
	memcpy(ret_node, text, length);
	ret_node[length] = '\0';
	*ret_port = (int)port;
	return true;
}

static int run_link(const struct subcommand *self, int argument_count, char **arguments)
{
	struct fabric_options options;
	char node[NODE_BYTES];
	int port;
	int code = fabric_options_read(self, FABRIC_NAME_ONLY, argument_count, arguments, &options);

	if (code >= 0)
		return code;
	if (argument_count - optind != 2)
		return subcommand_misuse(self, "it takes down or up, and a node");

	bool is_up = strcmp(arguments[optind], "up") == 0;

	if (!is_up && strcmp(arguments[optind], "down") != 0)
		return subcommand_misuse(self, "a link goes down or up");
	if (!parse_target(arguments[optind + 1], node, &port))
		return subcommand_misuse(
			self, "which link? NODE, or NODE:PORT with a port from 1 to 254");

	json_t *answer =
		fabric_ask(options.fabric, json_pack("{s:s, s:s, s:i, s:b}", "command", "link",
						     "node", node, "port", port, "up", is_up));

	if (!answer)
		return EXIT_FAILURE;
	json_decref(answer);
	return EXIT_SUCCESS;
}

const struct subcommand subcommand_link = {
	.name = "link",
	.summary = "pull a cable, or put it back",
	.usage = "Usage: softib link down|up NODE[:PORT] [OPTION]...\n"
		 "Pulls the cable of a port, or puts it back. The subnet manager finds out by "
		 "itself.\n"
		 "NODE is a host, a switch or a node GUID; without PORT all its cables are meant.\n"
		 "\n"
		 "  -n, --name FABRIC   which (default: SOFTIB_FABRIC, or \"default\")\n",
	.run = run_link,
};
