/* SPDX-License-Identifier: Apache-2.0 */
/* softib baseboard: reads its options and finds its action. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/baseboard_options.h"
#include "cli/fabric_client.h"
#include "cli/subcommand.h"
#include "launch/secret_file.h"

enum {
	OPTION_KEY = 256,
	OPTION_KEY_SECRET,
	OPTION_LEASE,
	OPTION_PROTECT,
	OPTION_TAKE_OVER,
	OPTION_WAKE,
	OPTION_SLOT,
	OPTION_MANAGER,
	OPTION_COUNT,
};

static const struct option options_known[] = {
	{"name", required_argument, NULL, 'n'},
	{"host", required_argument, NULL, 'H'},
	{"json", no_argument, NULL, 'j'},
	{"key", required_argument, NULL, OPTION_KEY},
	{"key-secret", required_argument, NULL, OPTION_KEY_SECRET},
	{"lease", required_argument, NULL, OPTION_LEASE},
	{"protect", no_argument, NULL, OPTION_PROTECT},
	{"take-over", no_argument, NULL, OPTION_TAKE_OVER},
	{"wake", required_argument, NULL, OPTION_WAKE},
	{"slot", required_argument, NULL, OPTION_SLOT},
	{"manager", required_argument, NULL, OPTION_MANAGER},
	{"count", required_argument, NULL, OPTION_COUNT},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const struct {
	const char *name;
	baseboard_action *run;
} actions[] = {
	{"show", baseboard_show},
	{"vpd", baseboard_vpd_action},
	{"power", baseboard_power_action},
	{"sensor", baseboard_sensor_action},
	{"threshold", baseboard_threshold_action},
	{"identify", baseboard_identify_action},
	{"attention", baseboard_attention_action},
	{"reset-ibml", baseboard_reset_ibml_action},
	{"hang-bus", baseboard_hang_bus_action},
	{"play", baseboard_play},
	{"manage", baseboard_manage},
	{"watch", baseboard_watch},
};

static bool read_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(text, &end, 0);
	return end != text && !*end && !errno && text[0] != '-' && *ret_number <= max;
}

/* NULL, or why the option is refused. */
static const char *take_number(int option, const char *text, struct baseboard_options *options)
{
	uint64_t number;

	switch (option) {
	case OPTION_KEY:
		return read_number(text, UINT64_MAX, &options->keys.key)
			       ? NULL
			       : "--key takes a 64-bit number";
	case OPTION_LEASE:
		if (!read_number(text, UINT16_MAX, &number))
			return "--lease takes a number of seconds up to 65535";
		options->lease_period = (uint16_t)number;
		return NULL;
	case OPTION_WAKE:
		if (!read_number(text, UINT16_MAX, &number))
			return "--wake takes a number of seconds up to 65535";
		options->wake_seconds = (unsigned)number;
		return NULL;
	case OPTION_SLOT:
		if (!read_number(text, UINT8_MAX, &number) || !number)
			return "--slot takes a number from 1 to 255";
		options->slot = (unsigned)number;
		return NULL;
	case OPTION_COUNT:
		if (!read_number(text, UINT32_MAX, &number))
			return "--count takes a number";
		options->count = (unsigned)number;
		return NULL;
	default:
		return "unknown option";
	}
}

static const char *take_secret(const char *path, struct bkeys *keys)
{
	int error = secret_file_read(path, keys->secret);

	keys->has_secret = !error;
	return error ? secret_file_reason(error) : NULL;
}

/* Returns -1, or the exit code if the command is done. */
static int read_options(const struct subcommand *self, int argument_count, char **arguments,
			struct baseboard_options *options)
{
	const char *refusal = NULL;
	int code;

