/* SPDX-License-Identifier: Apache-2.0 */
/* softib fault: makes links and verbs fail on purpose. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/attributes.h"
#include "cli/answer_pages.h"
#include "cli/fabric_client.h"
#include "cli/subcommand.h"

enum { CHUNK_BYTES = 24000 };

enum option_code { OPTION_SEED = 256, OPTION_MADS, OPTION_JSON };

static const struct option long_options[] = {
	{"name", required_argument, NULL, 'n'},	  {"seed", required_argument, NULL, OPTION_SEED},
	{"mads", no_argument, NULL, OPTION_MADS}, {"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, 'h'},	  {NULL, 0, NULL, 0},
};

struct fault_run {
	const struct subcommand *self;
	const char *fabric;
	bool has_seed;
	long long seed;
	bool includes_mads;
	bool wants_json;
	char **words; /* after add, clear ... */
	int word_count;
};

static int order(const struct fault_run *run, json_t *request)
{
	json_t *answer = fabric_ask(run->fabric, request);

	if (!answer)
		return EXIT_FAILURE;
	json_decref(answer);
	return EXIT_SUCCESS;
}

static int run_add(const struct fault_run *run)
{
	json_t *settings = json_array();

	if (run->word_count < 2) {
		json_decref(settings);
		return subcommand_misuse(run->self,
					 "add takes a port or host, and at least one fault");
	}
	for (int index = 1; index < run->word_count; index++)
		json_array_append_new(settings, json_string(run->words[index]));
	if (run->includes_mads)
		json_array_append_new(settings, json_string("mads"));

	json_t *request = json_pack("{s:s, s:s, s:o}", "command", "fault-add", "port",
				    run->words[0], "settings", settings);

	if (!request) {
		fprintf(stderr, "softib: the fault is not valid UTF-8\n");
		return EXIT_FAILURE;
	}
	if (run->has_seed)
		json_object_set_new(request, "seed", json_integer(run->seed));
	return order(run, request);
}

static int run_clear(const struct fault_run *run)
{
	json_t *names = json_array();

	for (int index = 0; index < run->word_count; index++)
		json_array_append_new(names, json_string(run->words[index]));
	return order(run, json_pack("{s:s, s:o}", "command", "fault-clear", "ports", names));
}

static void print_counts(const json_t *row)
{
	static const char *const names[] = {"packets",	 "dropped", "corrupted",    "duplicated",
					    "reordered", "delayed", "credits_lost", "flaps"};

	for (unsigned index = 0; index < ARRAY_COUNT(names); index++) {
		json_int_t count = json_integer_value(json_object_get(row, names[index]));

		if (count || index == 0)
			printf("%s%" JSON_INTEGER_FORMAT " %s", index ? ", " : "", count,
			       names[index]);
	}
	putchar('\n');
}

static void print_rows(const json_t *faults)
{
	size_t index;
	const json_t *row;

	json_array_foreach (faults, index, row) {
		const char *settings = json_string_value(json_object_get(row, "settings"));

		printf("%s -> %s  %s%s\n    ", json_string_value(json_object_get(row, "from")),
		       json_string_value(json_object_get(row, "to")),
		       json_is_true(json_object_get(row, "is_replay")) ? "replay " : "",
		       settings ? settings : "");
		print_counts(row);
	}
}

static void print_verbs(const json_t *verbs)
{
	size_t index;
	const json_t *row;

	json_array_foreach (verbs, index, row)
		printf("%s  %s\n", json_string_value(json_object_get(row, "host")),
		       json_string_value(json_object_get(row, "settings")));
}

/* NULL after printing the error. */
static json_t *ask_all(const struct fault_run *run, const char *command, const char *key)
{
	int socket = fabric_client_open(run->fabric);

	if (socket < 0)
		return NULL;

	json_t *answer = answer_pages_collect(socket, json_pack("{s:s}", "command", command), key);

	close(socket);
	return answer;
}

