/* SPDX-License-Identifier: Apache-2.0 */
/* softibd: one fabric in one process. Options, foreground or background, limits. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/daemon.h"

enum { HOSTS_DEFAULT = 2, HOSTS_MAX = 10000, EXIT_USAGE = 2 };

enum option_code {
	OPTION_NO_SM = 256,
	OPTION_NO_OFFLOAD,
	OPTION_PACED,
	OPTION_CONGESTION,
	OPTION_EPHEMERAL,
	OPTION_LOG,
	OPTION_ENGINE,
	OPTION_PARTITIONS,
	OPTION_QOS,
	OPTION_LMC,
	OPTION_STATE
};

static const struct option long_options[] = {
	{"name", required_argument, NULL, 'n'},
	{"hosts", required_argument, NULL, 'N'},
	{"topology", required_argument, NULL, 't'},
	{"no-sm", no_argument, NULL, OPTION_NO_SM},
	{"no-offload", no_argument, NULL, OPTION_NO_OFFLOAD},
	{"paced", no_argument, NULL, OPTION_PACED},
	{"congestion", no_argument, NULL, OPTION_CONGESTION},
	{"engine", required_argument, NULL, OPTION_ENGINE},
	{"partitions", required_argument, NULL, OPTION_PARTITIONS},
	{"qos", required_argument, NULL, OPTION_QOS},
	{"lmc", required_argument, NULL, OPTION_LMC},
	{"state", required_argument, NULL, OPTION_STATE},
	{"ephemeral", no_argument, NULL, OPTION_EPHEMERAL},
	{"foreground", no_argument, NULL, 'f'},
	{"log", required_argument, NULL, OPTION_LOG},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"Usage: softibd [OPTION]...\n"
	"Runs one InfiniBand fabric in software. \"softib up\" starts it.\n"
	"\n"
	"  --name FABRIC         name of the fabric (default: default)\n"
	"  --hosts N             N hosts on a switch (default: 2)\n"
	"  --topology TOPOLOGY   a file in ibnetdiscover's format, or a generator:\n"
	"                        star:N, ring:N, fat-tree:K, mesh:AxB, routed:AxB\n"
	"  --no-sm               without the built-in subnet manager\n"
	"  --engine NAME         how it routes (default: minhop)\n"
	"  --partitions FILE     partitions, as in OpenSM's partitions.conf\n"
	"  --qos FILE            service levels of partitions and services, lanes\n"
	"  --lmc N               2^N LIDs per port (default: 0)\n"
	"  --state FILE          LIDs are remembered there\n"
	"  --no-offload          every packet goes through softibd, hop by hop\n"
	"  --paced               links run at their width and speed, not as fast as they can\n"
	"  --congestion          congestion control is on: switches mark, adapters slow down\n"
	"  --ephemeral           ends about a second after its last user\n"
	"  --foreground          does not go to the background\n"
	"  --log FILE            where the log goes (default: the fabric's folder;\n"
	"                        in the foreground: stderr)\n"
	"  --help                this text\n";

_Noreturn static void refuse(const char *reason, const char *value)
{
	fprintf(stderr, "softibd: %s%s%s (see softibd --help)\n", reason, value ? ": " : "",
		value ? value : "");
	exit(EXIT_USAGE);
}

static unsigned parse_host_count(const char *text)
{
	char *end;
	unsigned long count = strtoul(text, &end, 10);

	if (*end || end == text || text[0] == '-' || count < 1 || count > HOSTS_MAX)
		refuse("--hosts takes a number from 1 to 10000", text);
	return (unsigned)count;
}

/* What is wanted of the built-in manager. */
static void take_wish(enum option_code option, const char *text, struct sm_wishes *wishes)
{
	char *end;
	unsigned long lmc = strtoul(text, &end, 10);

	if (option == OPTION_ENGINE)
		wishes->engine = text;
	else if (option == OPTION_PARTITIONS)
		wishes->partitions_path = text;
	else if (option == OPTION_QOS)
		wishes->qos_path = text;
	else if (option == OPTION_STATE)
		wishes->state_path = text;
	else if (*end || end == text || lmc > 7)
		refuse("--lmc takes a number from 0 to 7", text);
	else
		wishes->lmc = (uint8_t)lmc;
}

static struct daemon_options parse_options(int argument_count, char **arguments)
{
	struct daemon_options options = {.fabric_name = "default",
					 .host_count = HOSTS_DEFAULT,
					 .runs_sm = true,
					 .offloads = true};
	int code;

	while ((code = getopt_long(argument_count, arguments, "h", long_options, NULL)) != -1) {
		switch (code) {
		case 'n':
			options.fabric_name = optarg;
			break;
		case 'N':
			options.host_count = parse_host_count(optarg);
			break;
		case 't':
			options.topology = optarg;
			break;
		case OPTION_NO_SM:
			options.runs_sm = false;
			break;
		case OPTION_NO_OFFLOAD:
			options.offloads = false;
			break;
		case OPTION_PACED:
			options.is_paced = true;
			/* A packet that passes no link takes no time. */
			options.offloads = false;
			break;
		case OPTION_CONGESTION:
			options.controls_congestion = true;
			break;
		case OPTION_ENGINE:
		case OPTION_PARTITIONS:
		case OPTION_QOS:
		case OPTION_LMC:
		case OPTION_STATE:
			take_wish((enum option_code)code, optarg, &options.sm);
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
		default:
			exit(EXIT_USAGE);
		}
	}
	if (optind < argument_count)
		refuse("unexpected argument", arguments[optind]);
	return options;
}

/* A process costs five descriptors, a pair of them one more for a moment. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	/* The limit that was there serves too, just fewer programs. */
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
}

/* The parent stays until the child says that the fabric is up, so that errors reach whoever started
 * us. Returns the descriptor to say it on. */
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

static void say_that_it_is_up(int descriptor)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (nothing >= 0) {
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDOUT_FILENO);
		dup2(nothing, STDERR_FILENO);
		close(nothing);
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
		say_that_it_is_up(up_descriptor);
	if (chdir("/") != 0)
		return EXIT_FAILURE;
	daemon_run(&softibd);
	daemon_stop(&softibd);
	return EXIT_SUCCESS;
}
