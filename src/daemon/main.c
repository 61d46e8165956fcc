/* SPDX-License-Identifier: Apache-2.0 */
/* softibd: one fabric in one process. Options, foreground or background, limits. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/daemon.h"
#include "launch/start_options.h"
#include "softib_version.h"

enum { HOSTS_DEFAULT = 2, EXIT_USAGE = 2 };

enum option_code { OPTION_EPHEMERAL = START_OPTION_END, OPTION_LOG, OPTION_VERSION };

/* clang-format off */
static const struct option long_options[] = {
	START_LONG_OPTIONS
	{"name", required_argument, NULL, 'n'},
	{"ephemeral", no_argument, NULL, OPTION_EPHEMERAL},
	{"foreground", no_argument, NULL, 'f'},
	{"log", required_argument, NULL, OPTION_LOG},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};
/* clang-format on */

static const char usage[] =
	"Usage: softibd [OPTION]...\n"
	"Runs one InfiniBand fabric in software. \"softib up\" starts it.\n"
	"\n"
	"  --name FABRIC         name of the fabric (default: default)\n" START_OPTIONS_USAGE
	"  --ephemeral           ends about a second after its last user\n"
	"  --foreground          does not go to the background\n"
	"  --log FILE            where the log goes (default: the fabric's folder;\n"
	"                        in the foreground: stderr)\n"
	"  --help                this text\n"
	"  --version             the version, and the commit it was built from\n";

_Noreturn static void refuse(const char *reason, const char *value)
{
	fprintf(stderr, "softibd: %s%s%s (see softibd --help)\n", reason, value ? ": " : "",
		value ? value : "");
	exit(EXIT_USAGE);
}

static void add_gateway(const char *value, struct daemon_options *ret_options)
{
	if (ret_options->gateway_count == GATEWAYS_MAX)
		refuse("there are 8 gateways already", value);
	ret_options->gateways[ret_options->gateway_count++] = value;
}

static void take_count(enum start_option option, unsigned count, struct daemon_options *ret_options)
{
	if (option == START_OPTION_HOSTS)
		ret_options->host_count = count;
	else if (option == START_OPTION_TCAS)
		ret_options->tca_count = count;
	else
		ret_options->data_vl_count = count;
}

static void take_start_option(enum start_option option, const char *value,
			      struct daemon_options *ret_options)
{
	const char *refusal = start_option_refusal(option, value);
	enum mkey_setting mkey_setting;

	if (refusal)
		refuse(refusal, value);
	switch (option) {
	case START_OPTION_HOSTS:
	case START_OPTION_TCAS:
	case START_OPTION_VLS:
		take_count(option, (unsigned)strtoul(value, NULL, 10), ret_options);
		break;
	case START_OPTION_TOPOLOGY:
		ret_options->topology = value;
		break;
	case START_OPTION_NO_SM:
		ret_options->runs_sm = false;
		break;
	case START_OPTION_ENGINE:
		ret_options->sm.engine = value;
		break;
	case START_OPTION_PARTITIONS:
		ret_options->sm.partitions_path = value;
		break;
	case START_OPTION_PART_ENFORCE:
	case START_OPTION_NO_PART_ENFORCE:
		ret_options->sm.part_enforce = option == START_OPTION_PART_ENFORCE ? value : "off";
		break;
	case START_OPTION_QOS:
		ret_options->sm.qos_path = value;
		break;
	case START_OPTION_LMC:
		ret_options->sm.lmc = (uint8_t)strtoul(value, NULL, 10);
		break;
	case START_OPTION_STATE:
		ret_options->sm.state_path = value;
		break;
	case START_OPTION_M_KEY:
	case START_OPTION_M_KEY_SECRET:
	case START_OPTION_M_KEY_PROTECTION_LEVEL:
	case START_OPTION_M_KEY_LEASE_PERIOD:
		if (start_option_is_mkey(option, &mkey_setting))
			mkey_settings_take(&ret_options->sm.mkeys, mkey_setting, value);
		break;
	case START_OPTION_PRUNE:
		ret_options->sm.prune_interval = SECONDS(strtoul(value, NULL, 10));
		break;
	case START_OPTION_PERF_INTERVAL:
		ret_options->perf_interval = SECONDS(strtoul(value, NULL, 10));
		break;
	case START_OPTION_NO_OFFLOAD:
		ret_options->offloads = false;
		break;
	case START_OPTION_ISOLATE:
		ret_options->isolates = true;
		break;
	case START_OPTION_PACED:
		ret_options->is_paced = true;
		/* A packet in a direct ring crosses no link, so it could not be paced. */
		ret_options->offloads = false;
		break;
	case START_OPTION_CONGESTION:
		ret_options->controls_congestion = true;
		break;
	case START_OPTION_UNPRIVILEGED:
		ret_options->programs_are_privileged = false;
		break;
	case START_OPTION_GATEWAY:
		add_gateway(value, ret_options);
		break;
	case START_OPTION_SNMP_CONFIG:
		/* softibd leaves the folder that it was started in. */
		ret_options->snmp_config = realpath(value, NULL);
		if (!ret_options->snmp_config || access(ret_options->snmp_config, R_OK) != 0)
			refuse("can't read the SNMP configuration", value);
		break;
	case START_OPTION_NONE:
	case START_OPTION_END:
		break;
	}
}

