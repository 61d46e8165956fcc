/* SPDX-License-Identifier: Apache-2.0 */
/* softib sm: runs a subnet manager on a host of a fabric. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/fabric_client.h"
#include "cli/manager.h"
#include "cli/subcommand.h"
#include "launch/start_options.h"
#include "launch/text_file.h"
#include "mgmt/routing/engines.h"
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

/* Reads the whole file; the caller frees the text. NULL after printing the error. */
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

/* Takes an option with a number. false: no number, or out of range. */
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
	fprintf(stderr, "softib sm: unknown engine %s; choose one of", name);
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
				return subcommand_misuse(
					self, "an option's number is missing or out of range");
		}
	}
	if (optind < argument_count)
		return subcommand_misuse(self, "unexpected argument: only options are accepted");
	error = mkey_settings_complete(&options.mkeys);
	if (error) {
		fprintf(stderr, "softib sm: %s: %s\n", options.mkeys.secret_path,
			secret_file_reason(error));
		return EXIT_FAILURE;
	}
	if (options.engine && strcmp(options.engine, "file") == 0 && !options.tables_text)
		return subcommand_misuse(self, "the engine file needs --lfts FILE");
	options.fabric = fabric_name_or_default(fabric);
	return manager_run(&options);
}

const struct subcommand subcommand_sm = {
	.name = "sm",
	.summary = "run a subnet manager on a host",
	.usage =
		"Usage: softib sm [OPTION]...\n"
		"Runs a subnet manager with its subnet administration on a port of a node. Any number\n"
		"may run: they elect a master, the others are standby. SIGTERM hands the subnet over.\n"
		"\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  -H, --host HOST     the host, switch or router (default: SOFTIB_HOST, or the\n"
		"                      first host)\n"
		"  --guid GUID         the port with this GUID (default: the first)\n"
		"  -p, --priority N    0 to 15; the highest becomes master (default 0)\n"
		"  -R, --engine NAME   routing engine (default minhop)\n"
		"  --lfts FILE         tables for the engine \"file\", as dump_fts prints them\n"
		"  --partitions FILE   partitions, as in OpenSM's partitions.conf\n"
		"  --part-enforce TYPE both, in, out or off: which packets switches and routers check\n"
		"                      (default both)\n"
		"  --no-part-enforce   same as --part-enforce off\n"
		"  --qos FILE          service levels of partitions and services, and VLs\n"
		"  --lmc N             2^N LIDs per port (default 0)\n"
		"  --state FILE        keep LIDs in FILE from one start to the next\n"
		"  --m-key KEY         M_Key of every port (default 0: none)\n"
		"  --m-key-secret FILE a different M_Key per port, derived from the secret in FILE,\n"
		"                      which is created if absent\n"
		"  --m-key-protection-level N\n"
		"                      0: anyone can read the M_Key; 1: it is hidden (default);\n"
		"                      2 or 3: requests without it get no answer\n"
		"  --m-key-lease-period S\n"
		"                      seconds after a wrong M_Key until a port gives up its\n"
		"                      protection, unless the right M_Key follows (default 60;\n"
		"                      0: never)\n"
		"  --sm-key KEY        SM_Key; managers with another one are ignored (default: from\n"
		"                      the secret, or 1)\n"
		"  --sweep MS          interval of light sweeps (default 2000)\n"
		"  --poll MS           interval at which a standby polls the master (default 1000)\n"
		"  --prune SECONDS     interval at which multicast members are checked and dead ones\n"
		"                      removed (default 600; 0: never)\n"
		"  --once              exit when the subnet is up\n",
	.run = run_sm,
};