static int run_list(const struct fault_run *run)
{
	if (run->word_count)
		return subcommand_misuse(run->self, "list takes no argument");

	json_t *answer = ask_all(run, "fault-list", "faults");

	if (!answer)
		return EXIT_FAILURE;
	if (run->wants_json) {
		print_json(answer);
	} else {
		print_rows(json_object_get(answer, "faults"));
		print_verbs(json_object_get(answer, "verbs"));
	}
	json_decref(answer);
	return EXIT_SUCCESS;
}

/* Writes to a temporary name first, so that a full disk leaves no incomplete record. */
static int write_lines(const char *path, const json_t *lines)
{
	size_t path_bytes = strlen(path) + sizeof(".part");
	char *part = malloc(path_bytes);
	size_t index;
	const json_t *line;
	int error = 0;

	if (!part)
		return -ENOMEM;
	snprintf(part, path_bytes, "%s.part", path);

	FILE *file = fopen(part, "we");

	if (!file) {
		error = -errno;
		free(part);
		return error;
	}
	json_array_foreach (lines, index, line)
		fprintf(file, "%s\n", json_string_value(line));
	if (ferror(file))
		error = -EIO;
	if (fclose(file) != 0)
		error = -errno;
	if (!error && rename(part, path) != 0)
		error = -errno;
	if (error)
		unlink(part);
	free(part);
	return error;
}

