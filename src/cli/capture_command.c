/* SPDX-License-Identifier: Apache-2.0 */
/* softib capture: shows the packets at chosen ports, or writes them for Wireshark. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "cli/capture_file.h"
#include "cli/fabric_client.h"
#include "cli/subcommand.h"
#include "ipc/capture_ring.h"
#include "ipc/control_socket.h"
#include "ipc/doorbell.h"
#include "ipc/memory_file.h"

enum { RECORDS_PER_RELEASE = 64, MEBIBYTE_SHIFT = 20 };

enum { OPTION_LID = 256, OPTION_QPN, OPTION_OPCODE, OPTION_CLASS, OPTION_TYPE, OPTION_BUFFER };

static const struct option long_options[] = {
	{"name", required_argument, NULL, 'n'},
	{"write", required_argument, NULL, 'w'},
	{"count", required_argument, NULL, 'c'},
	{"lid", required_argument, NULL, OPTION_LID},
	{"qpn", required_argument, NULL, OPTION_QPN},
	{"opcode", required_argument, NULL, OPTION_OPCODE},
	{"mad-class", required_argument, NULL, OPTION_CLASS},
	{"link-type", required_argument, NULL, OPTION_TYPE},
	{"buffer", required_argument, NULL, OPTION_BUFFER},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct capture_run {
	const char *fabric;
	const char *path;	    /* NULL: lines of text on stdout; "-": pcapng on stdout */
	enum capture_format format; /* of pcapng */
	uint64_t packets_max;
	json_t *request;
	int output;
	int control;
	int signals;
	int doorbell;
	void *memory;
	size_t memory_bytes;
	const struct capture_totals *totals;
	struct ring_consumer ring;
	json_t *answer;
	struct capture_file *file;
	bool is_done;
};

static bool parse_number(const char *text, uint64_t number_max, uint64_t *ret_number)
{
	char *end;

	errno = 0;

	unsigned long long number = strtoull(text, &end, 0);

	if (errno || *end || text[0] < '0' || text[0] > '9' || number > number_max)
		return false;
	*ret_number = number;
	return true;
}

static void append(json_t *request, const char *key, json_t *value)
{
	json_t *array = json_object_get(request, key);

	if (!array) {
		array = json_array();
		json_object_set_new(request, key, array);
	}
	json_array_append_new(array, value);
}

/* Returns NULL, or an error message. */
static const char *read_option(struct capture_run *run, int code)
{
	uint64_t number = 0;

	switch (code) {
	case 'n':
		run->fabric = fabric_name_or_default(optarg);
		return NULL;
	case 'w':
		run->path = optarg;
		return NULL;
	case 'c':
		return parse_number(optarg, UINT64_MAX, &run->packets_max) && run->packets_max
			       ? NULL
			       : "--count takes a number from 1";
	case OPTION_LID:
		if (!parse_number(optarg, UINT16_MAX, &number))
			return "--lid takes a number from 0 to 0xffff";
		append(run->request, "lids", json_integer((json_int_t)number));
		return NULL;
	case OPTION_QPN:
		if (!parse_number(optarg, 0xffffff, &number))
			return "--qpn takes a number from 0 to 0xffffff";
		append(run->request, "qpns", json_integer((json_int_t)number));
		return NULL;
	case OPTION_OPCODE:
		append(run->request, "opcodes", json_string(optarg));
		return NULL;
	case OPTION_CLASS:
		append(run->request, "mad_classes", json_string(optarg));
		return NULL;
	case OPTION_TYPE:
		run->format = strcmp(optarg, "infiniband") == 0 ? CAPTURE_INFINIBAND : CAPTURE_ERF;
		return run->format == CAPTURE_INFINIBAND || strcmp(optarg, "erf") == 0
			       ? NULL
			       : "--link-type takes erf or infiniband";
	default:
		if (!parse_number(optarg, CAPTURE_RING_BYTES_MAX >> MEBIBYTE_SHIFT, &number) ||
		    !number || (number & (number - 1)))
			return "--buffer takes 1, 2, 4 ... 256 (MiB)";
		json_object_set_new(run->request, "ring_bytes",
				    json_integer((json_int_t)(number << MEBIBYTE_SHIFT)));
		return NULL;
	}
}

/* Returns -1, or the exit code when there is nothing more to do. */
static int parse(const struct subcommand *self, int argument_count, char **arguments,
		 struct capture_run *run)
{
	int code;

