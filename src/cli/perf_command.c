/* SPDX-License-Identifier: Apache-2.0 */
/* softib perf: port counters of a whole subnet: totals, the busiest links, ports with errors. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/attributes.h"
#include "cli/fabric_client.h"
#include "cli/perf_server.h"
#include "cli/perf_source.h"
#include "cli/perf_text.h"
#include "cli/subcommand.h"
#include "launch/start_options.h"
#include "mgmt/perf/perf_report.h"

enum {
	TOP_DEFAULT = 10,
	WATCH_SECONDS_MAX = 86400,
	OPTION_WATCH = 256,
	OPTION_TOP,
	OPTION_ERRORS,
	OPTION_CLEAR,
	OPTION_ALL,
	OPTION_THRESHOLD,
	OPTION_INTERVAL,
	OPTION_DETAILS,
	OPTION_SAMPLE,
	OPTION_SERVE,
	OPTION_SERVE_REMOTE,
};

struct perf_command {
	const char *fabric;
	const char *host; /* NULL: softibd's manager */
	unsigned watch_seconds;
	int interval_seconds; /* -1: unchanged */
	unsigned top;
	bool has_only_errors, clears, shows_all, wants_json;
	const char *details_port; /* NULL: none */
	unsigned sample_ms;	  /* of that port; 0: none */
	const char *serve;	  /* an address; NULL: no server */
	bool serves_remote;
	struct perf_thresholds thresholds;
	json_t *changed_thresholds;
};

static const struct option long_options[] = {
	{"name", required_argument, NULL, 'n'},
	{"host", required_argument, NULL, 'H'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{"watch", required_argument, NULL, OPTION_WATCH},
	{"top", required_argument, NULL, OPTION_TOP},
	{"errors", no_argument, NULL, OPTION_ERRORS},
	{"clear", no_argument, NULL, OPTION_CLEAR},
	{"all", no_argument, NULL, OPTION_ALL},
	{"threshold", required_argument, NULL, OPTION_THRESHOLD},
	{"details", required_argument, NULL, OPTION_DETAILS},
	{"sample", required_argument, NULL, OPTION_SAMPLE},
	{"interval", required_argument, NULL, OPTION_INTERVAL},
	{"serve", required_argument, NULL, OPTION_SERVE},
	{"serve-remote", no_argument, NULL, OPTION_SERVE_REMOTE},
	{NULL, 0, NULL, 0},
};

/* Digits only; strtoul() also accepts signs and spaces. */
static bool read_number(const char *text, unsigned long last, unsigned long *ret_number)
{
	if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 18)
		return false;
	*ret_number = strtoul(text, NULL, 10);
	return *ret_number <= last;
}

/* NAME=VALUE */
static bool take_threshold(struct perf_command *command, const char *text)
{
	const char *sign = strchr(text, '=');
	unsigned long value;
	char name[64];

	if (!sign || (size_t)(sign - text) >= sizeof(name) ||
	    !read_number(sign + 1, INT64_MAX, &value))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(sign - text), text);
	if (!perf_thresholds_set(&command->thresholds, name, value))
		return false;
	if (!command->changed_thresholds)
		command->changed_thresholds = json_object();
	json_object_set_new(command->changed_thresholds, name, json_integer((json_int_t)value));
	return true;
}

/* Returns -1, or the exit code. */
static int take_option(const struct subcommand *self, int option, const char *text,
		       struct perf_command *command)
{
	unsigned long number;