static struct daemon_options parse_options(int argument_count, char **arguments)
{
	struct daemon_options options = {.fabric_name = "default",
					 .host_count = HOSTS_DEFAULT,
					 .runs_sm = true,
					 .sm = {.prune_interval = SECONDS(PRUNE_SECONDS_DEFAULT)},
					 .offloads = true,
					 .programs_are_privileged = true};
	int code;

	while ((code = getopt_long(argument_count, arguments, "h", long_options, NULL)) != -1) {
		if (start_option_is(code)) {
			take_start_option((enum start_option)code, optarg, &options);
			continue;
		}
		switch (code) {
		case 'n':
			options.fabric_name = optarg;
			break;
		case OPTION_EPHEMERAL:
			options.is_ephemeral = true;
			break;
		case 'f':
			options.is_foreground = true;
			break;
		case OPTION_LOG:
			options.log_path = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		case OPTION_VERSION:
			puts("softibd " SOFTIB_VERSION);
			exit(EXIT_SUCCESS);
		default:
			exit(EXIT_USAGE);
		}
	}
	if (optind < argument_count)
		refuse("unexpected argument", arguments[optind]);
	return options;
}

/* A program takes five descriptors, and each pair of programs one more. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	/* The old limit is enough for fewer programs. */
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
}

/* The parent waits until the child reports that the fabric is up, so that its caller sees startup
 * errors. Returns the descriptor for that report. */
static int go_to_background(void)
{
	int ends[2];
	char is_up;

	if (pipe2(ends, O_CLOEXEC) != 0)
		refuse("no pipe", strerror(errno));

	pid_t child = fork();

	if (child < 0)
		refuse("no second process", strerror(errno));
	if (child > 0) {
		close(ends[1]);
		_exit(read(ends[0], &is_up, 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	setsid();
	close(ends[0]);
	return ends[1];
}

static void report_up(int descriptor)
{
	int null_device = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null_device >= 0) {
		dup2(null_device, STDIN_FILENO);
		dup2(null_device, STDOUT_FILENO);
		dup2(null_device, STDERR_FILENO);
		close(null_device);
	}
	if (write(descriptor, "", 1) != 1)
		exit(EXIT_FAILURE);
	close(descriptor);
}

int main(int argument_count, char **arguments)
{
	static struct daemon softibd;
	static char log_path[CONTROL_PATH_BYTES + 8];
	char folder[CONTROL_PATH_BYTES];
	struct daemon_options options = parse_options(argument_count, arguments);
	int up_descriptor = -1;

	umask(077);
	signal(SIGPIPE, SIG_IGN);
	/* A limit on file sizes is an error to report, not a reason to die. */
	signal(SIGXFSZ, SIG_IGN);
	raise_descriptor_limit();
	if (!options.is_foreground) {
		up_descriptor = go_to_background();
		if (!options.log_path && fabric_directory(options.fabric_name, folder) == 0) {
			snprintf(log_path, sizeof(log_path), "%s/log", folder);
			options.log_path = log_path;
		}
	}
	if (daemon_start(&softibd, &options) != 0)
		return EXIT_FAILURE;
	if (up_descriptor >= 0)
		report_up(up_descriptor);
	if (chdir("/") != 0)
		return EXIT_FAILURE;
	daemon_run(&softibd);
	daemon_stop(&softibd);
	return EXIT_SUCCESS;
}