	while ((code = getopt_long(argument_count, arguments, "n:w:c:h", long_options, NULL)) !=
	       -1) {
		if (code == 'h')
			return subcommand_help(self);
		if (code == '?')
			return subcommand_misuse(self, NULL);

		const char *reason = read_option(run, code);

		if (reason)
			return subcommand_misuse(self, reason);
	}
	if (optind == argument_count)
		return subcommand_misuse(self, "at which port? Name at least one: h1, h1:1, s1:4");
	for (; optind < argument_count; optind++)
		append(run->request, "ports", json_string(arguments[optind]));
	if (run->path && strcmp(run->path, "-") == 0 && isatty(STDOUT_FILENO))
		return subcommand_misuse(self, "-w - is for a pipe: softib capture PORT -w - | "
					       "wireshark -k -i -");
	return -1;
}

static int report(const char *what, int error)
{
	fprintf(stderr, "softib: %s: %s\n", what, strerror(-error));
	return error;
}

/* Creates the file first, so that an unwritable path fails before softibd starts a capture. */
static int open_output(struct capture_run *run)
{
	run->output = STDOUT_FILENO;
	if (!run->path || strcmp(run->path, "-") == 0)
		return 0;
	run->output = open(run->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return run->output < 0 ? report(run->path, -errno) : 0;
}

static int watch_signals(struct capture_run *run)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signals < 0 ? report("signalfd", -errno) : 0;
}

static int map_ring(struct capture_run *run, struct control_message *message)
{
	size_t ring_bytes = (size_t)json_integer_value(json_object_get(run->answer, "ring_bytes"));
	struct capture_layout layout = capture_layout(ring_bytes);
	int error = message->descriptor_count == 2 && ring_bytes >= CAPTURE_RING_BYTES_MIN &&
				    ring_bytes <= CAPTURE_RING_BYTES_MAX
			    ? 0
			    : -EPROTO;

	if (!error)
		error = memory_file_map(message->descriptors[0], layout.total_bytes, &run->memory);
	if (error)
		return report("softibd's answer", error);
	run->memory_bytes = layout.total_bytes;
	run->totals = (const void *)((uint8_t *)run->memory + layout.totals_offset);
	run->doorbell = control_message_take(message, 1);
	ring_consumer_init(&run->ring, run->memory, ring_bytes);
	return 0;
}

static int ask(struct capture_run *run)
{
	struct control_message message;
	int error = fabric_client_exchange(run->control, json_incref(run->request),
					   ANSWER_TIMEOUT_MS, &message, &run->answer);

	if (error)
		return report("softibd does not answer", error);
	error = fabric_client_is_ok(run->answer) ? map_ring(run, &message) : -EINVAL;
	control_message_release(&message);
	return error;
}

static time_ns clock_of(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return SECONDS(now.tv_sec) + (time_ns)now.tv_nsec;
}

static int open_file(struct capture_run *run)
{
	time_ns offset = clock_of(CLOCK_REALTIME) - clock_of(CLOCK_MONOTONIC);

	run->file = capture_file_create(run->output, run->path ? run->format : CAPTURE_TEXT,
					json_object_get(run->answer, "interfaces"),
					json_object_get(run->answer, "drop_reasons"), offset);
	return run->file ? 0 : report("capture", -ENOMEM);
}

static void explain_failure(struct capture_run *run, int error)
{
	const char *where = run->path && strcmp(run->path, "-") != 0 ? run->path : "stdout";

	if (error == -EPIPE)
		fprintf(stderr, "softib: the reader of the capture has closed the pipe\n");
	else if (error == -EPROTO)
		fprintf(stderr, "softib: softibd sent an invalid capture record\n");
	else
		fprintf(stderr, "softib: %s: %s; the capture ends here\n", where, strerror(-error));
	/* Cuts off a partly written block, which would make the file unreadable. */
	if (run->output > STDERR_FILENO &&
	    ftruncate(run->output, capture_file_whole_bytes(run->file)) != 0)
		fprintf(stderr, "softib: %s may end in the middle of a packet\n", where);
}

/* Writes out all records in the ring. */
static int drain(struct capture_run *run)
{
	const struct ring_record *record;
	unsigned taken = 0;
	int error = 0;

	while (!error && !run->is_done && (record = ring_next(&run->ring))) {
		error = capture_file_put(run->file, record);
		run->is_done =
			run->packets_max && capture_file_packets(run->file) >= run->packets_max;
		if (++taken % RECORDS_PER_RELEASE == 0 && ring_release(&run->ring))
			error = -EPROTO; /* softibd drops records instead of waiting for room */
	}
	if (run->ring.is_corrupt)
		error = -EPROTO;
	if (!error && taken && ring_release(&run->ring))
		error = -EPROTO;
	return error ? error : capture_file_flush(run->file);
}