	switch (option) {
	case 'n':
		command->fabric = fabric_name_or_default(text);
		break;
	case 'H':
		command->host = text;
		break;
	case 'j':
		command->wants_json = true;
		break;
	case OPTION_WATCH:
		if (!read_number(text, WATCH_SECONDS_MAX, &number) || !number)
			return subcommand_misuse(self, "--watch takes seconds, 1 to 86400");
		command->watch_seconds = (unsigned)number;
		break;
	case OPTION_TOP:
		if (!read_number(text, PERF_REPORT_TOP_MAX, &number))
			return subcommand_misuse(self, "--top takes a number up to 1000");
		command->top = (unsigned)number;
		break;
	case OPTION_ERRORS:
		command->has_only_errors = true;
		break;
	case OPTION_CLEAR:
		command->clears = true;
		break;
	case OPTION_ALL:
		command->shows_all = true;
		break;
	case OPTION_THRESHOLD:
		if (!take_threshold(command, text))
			return subcommand_misuse(
				self,
				"--threshold takes COUNTER=N of an error counter, wait=PERCENT "
				"or utilization=PERCENT");
		break;
	case OPTION_DETAILS:
		command->details_port = text;
		break;
	case OPTION_SAMPLE:
		if (!read_number(text, PORT_SAMPLING_MAX / MILLISECONDS(1), &number) || !number)
			return subcommand_misuse(self, "--sample takes milliseconds, 1 to 10000");
		command->sample_ms = (unsigned)number;
		break;
	case OPTION_INTERVAL:
		if (!read_number(text, PERF_INTERVAL_SECONDS_MAX, &number))
			return subcommand_misuse(self, "--interval takes seconds, 0 to 86400");
		command->interval_seconds = (int)number;
		break;
	case OPTION_SERVE:
		command->serve = text;
		break;
	case OPTION_SERVE_REMOTE:
		command->serves_remote = true;
		break;
	case 'h':
		return subcommand_help(self);
	default:
		return subcommand_misuse(self, NULL);
	}
	return -1;
}

/* Adds a part to the report: its rows, or the whole object of the summary. */
static bool add_part(struct perf_source *source, const char *part, unsigned top, json_t *report)
{
	json_t *answer = perf_source_part(source, part, top);
	json_t *rows = json_object_get(answer, "rows");

	if (!answer)
		return false;
	json_object_set(report, part, rows ? rows : answer);
	json_decref(answer);
	return true;
}

static json_t *make_report(struct perf_source *source, const struct perf_command *command)
{
	json_t *report = json_object();
	bool is_complete =
		add_part(source, "summary", 0, report) &&
		(command->has_only_errors || add_part(source, "links", command->top, report)) &&
		add_part(source, "errors",
			 command->has_only_errors ? PERF_REPORT_TOP_MAX : command->top, report) &&
		add_part(source, "events", 0, report) &&
		(!command->shows_all || add_part(source, "ports", 0, report)) &&
		(!command->details_port || add_part(source, "details", 0, report));

	if (is_complete)
		return report;
	json_decref(report);
	return NULL;
}

static void print_report(const struct perf_command *command, const json_t *report)
{
	if (command->wants_json && command->watch_seconds) {
		/* One line per sweep, for programs that read along. */
		json_dumpf(report, stdout, JSON_COMPACT);
		putchar('\n');
	} else if (command->wants_json) {
		print_json(report);
	} else {
		perf_text_print_summary(report);
		perf_text_print_links(report);
		perf_text_print_errors(report);
		perf_text_print_events(report);
		perf_text_print_ports(report);
		perf_text_print_details(report);
	}
	fflush(stdout);
}

/* After the report, which shows what there was. */
static bool clear(struct perf_source *source, const struct perf_command *command)
{
	if (perf_source_sweep(source, PERF_SWEEP_CLEAR) != 0)
		return false;
	if (!command->wants_json)
		printf("\nall counters have been cleared\n");
	return true;
}

