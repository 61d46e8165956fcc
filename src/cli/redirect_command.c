/* SPDX-License-Identifier: Apache-2.0 */
/* softib redirect: makes a port redirect requests of a class to another queue pair or port
 * (management 1.6). */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/attributes.h"
#include "cli/answer_pages.h"
#include "cli/class_names.h"
#include "cli/fabric_client.h"
#include "cli/node_target.h"
#include "cli/subcommand.h"

/* Options whose value is a number of the request. */
static const struct option options[] = {
	{"name", required_argument, NULL, 'n'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{"gid", no_argument, NULL, 'g'},
	{"when-busy", no_argument, NULL, 'b'},
	{"connections", no_argument, NULL, 'c'},
	{"qp", required_argument, NULL, 'v'},
	{"pkey", required_argument, NULL, 'v'},
	{"qkey", required_argument, NULL, 'v'},
	{"sl", required_argument, NULL, 'v'},
	{"tclass", required_argument, NULL, 'v'},
	{"flow", required_argument, NULL, 'v'},
	{NULL, 0, NULL, 0},
};

struct redirect_options {
	const char *fabric;
	bool wants_json;
	json_t *request; /* with the numbers that were given */
};

static bool add_number(json_t *request, const char *name, const char *text)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || number > UINT32_MAX)
		return false;
	json_object_set_new(request, name, json_integer((json_int_t)number));
	return true;
}

/* -1, or the exit code if the command is done. */
static int read_options(const struct subcommand *self, int argument_count, char **arguments,
			struct redirect_options *ret_options)
{
	int letter, index;

	while ((letter = getopt_long(argument_count, arguments, "n:jh", options, &index)) != -1) {
		switch (letter) {
		case 'n':
			ret_options->fabric = optarg;
			break;
		case 'j':
			ret_options->wants_json = true;
			break;
		case 'g':
			json_object_set_new(ret_options->request, "gid", json_true());
			break;
		case 'b':
			json_object_set_new(ret_options->request, "when_busy", json_true());
			break;
		case 'c':
			json_object_set_new(ret_options->request, "connections", json_true());
			break;
		case 'v':
			if (!add_number(ret_options->request, options[index].name, optarg))
				return subcommand_misuse(self, "an option needs a number");
			break;
		case 'h':
			return subcommand_help(self);
		default:
			return subcommand_misuse(self, NULL);
		}
	}
	return -1;
}

static void print_row(const json_t *row)
{
	int management_class = fabric_client_number(row, "class");
	const char *name = class_name_of((uint8_t)management_class);
	const char *gid = json_string_value(json_object_get(row, "gid"));

	printf("%-16s 0x%02x %-10s ", fabric_client_text(row, "port"), management_class,
	       name ? name : "");
	if (fabric_client_number(row, "lid"))
		printf("lid %d ", fabric_client_number(row, "lid"));
	if (gid)
		printf("gid %s ", gid);
	printf("qp 0x%x pkey 0x%04x qkey 0x%08x sl %d", fabric_client_number(row, "qp"),
	       fabric_client_number(row, "pkey"),
	       (unsigned)json_integer_value(json_object_get(row, "qkey")),
	       fabric_client_number(row, "sl"));
	if (fabric_client_number(row, "tclass"))
		printf(" tclass %d", fabric_client_number(row, "tclass"));
	if (fabric_client_number(row, "flow"))
		printf(" flow 0x%x", (unsigned)fabric_client_number(row, "flow"));
	if (json_is_true(json_object_get(row, "connections")))
		printf(" connections only");
	puts(json_is_true(json_object_get(row, "when_busy")) ? " when busy" : "");
}