	while (!refusal && (code = getopt_long(argument_count, arguments, "n:H:jh", options_known,
					       NULL)) != -1) {
		switch (code) {
		case 'n':
			options->fabric = optarg;
			break;
		case 'H':
			options->host = optarg;
			break;
		case 'j':
			options->wants_json = true;
			break;
		case OPTION_KEY_SECRET:
			refusal = take_secret(optarg, &options->keys);
			break;
		case OPTION_PROTECT:
			options->protects = true;
			break;
		case OPTION_TAKE_OVER:
			options->takes_over = true;
			break;
		case OPTION_MANAGER:
			options->manager = optarg;
			break;
		case 'h':
			return subcommand_help(self);
		case '?':
			return subcommand_misuse(self, NULL);
		default:
			refusal = take_number(code, optarg, options);
		}
	}
	options->fabric = fabric_name_or_default(options->fabric);
	return refusal ? subcommand_misuse(self, refusal) : -1;
}

static int run_baseboard(const struct subcommand *self, int argument_count, char **arguments)
{
	enum { LEASE_SECONDS_DEFAULT = 60 };
	struct baseboard_options options = {.lease_period = LEASE_SECONDS_DEFAULT};
	int code = read_options(self, argument_count, arguments, &options);
	int left = argument_count - optind;

	if (code >= 0)
		return code;
	if (!left)
		return subcommand_misuse(self, "name an action, or a node to show");
	for (unsigned i = 0; i < ARRAY_COUNT(actions); i++)
		if (strcmp(actions[i].name, arguments[optind]) == 0)
			return actions[i].run(self, &options, left - 1, arguments + optind + 1);
	if (left > 1)
		return subcommand_misuse(self, "there is no such action");
	return baseboard_show(self, &options, left, arguments + optind);
}

const struct subcommand subcommand_baseboard = {
	.name = "baseboard",
	.summary = "manage the baseboards of nodes: power, sensors, VPD, B_Keys",
	.usage =
		"Usage: softib baseboard [show] NODE\n"
		"  or:  softib baseboard vpd NODE read module|chassis [OFFSET [COUNT]]\n"
		"  or:  softib baseboard vpd NODE write module|chassis OFFSET TEXT\n"
		"  or:  softib baseboard vpd NODE protect module|chassis on|off\n"
		"  or:  softib baseboard power NODE on|off|cycle\n"
		"  or:  softib baseboard sensor NODE NAME=VALUE...\n"
		"  or:  softib baseboard threshold NODE NAME LEVEL=VALUE...\n"
		"  or:  softib baseboard identify|attention NODE on|off\n"
		"  or:  softib baseboard reset-ibml|hang-bus NODE\n"
		"  or:  softib baseboard play FILE\n"
		"  or:  softib baseboard manage\n"
		"  or:  softib baseboard watch --manager NODE\n"
		"Every node has a virtual baseboard, which baseboard management (BM) MADs reach.\n"
		"sensor, play, vpd protect, hang-bus and power on are the physical world instead: they\n"
		"need no MAD and no key. NAME is temp1, temp2, in0, in1, fan1 or fan2; LEVEL is\n"
		"low-critical, low-warning, high-warning or high-critical. A line of FILE is SECONDS\n"
		"NODE NAME=VALUE... manage runs a baseboard manager until a signal: it sets B_Keys,\n"
		"renews their leases, prints traps and reports them to subscribers such as watch.\n"
		"\n"
		"  -H, --host HOST     the host whose port sends the MADs (default: SOFTIB_HOST, or the\n"
		"                      first)\n"
		"  --key KEY           the B_Key\n"
		"  --key-secret FILE   a different B_Key per port, derived from the secret in FILE, which\n"
		"                      is made if it does not exist\n"
		"  --lease SECONDS     manage: lease of the keys (default: 60; 0: forever)\n"
		"  --protect           manage: hide the keys while the manager is active\n"
		"  --take-over         manage: also take ports whose manager failed or hides no key\n"
		"  --wake SECONDS      power off: switch on again after this time\n"
		"  --slot NUMBER       power on, off: the I/O controller in this slot, not the node\n"
		"  --manager NODE      watch: where the manager runs\n"
		"  --count NUMBER      watch: end after this many reports\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  -j, --json          show: print JSON\n",
	.run = run_baseboard,
};
