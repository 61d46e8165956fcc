/* SPDX-License-Identifier: Apache-2.0 */
/* softib snmp: a proxy between SNMP managers and the nodes of a fabric. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/fabric_client.h"
#include "cli/snmp_proxy.h"
#include "cli/subcommand.h"

enum { PORT_DEFAULT = 1161, ADDRESS_BYTES = 64, OPTION_NODE = 256, OPTION_TRAP_SINK };

static const struct option options_known[] = {
	{"name", required_argument, NULL, 'n'},
	{"host", required_argument, NULL, 'H'},
	{"listen", required_argument, NULL, 'l'},
	{"node", required_argument, NULL, OPTION_NODE},
	{"trap-sink", required_argument, NULL, OPTION_TRAP_SINK},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static bool read_port(const char *text, uint16_t *ret_port)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	*ret_port = (uint16_t)number;
	return end != text && !*end && number <= UINT16_MAX && text[0] >= '0' && text[0] <= '9';
}

/* 127.A.B.C:PORT. Communities are no secrets, so the proxy does not leave the machine. */
static bool read_address(const char *text, struct sockaddr_in *ret_address)
{
	const char *colon = strrchr(text, ':');
	char address[ADDRESS_BYTES];
	uint16_t port;

	if (!colon || (size_t)(colon - text) >= sizeof(address) || !read_port(colon + 1, &port))
		return false;
	snprintf(address, sizeof(address), "%.*s", (int)(colon - text), text);
	*ret_address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	return inet_pton(AF_INET, address, &ret_address->sin_addr) == 1 &&
	       ntohl(ret_address->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* NAME=PORT; the name itself may have a =. */
static bool read_node(const char *text, struct snmp_proxy_options *options)
{
	const char *equals = strrchr(text, '=');
	struct snmp_proxy_node *node = &options->nodes[options->node_count];

	if (options->node_count == SNMP_PROXY_NODES_MAX || !equals || equals == text ||
	    (size_t)(equals - text) >= sizeof(node->name) || !read_port(equals + 1, &node->port))
		return false;
	snprintf(node->name, sizeof(node->name), "%.*s", (int)(equals - text), text);
	options->node_count++;
	return true;
}

static int run_snmp(const struct subcommand *self, int argument_count, char **arguments)
{
	static struct snmp_proxy_options options;
	const char *fabric = NULL;
	int option;

	options.host = getenv("SOFTIB_HOST");
	options.listen = (struct sockaddr_in){.sin_family = AF_INET,
					      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
					      .sin_port = htons(PORT_DEFAULT)};
	while ((option = getopt_long(argument_count, arguments, "n:H:l:h", options_known, NULL)) !=
	       -1) {
		switch (option) {
		case 'h':
			return subcommand_help(self);
		case 'n':
			fabric = optarg;
			break;
		case 'H':
			options.host = optarg;
			break;
		case 'l':
			if (!read_address(optarg, &options.listen))
				return subcommand_misuse(self, "--listen takes 127.0.0.1:PORT");
			break;
		case OPTION_NODE:
			if (!read_node(optarg, &options))
				return subcommand_misuse(self,
							 "--node takes NODE=PORT, up to 64 times");
			break;
		case OPTION_TRAP_SINK:
			if (!read_address(optarg, &options.trap_sink))
				return subcommand_misuse(self, "--trap-sink takes 127.0.0.1:PORT");
			options.has_trap_sink = true;
			break;
		default:
			return subcommand_misuse(self, NULL);
		}
	}
	if (optind < argument_count)
		return subcommand_misuse(self, "unexpected argument: only options are accepted");
	options.fabric = fabric_name_or_default(fabric);
	return snmp_proxy_run(&options);
}

const struct subcommand subcommand_snmp = {
	.name = "snmp",
	.summary = "let SNMP managers reach the nodes",
	.usage =
		"Usage: softib snmp [OPTION]...\n"
		"Passes SNMP messages between UDP on loopback and the agents of all nodes, by SNMP\n"
		"tunnelling from a port of a host. A node is named in the community of versions 1\n"
		"and 2c (snmpwalk -v2c -c public@s1 127.0.0.1:1161), as the context of version 3\n"
		"(-n s1) or by its engine ID (-e 0x80001f8805 and the node GUID), or has a UDP port\n"
		"of its own.\n"
		"\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  -H, --host HOST     the host, switch or router (default: SOFTIB_HOST, or the\n"
		"                      first host)\n"
		"  -l, --listen 127.0.0.1:PORT\n"
		"                      where managers send to (default: port 1161; 0: any)\n"
		"  --node NODE=PORT    a UDP port that stands for this node, for any version of\n"
		"                      SNMP; PORT 0: any\n"
		"  --trap-sink 127.0.0.1:PORT\n"
		"                      asks all nodes of the subnet, and those of other subnets that\n"
		"                      --node names, for notifications, and passes them on to a\n"
		"                      snmptrapd there\n"
		"\n"
		"The first lines of output are the UDP ports.\n",
	.run = run_snmp,
};