static int show(struct perf_source *source, const struct perf_command *command)
{
	for (;;) {
		int error = perf_source_sweep(source, PERF_SWEEP_READ);

		if (error)
			return error == -EINTR && command->watch_seconds ? EXIT_SUCCESS
									 : EXIT_FAILURE;

		json_t *report = make_report(source, command);
		const char *failure = fabric_client_text(
			json_object_get(json_object_get(report, "summary"), "sweep"), "error");
		bool has_failed = !report || strlen(failure) > 1;

		if (report)
			print_report(command, report);
		json_decref(report);
		if (command->clears && !has_failed && !clear(source, command))
			return EXIT_FAILURE;
		if (!command->watch_seconds)
			return has_failed ? EXIT_FAILURE : EXIT_SUCCESS;
		if (!report || !perf_source_wait(source, (int)command->watch_seconds * 1000))
			return report ? EXIT_SUCCESS : EXIT_FAILURE;
		if (!command->wants_json)
			putchar('\n');
	}
}

static int run_perf(const struct subcommand *self, int argument_count, char **arguments)
{
	static struct perf_source source;
	struct perf_command command = {.fabric = fabric_name_or_default(NULL),
				       .top = TOP_DEFAULT,
				       .interval_seconds = -1,
				       .thresholds = perf_thresholds_default};
	int option, error, code = -1;

	while (code < 0 && (option = getopt_long(argument_count, arguments, "n:H:jh", long_options,
						 NULL)) != -1)
		code = take_option(self, option, optarg, &command);
	if (code < 0 && optind < argument_count)
		code = subcommand_misuse(self, "unexpected argument: only options are accepted");
	if (code < 0 && command.interval_seconds >= 0 && (command.host || command.serve))
		code = subcommand_misuse(self, "--interval is for softibd's manager, without -H");
	if (code < 0 && command.sample_ms && !command.details_port)
		code = subcommand_misuse(self, "--sample needs the port of --details");
	if (code >= 0) {
		json_decref(command.changed_thresholds);
		return code;
	}
	if (command.serve)
		error = perf_source_open_own(&source, command.fabric, command.host);
	else
		error = perf_source_open(&source, command.fabric, command.host);
	if (error) {
		json_decref(command.changed_thresholds);
		return EXIT_FAILURE;
	}
	source.thresholds = command.thresholds;
	source.interval_seconds = command.interval_seconds;
	source.details_port = command.details_port;
	source.sample_ms = command.sample_ms;
	source.changed_thresholds = command.changed_thresholds;
	code = command.serve ? perf_server_run(&source, command.serve, command.serves_remote)
			     : show(&source, &command);
	perf_source_close(&source);
	return code;
}

const struct subcommand subcommand_perf = {
	.name = "perf",
	.summary = "show port counters: totals, busiest links, errors",
	.usage =
		"Usage: softib perf [OPTION]...\n"
		"Reads the counters of every port by MADs and shows totals, the busiest links, the ports\n"
		"with errors and the last events. Rates are those since the sweep before. Without -H\n"
		"softibd's performance manager is asked, which remembers the sweeps before.\n"
		"\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  -H, --host HOST     a manager in this process, on a port of this host\n"
		"  --watch SECONDS     sweep and print again and again\n"
		"  --top N             rows of links and of ports with errors (default 10)\n"
		"  --errors            only ports with errors, all of them\n"
		"  --all               every port with every counter\n"
		"  --details PORT      errors and discards of this port by reason, and its counters by VL\n"
		"                      and SL, of flow control and congestion: h1:1, switch-1:4\n"
		"  --sample MS         sample the port of --details for so many milliseconds: what it\n"
		"                      sent, received and waited (PortSamplesControl)\n"
		"  --clear             clear all counters of all ports after reading them\n"
		"  --interval SECONDS  from now on softibd sweeps by itself so often; 0: only when asked\n"
		"  --threshold NAME=N  an event when an error counter grows by N in a sweep, when a\n"
		"                      port waits for credits wait=PERCENT of the time, or a link is\n"
		"                      used utilization=PERCENT; 0: no event\n"
		"  --serve ADDRESS:PORT\n"
		"                      serve /metrics for Prometheus; a loopback address, unless\n"
		"                      --serve-remote is given. Port 0: any free one\n"
		"  -j, --json          print JSON; with --watch one line per sweep\n",
	.run = run_perf,
};
