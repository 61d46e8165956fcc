/* SPDX-License-Identifier: Apache-2.0 */
/* softib link: pulls a cable or puts it back. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/fabric_client.h"
#include "cli/fabric_options.h"
#include "cli/node_target.h"
#include "cli/subcommand.h"

static int run_link(const struct subcommand *self, int argument_count, char **arguments)
{
	struct fabric_options options;
	struct node_target target;
	int code = fabric_options_read(self, FABRIC_NAME_ONLY, argument_count, arguments, &options);

	if (code >= 0)
		return code;
	if (argument_count - optind != 2)
		return subcommand_misuse(self, "it takes down or up, and a node");

	bool is_up = strcmp(arguments[optind], "up") == 0;

	if (!is_up && strcmp(arguments[optind], "down") != 0)
		return subcommand_misuse(self, "a link goes down or up");
	if (!node_target_parse(arguments[optind + 1], &target) || target.port == 0)
		return subcommand_misuse(
			self, "which link? NODE, or NODE:PORT with a port from 1 to 254");

	/* 0 stands for all. */
	int port = target.port == NODE_TARGET_NO_PORT ? 0 : target.port;
	json_t *answer =
		fabric_ask(options.fabric, json_pack("{s:s, s:s, s:i, s:b}", "command", "link",
						     "node", target.node, "port", port, "up",
						     is_up));

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
