/* SPDX-License-Identifier: Apache-2.0 */
/* softib services: lists the services that programs listen on, and the connections of each host;
 * its subcommands use the directory of services. */
#include <stdio.h>
#include <stdlib.h>
#include "cli/fabric_client.h"
#include "cli/fabric_options.h"
#include "cli/service_directory.h"
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
	if (argument_count > 1 && service_directory_knows(arguments[1]))
		return service_directory_run(self, argument_count - 1, arguments + 1);
	return fabric_options_query(self, argument_count, arguments, "services", print_tables);
}

const struct subcommand subcommand_services = {
	.name = "services",
	.summary = "list CM services of each host, and use the directory of services",
	.usage =
		"Usage: softib services [OPTION]...\n"
		"       softib services register NAME SERVICE-ID [OPTION]...\n"
		"       softib services find [OPTION]...\n"
		"       softib services unregister --id SERVICE-ID [OPTION]...\n"
		"Lists the services that programs listen on through the RDMA connection\n"
		"manager, and the number of connections of each host.\n"
		"\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  --json              print JSON\n"
		"\n"
		"register, find and unregister use the directory of services: ServiceRecords at\n"
		"subnet administration, by MADs from a host's port.\n"
		"\n"
		"  -H, --host HOST     the host (default: the first)\n"
		"      --name NAME     find: the service's name\n"
		"      --id ID         find, unregister: the service ID\n"
		"      --key KEY       the ServiceKey, 128 bits in hexadecimal. A service that has\n"
		"                      one is changed and deleted only with it; find: services\n"
		"                      with this key\n"
		"      --pkey P_KEY    the service's partition (default: the default one)\n"
		"  -l, --lease SECONDS register: the time until the service ends (default: never)\n"
		"  -n, --fabric FABRIC the fabric\n",
	.run = run_services,
};
