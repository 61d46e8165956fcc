/* SPDX-License-Identifier: Apache-2.0 */
/* softib explain: traces a packet through the forwarding tables. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/fabric_client.h"
#include "cli/subcommand.h"

enum option_code { OPTION_SL = 256, OPTION_PKEY, OPTION_SIZE, OPTION_GROUP, OPTION_JSON };

static const struct option long_options[] = {
	{"name", required_argument, NULL, 'n'},
	{"sl", required_argument, NULL, OPTION_SL},
	{"pkey", required_argument, NULL, OPTION_PKEY},
	{"size", required_argument, NULL, OPTION_SIZE},
	{"mcast", required_argument, NULL, OPTION_GROUP},
	{"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void print_story(const json_t *answer)
{
	size_t index;
	const json_t *step;

	const char *dgid = json_string_value(json_object_get(answer, "dgid"));

	printf("from %s (LID %d) to ", fabric_client_text(answer, "source"),
	       fabric_client_number(answer, "slid"));
	if (dgid)
		printf("GID %s", dgid);
	else
		printf("LID %d", fabric_client_number(answer, "dlid"));
	printf(", SL %d, P_Key 0x%04x\n", fabric_client_number(answer, "sl"),
	       (unsigned)fabric_client_number(answer, "pkey"));
	json_array_foreach (json_object_get(answer, "steps"), index, step) {
		const char *reason = json_string_value(json_object_get(step, "reason"));

		printf("%*s%s  ", 2 + 2 * fabric_client_number(step, "depth"), "",
		       fabric_client_text(step, "port"));
		if (reason)
			printf("dropped, %s: ", reason);
		printf("%s\n", fabric_client_text(step, "text"));
	}
}

static bool set_number(json_t *request, const char *key, const char *value)
{
	char *end;

	errno = 0;

	long long parsed = strtoll(value, &end, 0);

	if (errno || *end || end == value)
		return false;
	json_object_set_new(request, key, json_integer(parsed));
	return true;
}

/* Returns -1, or the exit code when there is nothing more to do. */
static int parse(const struct subcommand *self, int argument_count, char **arguments,
		 json_t *request, const char **ret_fabric, bool *ret_wants_json)
{
	int code;

	while ((code = getopt_long(argument_count, arguments, "n:h", long_options, NULL)) != -1) {
		switch (code) {
		case 'n':
			*ret_fabric = fabric_name_or_default(optarg);
			break;
		case OPTION_SL:
			if (!set_number(request, "sl", optarg))
				return subcommand_misuse(self, "--sl takes a number from 0 to 15");
			break;
		case OPTION_PKEY:
			if (!set_number(request, "pkey", optarg))
				return subcommand_misuse(self,
							 "--pkey takes a number from 0 to 0xffff");
			break;
		case OPTION_SIZE:
			if (!set_number(request, "size", optarg))
				return subcommand_misuse(self, "--size takes a number of bytes");
			break;
		case OPTION_GROUP:
			json_object_set_new(request, "mcast", json_string(optarg));
			break;
		case OPTION_JSON:
			*ret_wants_json = true;
			break;
		default:
			return code == 'h' ? subcommand_help(self) : subcommand_misuse(self, NULL);
		}
	}

	int wanted = json_object_get(request, "mcast") ? 1 : 2;

	if (argument_count - optind != wanted)
		return subcommand_misuse(self, wanted == 2 ? "name a source and a destination"
							   : "with --mcast, name a source only");
	json_object_set_new(request, "source", json_string(arguments[optind]));
	if (wanted == 2)
		json_object_set_new(request, "destination", json_string(arguments[optind + 1]));
	return -1;
}

static int run_explain(const struct subcommand *self, int argument_count, char **arguments)
{
	json_t *request = json_pack("{s:s}", "command", "explain");
	const char *fabric = fabric_name_or_default(NULL);
	bool wants_json = false;
	int code = parse(self, argument_count, arguments, request, &fabric, &wants_json);

	if (code >= 0) {
		json_decref(request);
		return code;
	}

	json_t *answer = fabric_ask(fabric, request);

	if (!answer)
		return EXIT_FAILURE;
	/* A dropped packet is a valid answer, but no success. */
	code = fabric_client_number(answer, "delivered") ? EXIT_SUCCESS : EXIT_FAILURE;
	json_object_del(answer, "ok");
	if (wants_json)
		print_json(answer);
	else
		print_story(answer);
	json_decref(answer);
	return code;
}

const struct subcommand subcommand_explain = {
	.name = "explain",
	.summary = "trace a packet through the forwarding tables",
	.usage =
		"Usage: softib explain SOURCE DESTINATION [OPTION]...\n"
		"       softib explain SOURCE --mcast GROUP [OPTION]...\n"
		"Traces a packet through the tables, port by port, to its destination or to the reason\n"
		"why it is dropped. SOURCE is a host or one of its ports; DESTINATION is a host, a\n"
		"switch, a port or a LID; GROUP is an MLID or an MGID.\n"
		"\n"
		"      --sl N          service level (default 0)\n"
		"      --pkey KEY      partition key (default 0xffff)\n"
		"      --size N        bytes of payload (default 0), compared with each link's MTU\n"
		"      --mcast GROUP   to a multicast group\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"      --json          print JSON\n"
		"\n"
		"Exit status 1 if the packet is delivered nowhere.\n",
	.run = run_explain,
};
