/* SPDX-License-Identifier: Apache-2.0 */
/* softib services: lists the services that programs listen on, and the connections of each host. */
#include <stdio.h>
#include <stdlib.h>
#include "cli/fabric_client.h"
#include "cli/fabric_options.h"
#include "cli/subcommand.h"

static void print_tables(const json_t *answer)
{
	const json_t *row;
	size_t index;

	printf("%-10s %-6s %5s  %s\n", "HOST", "SPACE", "PORT", "SERVICE ID");
	json_array_foreach (json_object_get(answer, "services"), index, row) {
		printf("%-10s %-6s %5d  %s\n", fabric_client_text(row, "host"),
		       fabric_client_text(row, "space"), fabric_client_number(row, "port"),
		       fabric_client_text(row, "service_id"));
	}
	json_array_foreach (json_object_get(answer, "hosts"), index, row) {
		printf("%s: %d connections, %d in timewait\n", fabric_client_text(row, "host"),
		       fabric_client_number(row, "connections"),
		       fabric_client_number(row, "timewait"));
	}
}

static int run_services(const struct subcommand *self, int argument_count, char **arguments)
{
	return fabric_options_query(self, argument_count, arguments, "services", print_tables);
}

const struct subcommand subcommand_services = {
	.name = "services",
	.summary = "list CM services and connections of each host",
	.usage = "Usage: softib services [OPTION]...\n"
		 "Lists the services that programs listen on through the RDMA connection\n"
		 "manager, and the number of connections of each host.\n"
		 "\n"
		 "  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		 "  --json              print JSON\n",
	.run = run_services,
};
