/* SPDX-License-Identifier: Apache-2.0 */
/* softib sm: a subnet manager on a host of a fabric. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/fabric_client.h"
#include "cli/manager.h"
#include "cli/subcommand.h"
#include "host/start_options.h"
#include "host/text_file.h"
#include "mgmt/routing/engine.h"
#include "mgmt/sm/qos.h"
#include "mgmt/subnet/partitions.h"

enum {
	OPTION_GUID = 256,
	OPTION_LMC,
	OPTION_LFTS,
	OPTION_STATE,
	OPTION_PARTITIONS,
	OPTION_PART_ENFORCE,
	OPTION_NO_PART_ENFORCE,
	OPTION_QOS,
	/* In the order of enum mkey_setting. */
	OPTION_MKEY,
	OPTION_MKEY_SECRET,
	OPTION_MKEY_PROTECTION_LEVEL,
	OPTION_MKEY_LEASE_PERIOD,
	OPTION_SM_KEY,
	OPTION_SWEEP,
	OPTION_POLL,
	OPTION_PRUNE,
	OPTION_ONCE,
	FILE_BYTES_MAX = 1 << 20,
};

static const struct option options_known[] = {
	{"name", required_argument, NULL, 'n'},
	{"host", required_argument, NULL, 'H'},
	{"priority", required_argument, NULL, 'p'},
	{"engine", required_argument, NULL, 'R'},
	{"guid", required_argument, NULL, OPTION_GUID},
	{"lmc", required_argument, NULL, OPTION_LMC},
	{"lfts", required_argument, NULL, OPTION_LFTS},
	{"state", required_argument, NULL, OPTION_STATE},
	{"partitions", required_argument, NULL, OPTION_PARTITIONS},
	{"part-enforce", required_argument, NULL, OPTION_PART_ENFORCE},
	{"no-part-enforce", no_argument, NULL, OPTION_NO_PART_ENFORCE},
	{"qos", required_argument, NULL, OPTION_QOS},
	{"m-key", required_argument, NULL, OPTION_MKEY},
	{"mkey", required_argument, NULL, OPTION_MKEY},
	{"m-key-secret", required_argument, NULL, OPTION_MKEY_SECRET},
	{"m-key-protection-level", required_argument, NULL, OPTION_MKEY_PROTECTION_LEVEL},
	{"m-key-lease-period", required_argument, NULL, OPTION_MKEY_LEASE_PERIOD},
	{"sm-key", required_argument, NULL, OPTION_SM_KEY},
	{"sweep", required_argument, NULL, OPTION_SWEEP},
	{"poll", required_argument, NULL, OPTION_POLL},
	{"prune", required_argument, NULL, OPTION_PRUNE},
	{"once", no_argument, NULL, OPTION_ONCE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* The whole file; the text is the caller's to free. NULL after saying why. */
static char *read_file(const char *path, size_t *ret_bytes)
{
	char *text = NULL;
	int error = text_file_read(path, FILE_BYTES_MAX, &text, ret_bytes);

	if (error)
		fprintf(stderr, "softib sm: %s: %s\n", path, strerror(-error));
	return text;
}

static bool read_partitions(const char *path, struct partitions *partitions)
{
	struct policy_error reason;
	size_t byte_count;
	char *text = read_file(path, &byte_count);
	int error = text ? partitions_parse(partitions, text, byte_count, &reason) : 0;

	if (error == -EINVAL)
		fprintf(stderr, "softib sm: %s:%u: %s\n", path, reason.line, reason.reason);
	else if (error)
		fprintf(stderr, "softib sm: %s: %s\n", path, strerror(-error));
	free(text);
	return text && !error;
}

static bool read_qos(const char *path, struct qos *qos)
{
	struct policy_error reason;
	size_t byte_count;
	char *text = read_file(path, &byte_count);
	int error = text ? qos_parse(qos, text, byte_count, &reason) : 0;

	if (error)
		fprintf(stderr, "softib sm: %s:%u: %s\n", path, reason.line, reason.reason);
	free(text);
	return text && !error;
}

static bool read_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(text, &end, 0);
	return end != text && !*end && !errno && *ret_number <= max && text[0] != '-';
}

/* Options with a number. false: the text is none. */
static bool take_number(int option, const char *text, struct manager_options *options)
{
	uint64_t number;

	switch (option) {
	case 'p':
		if (!read_number(text, 15, &number))
			return false;
		options->priority = (uint8_t)number;
		return true;
	case OPTION_LMC:
		if (!read_number(text, 7, &number))
			return false;
		options->lmc = (uint8_t)number;
		return true;
	case OPTION_GUID:
		return read_number(text, UINT64_MAX, &options->port_guid);
	case OPTION_SM_KEY:
		return read_number(text, UINT64_MAX, &options->sm_key);
	case OPTION_SWEEP:
	case OPTION_POLL:
		if (!read_number(text, 3600 * 1000, &number))
			return false;
		*(option == OPTION_POLL ? &options->poll_interval : &options->sweep_interval) =
			MILLISECONDS(number);
		return true;
	case OPTION_PRUNE:
		if (!read_number(text, PRUNE_SECONDS_MAX, &number))
			return false;
		options->prune_interval = SECONDS(number);
		return true;
	default:
		return false;
	}
}

static bool engine_is_known(const char *name)
{
	if (routing_engine_find(name))
		return true;
	fprintf(stderr, "softib sm: no engine %s; there are", name);
	for (const struct routing_engine *engine = routing_engines; engine->name; engine++)
		fprintf(stderr, " %s", engine->name);
	fputc('\n', stderr);
	return false;
}

static int run_sm(const struct subcommand *self, int argument_count, char **arguments)
{
	static struct partitions partitions;
	static struct qos qos;
	struct manager_options options = {.host = getenv("SOFTIB_HOST"),
					  .sweep_interval = SECONDS(2),
					  .prune_interval = SECONDS(PRUNE_SECONDS_DEFAULT)};
	enum part_enforce part_enforce;
	const char *fabric = NULL;
	int option, error;

	while ((option = getopt_long(argument_count, arguments, "n:H:p:R:h", options_known,
				     NULL)) != -1) {
		switch (option) {
		case 'h':
			return subcommand_help(self);
		case 'n':
			fabric = optarg;
			break;
		case 'H':
			options.host = optarg;
			break;
		case 'R':
			if (!engine_is_known(optarg))
				return EXIT_USAGE;
			options.engine = optarg;
			break;
		case OPTION_STATE:
			options.state_path = optarg;
			break;
		case OPTION_PARTITIONS:
			if (!read_partitions(optarg, &partitions))
				return EXIT_FAILURE;
			options.partitions = &partitions;
			break;
		case OPTION_PART_ENFORCE:
		case OPTION_NO_PART_ENFORCE:
			if (!part_enforce_named(optarg ? optarg : "off", &part_enforce))
				return subcommand_misuse(
					self, "--part-enforce takes both, in, out or off");
			options.part_enforce = (uint8_t)part_enforce;
			break;
		case OPTION_QOS:
			if (!read_qos(optarg, &qos))
				return EXIT_FAILURE;
			options.qos = &qos;
			break;
		case OPTION_LFTS:
			options.tables_text = read_file(optarg, &options.tables_bytes);
			if (!options.tables_text)
				return EXIT_FAILURE;
			break;
		case OPTION_ONCE:
			options.is_once = true;
			break;
		case OPTION_MKEY:
		case OPTION_MKEY_SECRET:
		case OPTION_MKEY_PROTECTION_LEVEL:
		case OPTION_MKEY_LEASE_PERIOD: {
			enum mkey_setting setting = (enum mkey_setting)(option - OPTION_MKEY);

			if (mkey_settings_refusal(setting, optarg))
				return subcommand_misuse(self,
							 mkey_settings_refusal(setting, optarg));
			mkey_settings_take(&options.mkeys, setting, optarg);
			break;
		}
		case '?':
			return subcommand_misuse(self, NULL);
		default:
			if (!take_number(option, optarg, &options))
				return subcommand_misuse(self, "a number is out of range");
		}
	}
	if (optind < argument_count)
		return subcommand_misuse(self, "it takes options only");
	error = mkey_settings_complete(&options.mkeys);
	if (error) {
		fprintf(stderr, "softib sm: %s: %s\n", options.mkeys.secret_path,
			secret_file_reason(error));
		return EXIT_FAILURE;
	}
	if (options.engine && strcmp(options.engine, "file") == 0 && !options.tables_text)
		return subcommand_misuse(self, "the engine file takes its tables from --lfts");
	options.fabric = fabric_name_or_default(fabric);
	return manager_run(&options);
}

const struct subcommand subcommand_sm = {
	.name = "sm",
	.summary = "run a subnet manager on a host",
	.usage = "Usage: softib sm [OPTION]...\n"
		 "Runs a subnet manager, with its subnet administration, on a port of a node. Any "
		 "number may run;\n"
		 "they elect a master, and the others stand by. SIGTERM hands the subnet over.\n"
		 "\n"
		 "  -n, --name FABRIC   which (default: SOFTIB_FABRIC, or \"default\")\n"
		 "  -H, --host HOST     on which host, switch or router (default: SOFTIB_HOST, or the\n"
		 "                      first host)\n"
		 "  --guid GUID         on the port with this GUID (default: the first)\n"
		 "  -p, --priority N    0 to 15; the highest is master (default 0)\n"
		 "  -R, --engine NAME   how to route (default minhop)\n"
		 "  --lfts FILE         tables for the engine \"file\", as dump_fts prints them\n"
		 "  --partitions FILE   partitions, as in OpenSM's partitions.conf\n"
		 "  --part-enforce TYPE both, in, out or off: which packets switches and routers check\n"
		 "                      (default both)\n"
		 "  --no-part-enforce   the same as --part-enforce off\n"
		 "  --qos FILE          service levels of partitions and services, lanes\n"
		 "  --lmc N             2^N LIDs per port (default 0)\n"
		 "  --state FILE        LIDs are remembered there\n"
		 "  --m-key KEY         M_Key of every port (default 0: none)\n"
		 "  --m-key-secret FILE an M_Key per port, from the secret there; made if absent\n"
		 "  --m-key-protection-level N\n"
		 "                      0 shows the key, 1 hides it (default), 2 and 3 answer nobody\n"
		 "                      without it\n"
		 "  --m-key-lease-period S\n"
		 "                      seconds until a port gives up its protection (default 60; 0:\n"
		 "                      never) after a wrong key that no right one follows\n"
		 "  --sm-key KEY        managers with another key are left alone (default: from the\n"
		 "                      secret, or 1)\n"
		 "  --sweep MS          between two light sweeps (default 2000)\n"
		 "  --poll MS           between two questions to the master (default 1000)\n"
		 "  --prune SECONDS     between two questions to the members of multicast groups\n"
		 "                      whether they still take part (default 600; 0: none)\n"
		 "  --once              end when the subnet is up\n",
	.run = run_sm,
};