static int follow(struct capture_run *run)
{
	struct pollfd watched[] = {{.fd = run->doorbell, .events = POLLIN},
				   {.fd = run->signals, .events = POLLIN},
				   {.fd = run->control, .events = POLLIN},
				   {.fd = run->output, .events = 0}};
	bool has_ended = false;
	int error = 0;

	while (!error && !run->is_done) {
		error = drain(run);
		if (has_ended || error || run->is_done)
			break;
		if (ring_sleep(&run->ring))
			continue;
		if (poll(watched, ARRAY_COUNT(watched), -1) < 0 && errno != EINTR)
			error = -errno;
		ring_wake(&run->ring);
		if (watched[0].revents)
			doorbell_silence(run->doorbell);
		/* Drain the ring once more, then stop. */
		has_ended = watched[1].revents || watched[2].revents;
		if (watched[3].revents & POLLERR)
			error = -EPIPE;
	}
	return error;
}

static int capture(struct capture_run *run)
{
	int error = open_output(run);

	if (!error)
		error = watch_signals(run);
	if (error)
		return EXIT_FAILURE;
	run->control = fabric_client_open(run->fabric);
	if (run->control < 0 || ask(run) != 0 || open_file(run) != 0)
		return EXIT_FAILURE;
	/* Flush the interface blocks, so that the reader of a pipe gets them at once. */
	error = capture_file_flush(run->file);
	fprintf(stderr, "softib: capturing at %zu port%s; Ctrl-C ends it\n",
		json_array_size(json_object_get(run->answer, "interfaces")),
		json_array_size(json_object_get(run->answer, "interfaces")) == 1 ? "" : "s");
	if (!error)
		error = follow(run);

	uint64_t missed = __atomic_load_n(&run->totals->missed, __ATOMIC_RELAXED);

	if (!error)
		error = capture_file_finish(run->file, missed);
	if (error)
		explain_failure(run, error);
	fprintf(stderr, "softib: %" PRIu64 " packets captured, %" PRIu64 " missed%s\n",
		capture_file_packets(run->file), missed,
		missed ? ": the reader was too slow; use a larger --buffer" : "");
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_capture(const struct subcommand *self, int argument_count, char **arguments)
{
	struct capture_run run = {
		.fabric = fabric_name_or_default(NULL),
		.request = json_pack("{s:s}", "command", "capture"),
		.output = -1,
		.control = -1,
		.signals = -1,
		.doorbell = -1,
	};
	int code = parse(self, argument_count, arguments, &run);

	if (code < 0)
		code = capture(&run);
	capture_file_destroy(run.file);
	json_decref(run.answer);
	json_decref(run.request);
	if (run.memory)
		munmap(run.memory, run.memory_bytes);
	return code;
}

const struct subcommand subcommand_capture = {
	.name = "capture",
	.summary = "show packets at a port, or write them for Wireshark",
	.usage =
		"Usage: softib capture PORT... [OPTION]...\n"
		"Shows the packets at ports, one line each, or writes them to a file for Wireshark.\n"
		"PORT is h1 (all ports of a host), h1:1, s1:4, or a node GUID and a port number.\n"
		"\n"
		"  -w, --write FILE      write pcapng instead of text; - is stdout, for a pipe:\n"
		"                          softib capture h1 -w - | wireshark -k -i -\n"
		"  -c, --count N         stop after N packets\n"
		"      --lid LID         only packets from or to this LID\n"
		"      --qpn QPN         only packets to this QP, or from it if the packet carries\n"
		"                        the source QPN\n"
		"      --opcode OPCODE   only this opcode: a number, or a name such as UD, RC_READ\n"
		"                        or RC_SEND_ONLY\n"
		"      --mad-class CLASS only MADs of this class: a number, any, smp-lid,\n"
		"                        smp-directed, sa, performance, baseboard, device, cm,\n"
		"                        snmp, vendor or congestion\n"
		"      --link-type TYPE  link type of the file: erf, which Wireshark reads\n"
		"                        (default), or infiniband (247)\n"
		"      --buffer MIB      buffer between softibd and this command (default 8)\n"
		"  -n, --name FABRIC     the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"\n"
		"Each filter can be given several times. While a port is captured, flows that cross\n"
		"it go through softibd; other flows are not affected.\n",
	.run = run_capture,
};
