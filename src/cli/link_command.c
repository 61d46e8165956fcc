/* SPDX-License-Identifier: Apache-2.0 */
/* softib link: unplugs a cable or plugs it in. */
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
		return subcommand_misuse(self, "name down or up, and a node");

	bool is_up = strcmp(arguments[optind], "up") == 0;

	if (!is_up && strcmp(arguments[optind], "down") != 0)
		return subcommand_misuse(self, "name down or up, and a node");
	if (!node_target_parse(arguments[optind + 1], &target) || target.port == 0)
		return subcommand_misuse(self, "name NODE, or NODE:PORT with a port from 1 to 254");

	/* 0: all ports. */
	int port = target.port == NODE_TARGET_NO_PORT ? 0 : target.port;
	json_t *answer = fabric_ask(options.fabric,
				    json_pack("{s:s, s:s, s:i, s:b}", "command", "link", "node",
					      target.node, "port", port, "up", is_up));

	if (!answer)
		return EXIT_FAILURE;
	json_decref(answer);
	return EXIT_SUCCESS;
}

const struct subcommand subcommand_link = {
	.name = "link",
	.summary = "unplug a cable, or plug it in",
	.usage =
		"Usage: softib link down|up NODE[:PORT] [OPTION]...\n"
		"Unplugs the cable of a port, or plugs it in. The subnet manager notices by itself.\n"
		"NODE is a host, a switch or a node GUID. Without PORT, all cables of NODE.\n"
		"\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n",
	.run = run_link,
};
