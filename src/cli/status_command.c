/* SPDX-License-Identifier: Apache-2.0 */
/* softib status: shows a fabric's state. */
#include <stdio.h>
#include <stdlib.h>
#include "cli/fabric_client.h"
#include "cli/fabric_options.h"
#include "cli/subcommand.h"

static void print_captures(const json_t *captures)
{
	size_t index, port_index;
	const json_t *row, *name;

	json_array_foreach (captures, index, row) {
		printf("capture         by pid %d at", fabric_client_number(row, "pid"));
		json_array_foreach (json_object_get(row, "ports"), port_index, name)
			printf(" %s", json_string_value(name));
		if (fabric_client_number(row, "port_count") > (int)port_index)
			printf(" and %d more",
			       fabric_client_number(row, "port_count") - (int)port_index);
		printf(": %" JSON_INTEGER_FORMAT " packets, %" JSON_INTEGER_FORMAT " missed\n",
		       json_integer_value(json_object_get(row, "packets")),
		       json_integer_value(json_object_get(row, "missed")));
	}
}

static void print_gateways(const json_t *gateways)
{
	size_t index;
	const json_t *row;

	json_array_foreach (gateways, index, row)
		printf("gateway         %s %s: %d frames sent, %d lost, %d received, %d dropped\n",
		       fabric_client_text(row, "router"), fabric_client_text(row, "where"),
		       fabric_client_number(row, "sent"), fabric_client_number(row, "lost"),
		       fabric_client_number(row, "received"), fabric_client_number(row, "dropped"));
}

static void print_mkeys(const json_t *mkeys)
{
	const char *source = fabric_client_text(mkeys, "last_refused");

	if (!json_is_object(mkeys))
		return;
	printf("M_Keys          %s, protection level %d, ",
	       json_is_true(json_object_get(mkeys, "per_port")) ? "one per port"
								: "one for all ports",
	       fabric_client_number(mkeys, "protection_level"));
	if (fabric_client_number(mkeys, "lease_period"))
		printf("lease %d s", fabric_client_number(mkeys, "lease_period"));
	else
		printf("no lease");
	if (fabric_client_number(mkeys, "refused"))
		printf("; %d requests with a wrong key%s%s", fabric_client_number(mkeys, "refused"),
		       *source ? ", last from " : "", source);
	putchar('\n');
}

static void print_built_in_manager(const json_t *sm)
{
	printf("subnet manager  %s on %s, %d sweeps, %s, routed by %s\n",
	       fabric_client_text(sm, "state"), fabric_client_text(sm, "host"),
	       fabric_client_number(sm, "sweeps"),
	       json_is_true(json_object_get(sm, "subnet_is_up")) ? "subnet up" : "subnet not up",
	       fabric_client_text(sm, "engine"));
	print_mkeys(json_object_get(sm, "mkeys"));
}

static void print_managers(const json_t *status)
{
	const json_t *sm = json_object_get(status, "sm");
	const json_t *others = json_object_get(status, "managers");
	const json_t *name;
	size_t index;

	if (json_is_object(sm))
		print_built_in_manager(sm);
	else if (!json_array_size(others))
		printf("subnet manager  none\n");
	json_array_foreach (json_object_get(status, "subnets"), index, name)
		print_built_in_manager(name);
	json_array_foreach (others, index, name)
		printf("subnet manager  of a program on %s\n", json_string_value(name));
}

static void print_administration(const json_t *status)
{
	const json_t *sa = json_object_get(status, "administration");

	if (json_is_true(json_object_get(sa, "serves")))
		printf("administration  %d requests, %d multicast groups, %d services, %d "
		       "subscriptions\n",
		       fabric_client_number(sa, "requests"), fabric_client_number(sa, "groups"),
		       fabric_client_number(sa, "services"),
		       fabric_client_number(sa, "subscriptions"));
}

static void print_identified(const json_t *names)
{
	const json_t *name;
	size_t index;

	json_array_foreach (names, index, name)
		printf("identify        %s\n", json_string_value(name));
}

static void print_status(const json_t *status)
{
	printf("fabric          %s%s\n", fabric_client_text(status, "fabric"),
	       json_is_true(json_object_get(status, "ephemeral")) ? " (stops with its last program)"
								  : "");
	printf("softibd         pid %d\n", fabric_client_number(status, "pid"));
	printf("folder          %s\n", fabric_client_text(status, "folder"));
	printf("hosts           %d\n", fabric_client_number(status, "hosts"));
	printf("switches        %d\n", fabric_client_number(status, "switches"));
	printf("links           %d, %d active\n", fabric_client_number(status, "links"),
	       fabric_client_number(status, "active_links"));
	printf("programs        %d\n", fabric_client_number(status, "programs"));
	printf("data path       %s\n", json_is_true(json_object_get(status, "offload"))
					       ? "offloaded where possible"
					       : "through softibd");
	if (json_is_true(json_object_get(status, "paced")))
		printf("pacing          %s: up to %d us late within the last second\n",
		       json_is_true(json_object_get(status, "behind")) ? "falls behind"
								       : "keeps up",
		       fabric_client_number(status, "late_us"));
	printf("offloaded flows %zu\n", json_array_size(json_object_get(status, "direct_flows")));
	print_captures(json_object_get(status, "captures"));
	print_gateways(json_object_get(status, "gateways"));
	if (fabric_client_number(status, "faulty_links"))
		printf("faults          on %d link directions; softib fault list shows them\n",
		       fabric_client_number(status, "faulty_links"));
	if (fabric_client_number(status, "mad_ports"))
		printf("management      %d ports open\n",
		       fabric_client_number(status, "mad_ports"));
	print_identified(json_object_get(status, "identified"));
	print_managers(status);
	print_administration(status);
}

static int run_status(const struct subcommand *self, int argument_count, char **arguments)
{
	return fabric_options_query(self, argument_count, arguments, "status", print_status);
}

const struct subcommand subcommand_status = {
	.name = "status",
	.summary = "show a fabric's state",
	.usage = "Usage: softib status [OPTION]...\n"
		 "Shows a fabric's state: hosts, switches, links, programs, subnet manager.\n"
		 "\n"
		 "  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		 "  --json              print JSON\n",
	.run = run_status,
};
