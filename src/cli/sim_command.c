/* SPDX-License-Identifier: Apache-2.0 */
/* softib sim: runs a scenario in virtual time and prints the results. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/subcommand.h"
#include "launch/large_pages.h"
#include "sim/experiment.h"
#include "sim/experiment_report.h"
#include "sim/scenario_words.h"

enum { FILE_BYTES_MAX = 64 << 20, PATH_BYTES = 4096 };

enum { EXIT_TIME_STANDS_STILL = 3 };

struct sim_options {
	const char *path;
	bool has_seed, is_json;
	uint64_t seed;
	time_ns until; /* 0: the scenario's duration */
};

/* Reads the whole file and adds a NUL; NULL with errno. "-": standard input. */
static char *read_file(const char *path, size_t *ret_bytes)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char *text = NULL;
	size_t count = 0, capacity = 0;

	if (!file)
		return NULL;
	do {
		if (count + 1 >= capacity) {
			char *larger = realloc(text, capacity += 65536);

			if (!larger || capacity > FILE_BYTES_MAX) {
				free(larger ? larger : text);
				text = NULL;
				errno = larger ? EFBIG : ENOMEM;
				break;
			}
			text = larger;
		}
		count += fread(text + count, 1, capacity - count - 1, file);
	} while (!feof(file) && !ferror(file));
	if (text && ferror(file)) {
		free(text);
		text = NULL;
	}
	if (file != stdin)
		fclose(file);
	if (!text)
		return NULL;
	text[count] = '\0';
	*ret_bytes = count;
	return text;
}

/* A topology's path is relative to the scenario's folder. */
static char *read_topology(const char *scenario_path, const char *path)
{
	const char *slash = strrchr(scenario_path, '/');
	char whole[PATH_BYTES];
	size_t byte_count;

	snprintf(whole, sizeof(whole), "%.*s%s",
		 slash && path[0] != '/' ? (int)(slash - scenario_path + 1) : 0, scenario_path,
		 path);

	char *text = read_file(whole, &byte_count);

	if (!text)
		fprintf(stderr, "softib sim: %s: %s\n", whole, strerror(errno));
	return text;
}

static void complain(const char *path, const struct scenario_error *error)
{
	if (error->line)
		fprintf(stderr, "softib sim: %s:%u: %s\n", path, error->line, error->reason);
	else
		fprintf(stderr, "softib sim: %s: %s\n", path, error->reason);
}

static int run_experiment(const struct sim_options *options, const struct scenario *scenario)
{
	struct scenario_error error = {.reason = "out of memory"};
	struct experiment experiment;
	char *topology = NULL;

	if (scenario->topology_is_file) {
		topology = read_topology(options->path, scenario->topology);
		if (!topology)
			return EXIT_FAILURE;
	}

	int result = experiment_run(&experiment, scenario, topology, &error);

	if (result)
		complain(options->path, &error);
	else if (options->is_json)
		experiment_report_write_json(&experiment, stdout);
	else
		experiment_report_write_text(&experiment, stdout);
	experiment_release(&experiment);
	free(topology);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "softib sim: cannot write the report: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	if (result == -ETIME)
		return EXIT_TIME_STANDS_STILL;
	return result ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Returns -1, or the exit code if the command is done. */
static int read_options(const struct subcommand *self, int argument_count, char **arguments,
			struct sim_options *options)
{
	static const struct option longs[] = {
		{"seed", required_argument, NULL, 's'},
		{"until", required_argument, NULL, 'u'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int letter;

	while ((letter = getopt_long(argument_count, arguments, "s:u:jh", longs, NULL)) != -1) {
		switch (letter) {
		case 's':
			options->has_seed = word_number(optarg, UINT64_MAX, &options->seed);
			if (!options->has_seed)
				return subcommand_misuse(self, "--seed takes a number");
			break;
		case 'u':
			if (!word_time(optarg, &options->until) || options->until == 0)
				return subcommand_misuse(self,
							 "--until takes a time such as 10ms or 1s");
			break;
		case 'j':
			options->is_json = true;
			break;
		case 'h':
			return subcommand_help(self);
		default:
			return subcommand_misuse(self, NULL);
		}
	}
	if (argument_count - optind != 1)
		return subcommand_misuse(self, "name one scenario file");
	options->path = arguments[optind];
	return -1;
}

static int run_sim(const struct subcommand *self, int argument_count, char **arguments)
{
	struct sim_options options = {0};
	struct scenario_error error = {.reason = "out of memory"};
	struct scenario scenario;
	size_t byte_count;
	int code = read_options(self, argument_count, arguments, &options);

	if (code >= 0)
		return code;

	large_pages_for_heap();

	char *text = read_file(options.path, &byte_count);

	if (!text) {
		fprintf(stderr, "softib sim: %s: %s\n", options.path, strerror(errno));
		return EXIT_FAILURE;
	}
	if (scenario_read(text, byte_count, &scenario, &error)) {
		complain(options.path, &error);
		free(text);
		return EXIT_FAILURE;
	}
	if (options.has_seed)
		scenario.seed = options.seed;
	if (options.until)
		scenario.duration = options.until;
	if (scenario.warmup >= scenario.duration) {
		fprintf(stderr, "softib sim: the warm-up must be shorter than the duration\n");
		code = EXIT_FAILURE;
	} else {
		code = run_experiment(&options, &scenario);
	}
	scenario_release(&scenario);
	free(text);
	return code;
}

const struct subcommand subcommand_sim = {
	.name = "sim",
	.summary = "run a scenario in virtual time",
	.usage =
		"Usage: softib sim SCENARIO [OPTION]...\n"
		"Builds the scenario's fabric, brings it up, runs its traffic and events in virtual\n"
		"time, and prints the results. The same seed gives the same output. softib-scenario(5)\n"
		"describes the language; examples/ has scenarios.\n"
		"\n"
		"  -s, --seed N     instead of the scenario's seed\n"
		"  -u, --until T    instead of the scenario's duration (10ms, 1s)\n"
		"  -j, --json       print JSON\n",
	.run = run_sim,
};