static int run_record(const struct fault_run *run)
{
	if (run->word_count != 1)
		return subcommand_misuse(run->self, "record takes one file");

	json_t *answer = ask_all(run, "fault-record", "lines");

	if (!answer)
		return EXIT_FAILURE;

	int error = write_lines(run->words[0], json_object_get(answer, "lines"));
	json_int_t forgotten = json_integer_value(json_object_get(answer, "forgotten"));

	if (error)
		fprintf(stderr, "softib: %s: %s\n", run->words[0], strerror(-error));
	else if (forgotten)
		fprintf(stderr,
			"softib: the last %" JSON_INTEGER_FORMAT
			" faults are not in the record: it was full\n",
			forgotten);
	json_decref(answer);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Sends the file in chunks that fit a control message. */
static int send_record(int socket, FILE *file)
{
	char chunk[CHUNK_BYTES + 1];
	bool is_last = false;

	while (!is_last) {
		size_t length = fread(chunk, 1, CHUNK_BYTES, file);

		chunk[length] = '\0';
		is_last = length < CHUNK_BYTES;

		json_t *request = json_pack("{s:s, s:s, s:b}", "command", "fault-replay", "text",
					    chunk, "is_last", is_last);

		if (!request) {
			fprintf(stderr, "softib: the file is no record of faults\n");
			return EXIT_FAILURE;
		}

		json_t *answer = fabric_client_ask(socket, request, ANSWER_TIMEOUT_MS);

		if (!answer)
			return EXIT_FAILURE;
		json_decref(answer);
	}
	return EXIT_SUCCESS;
}

static int run_replay(const struct fault_run *run)
{
	if (run->word_count != 1)
		return subcommand_misuse(run->self, "replay takes one file");

	FILE *file = fopen(run->words[0], "re");

	if (!file) {
		fprintf(stderr, "softib: %s: %s\n", run->words[0], strerror(errno));
		return EXIT_FAILURE;
	}

	int socket = fabric_client_open(run->fabric);
	int code = socket < 0 ? EXIT_FAILURE : send_record(socket, file);

	if (socket >= 0)
		close(socket);
	fclose(file);
	return code;
}

static const struct {
	const char *name;
	int (*run)(const struct fault_run *run);
} actions[] = {
	{"add", run_add},	{"list", run_list},	{"clear", run_clear},
	{"record", run_record}, {"replay", run_replay},
};

static bool parse_seed(const char *text, long long *ret_seed)
{
	char *end;

	errno = 0;
	*ret_seed = strtoll(text, &end, 0);
	return !errno && !*end && end != text && *ret_seed >= 0;
}

/* Returns -1, or the exit code when there is nothing more to do. */
static int parse(const struct subcommand *self, int argument_count, char **arguments,
		 struct fault_run *run)
{
	int code;

	while ((code = getopt_long(argument_count, arguments, "n:h", long_options, NULL)) != -1) {
		switch (code) {
		case 'n':
			run->fabric = fabric_name_or_default(optarg);
			break;
		case OPTION_SEED:
			if (!parse_seed(optarg, &run->seed))
				return subcommand_misuse(self, "--seed takes a number from 0");
			run->has_seed = true;
			break;
		case OPTION_MADS:
			run->includes_mads = true;
			break;
		case OPTION_JSON:
			run->wants_json = true;
			break;
		default:
			return code == 'h' ? subcommand_help(self) : subcommand_misuse(self, NULL);
		}
	}
	if (optind == argument_count)
		return subcommand_misuse(self, "use add, list, clear, record or replay");
	run->words = arguments + optind + 1;
	run->word_count = argument_count - optind - 1;
	return -1;
}

static int run_fault(const struct subcommand *self, int argument_count, char **arguments)
{
	struct fault_run run = {.self = self, .fabric = fabric_name_or_default(NULL)};
	int code = parse(self, argument_count, arguments, &run);

	if (code >= 0)
		return code;
	for (unsigned index = 0; index < ARRAY_COUNT(actions); index++) {
		if (strcmp(actions[index].name, arguments[optind]) == 0)
			return actions[index].run(&run);
	}
	return subcommand_misuse(self, "use add, list, clear, record or replay");
}

const struct subcommand subcommand_fault = {
	.name = "fault",
	.summary = "make links and verbs fail on purpose",
	.usage =
		"Usage: softib fault add PORT FAULT... [--seed N] [--mads]\n"
		"       softib fault add HOST VERB-FAULT...\n"
		"       softib fault list [--json]\n"
		"       softib fault clear [PORT...]\n"
		"       softib fault record FILE\n"
		"       softib fault replay FILE\n"
		"PORT is h1 (all ports of a host), h1:1, s1:4, or a node GUID and a port number. A fault\n"
		"affects the link at PORT.\n"
		"\n"
		"FAULT with a probability P per packet, from 0 to 1 or in %:\n"
		"  drop=P            the packet is lost on the link\n"
		"  corrupt=P         a bit flips on the wire: the next port finds a wrong VCRC\n"
		"  corrupt-inside=P  a bit flips in the sending node: the last port finds a wrong\n"
		"                    ICRC\n"
		"  duplicate=P       the packet arrives twice\n"
		"  reorder=P         the next packet overtakes it\n"
		"  credit-loss=P     its flow control credits do not come back\n"
		"  no-flow-control   no flow control packet arrives: the other end retrains the\n"
		"                    link, then takes it down (trap 131)\n"
		"FAULT for all packets:\n"
		"  delay=TIME        with ns, us, ms or s\n"
		"  jitter=TIME       up to TIME more; the order is kept\n"
		"  rate=RATE         at most this rate, with bit, kbit, Mbit or Gbit (per second)\n"
		"  flap=UP/DOWN      the cable is in for UP, out for DOWN, repeatedly\n"
		"  blackhole         same as drop=1\n"
		"  in, out           only packets that arrive at PORT, or leave it\n"
		"\n"
		"VERB-FAULT, for the programs of a host:\n"
		"  verb=NAME errno=E       this call fails (ibv_reg_mr, ENOMEM)\n"
		"  completion=STATUS       a work completion gets this status (RETRY_EXC_ERR)\n"
		"  event=EVENT             raise an asynchronous event once (PORT_ERR, QP_FATAL,\n"
		"                          CQ_ERR, SRQ_ERR, DEVICE_FATAL)\n"
		"  after=N                 only the N-th from now on\n"
		"  probability=P           each with probability P\n"
		"\n"
		"      --seed N        the same seed gives the same faults to the same packets\n"
		"                      (default 1)\n"
		"      --mads          affect management packets on VL15 too\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"      --json          print JSON\n"
		"\n"
		"record saves what the faults have done to which packet of which link since they were\n"
		"added; replay does the same to the same packets again.\n",
	.run = run_fault,
};