static int list(const struct redirect_options *wanted)
{
	int socket = fabric_client_open(fabric_name_or_default(wanted->fabric));
	json_t *answer;
	const json_t *row;
	size_t index;

	if (socket < 0)
		return EXIT_FAILURE;
	answer = answer_pages_collect(socket, json_pack("{s:s}", "command", "redirects"),
				      "redirects");
	close(socket);
	if (!answer)
		return EXIT_FAILURE;
	if (wanted->wants_json) {
		print_json(answer);
	} else {
		json_array_foreach (json_object_get(answer, "redirects"), index, row)
			print_row(row);
	}
	json_decref(answer);
	return EXIT_SUCCESS;
}

static bool add_port(json_t *request, const char *node_key, const char *port_key, const char *text)
{
	struct node_target target;

	if (!node_target_parse(text, &target))
		return false;
	json_object_set_new(request, node_key, json_string(target.node));
	if (target.port != NODE_TARGET_NO_PORT)
		json_object_set_new(request, port_key, json_integer(target.port));
	return true;
}

/* NODE[:PORT] CLASS to NODE[:PORT], or NODE[:PORT] CLASS off. */
static int change(const struct subcommand *self, const struct redirect_options *wanted, int count,
		  char **words)
{
	bool is_off = count == 3 && strcmp(words[2], "off") == 0;
	uint8_t management_class;
	json_t *answer;

	if (!is_off && (count != 4 || strcmp(words[2], "to") != 0))
		return subcommand_misuse(self, "write NODE CLASS to NODE, or NODE CLASS off");
	if (!class_name_parse(words[1], &management_class))
		return subcommand_misuse(
			self, "CLASS is sa, perf, baseboard, device, cm, snmp, congestion or a "
			      "number from 1 to 255");
	if (!add_port(wanted->request, "node", "port", words[0]) ||
	    (!is_off && !add_port(wanted->request, "to", "to_port", words[3])))
		return subcommand_misuse(self, "name NODE, or NODE:PORT with a port from 0 to 254");
	json_object_set_new(wanted->request, "command",
			    json_string(is_off ? "redirect_off" : "redirect"));
	json_object_set_new(wanted->request, "class", json_integer(management_class));
	answer = fabric_ask(fabric_name_or_default(wanted->fabric), json_incref(wanted->request));
	if (!answer)
		return EXIT_FAILURE;
	json_decref(answer);
	return EXIT_SUCCESS;
}

static int run_redirect(const struct subcommand *self, int argument_count, char **arguments)
{
	struct redirect_options wanted = {.request = json_object()};
	int code = read_options(self, argument_count, arguments, &wanted);

	if (code < 0)
		code = optind == argument_count
			       ? list(&wanted)
			       : change(self, &wanted, argument_count - optind, arguments + optind);
	json_decref(wanted.request);
	return code;
}

const struct subcommand subcommand_redirect = {
	.name = "redirect",
	.summary = "redirect a general service of a port to another port or queue pair",
	.usage =
		"Usage: softib redirect NODE[:PORT] CLASS to NODE[:PORT] [OPTION]...\n"
		"       softib redirect NODE[:PORT] CLASS off\n"
		"       softib redirect [--json]\n"
		"Makes the port answer every request of the class with the address of another port or\n"
		"queue pair (ClassPortInfo), ends that, or lists what is redirected. CLASS is sa, perf,\n"
		"baseboard, device, cm, snmp, congestion or a number. Callers of \"cm\" get REJ 24 or a\n"
		"SIDR_REP, with which they call the other port.\n"
		"\n"
		"  --qp N              the queue pair (default: 1)\n"
		"  --pkey KEY          the P_Key (default: 0xffff)\n"
		"  --qkey KEY          the Q_Key (default: 0x80010000)\n"
		"  --sl N              the service level (default: 0)\n"
		"  --tclass N          the traffic class; the request gets a GRH\n"
		"  --flow N            the flow label; the request gets a GRH\n"
		"  --gid               name the target by its GID alone: clients ask for a path\n"
		"  --when-busy         only requests beyond gsi_rate (softib set NODE gsi_rate=N)\n"
		"  --connections       of cm: the connections go to another port of the node, the\n"
		"                      messages stay (REJ 25)\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  -j, --json          print JSON\n",
	.run = run_redirect,
};
