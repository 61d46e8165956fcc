/* SPDX-License-Identifier: Apache-2.0 */
/* softib io: I/O units and their controllers. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/fabric_client.h"
#include "cli/io_controllers.h"
#include "cli/io_programs.h"
#include "cli/io_scan.h"
#include "cli/mad_engine.h"
#include "cli/subcommand.h"

enum { OPTION_JSON = 256, OPTION_SLOT, OPTION_LUN, OPTION_COUNT, OPTION_SERVICE, OPTION_FIELD };

static const struct option long_options[] = {
	{"name", required_argument, NULL, 'n'},
	{"host", required_argument, NULL, 'H'},
	{"json", no_argument, NULL, OPTION_JSON},
	{"slot", required_argument, NULL, OPTION_SLOT},
	{"lun", required_argument, NULL, OPTION_LUN},
	{"count", required_argument, NULL, OPTION_COUNT},
	{"service", required_argument, NULL, OPTION_SERVICE},
	{"set", required_argument, NULL, OPTION_FIELD},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct io_request {
	const struct subcommand *self;
	const char *fabric, *host;
	bool wants_json;
	unsigned slot, lun;
	struct io_description description; /* of "add NODE profile" */
	char **words;			   /* what is no option; words[0] is the action */
	int word_count;
	char **program_options; /* after "--", ended by NULL */
};

static int scan(struct io_request *request)
{
	struct mad_engine_port port;
	struct io_manager_options options;
	struct io_manager manager;

	if (io_scan_open(request->fabric, request->host, &port, &options) != 0)
		return EXIT_FAILURE;

	int error = io_scan_run(&port, &options, &manager);

	mad_engine_close(&port);
	if (error)
		return EXIT_FAILURE;
	if (request->wants_json) {
		json_t *answer = io_scan_to_json(&manager);

		print_json(answer);
		json_decref(answer);
	} else {
		io_scan_print(&manager);
	}
	io_manager_release(&manager);
	return EXIT_SUCCESS;
}

static int list(struct io_request *request)
{
	return io_controllers_list(request->fabric, request->wants_json);
}

static int add(struct io_request *request)
{
	if (strcmp(request->words[2], "profile") == 0) {
		request->description.slot = request->slot;
		return io_controllers_describe(request->fabric, request->words[1],
					       &request->description);
	}
	/* The GUID of an SRP target, which is its service ID too, is made of the slot. */
	if (strcmp(request->words[2], "storage") == 0 && !request->slot)
		request->slot = io_controllers_first_free(request->fabric, request->words[1]);
	return io_program_start(request->fabric, request->words[1], request->words[2],
				request->slot, request->program_options);
}

static int remove_controller(struct io_request *request)
{
	struct io_place place;

	if (!io_place_parse(request->words[1], &place))
		return subcommand_misuse(request->self, "name NODE:SLOT");
	return io_controllers_remove(request->fabric, &place);
}

static bool take_number(const char *text, unsigned last, unsigned *ret_number)
{
	char *end;
	unsigned long number = strtoul(text, &end, 0);

	if (end == text || *end || *text == '-' || number > last)
		return false;
	*ret_number = (unsigned)number;
	return true;
}

static int set_slots(struct io_request *request)
{
	unsigned slot_count;

	if (!take_number(request->words[2], UINT16_MAX, &slot_count))
		return subcommand_misuse(request->self, "name a node and a number of slots");

	json_t *answer = fabric_ask(request->fabric,
				    json_pack("{s:s, s:s, s:i}", "command", "io-slots", "node",
					      request->words[1], "slots", (int)slot_count));

	json_decref(answer);
	return answer ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int fail(struct io_request *request)
{
	struct io_place place;
	unsigned code;

	if (!io_place_parse(request->words[1], &place) ||
	    !take_number(request->words[2], UINT16_MAX, &code))
		return subcommand_misuse(request->self, "name NODE:SLOT and a code of 16 bits");

	json_t *answer =
		fabric_ask(request->fabric,
			   json_pack("{s:s, s:s, s:i, s:i}", "command", "io-test-outcome", "node",
				     place.node, "slot", (int)place.slot, "code", (int)code));

	json_decref(answer);
	return answer ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Scans and finds the controller that the request names. The caller releases the manager and closes
 * the port. Returns the exit code. */
static int find(struct io_request *request, struct mad_engine_port *ret_port,
		struct io_manager *ret_manager, const struct io_found_unit **ret_unit,
		const struct io_found_controller **ret_controller)
{
	struct io_manager_options options;
	struct io_place place;

	if (!io_place_parse(request->words[1], &place))
		return subcommand_misuse(request->self, "name NODE:SLOT");
	if (io_scan_open(request->fabric, request->host, ret_port, &options) != 0)
		return EXIT_FAILURE;
	if (io_scan_run(ret_port, &options, ret_manager) != 0) {
		mad_engine_close(ret_port);
		return EXIT_FAILURE;
	}
	*ret_controller = io_scan_find(ret_manager, place.node, place.slot, ret_unit);
	if (*ret_controller)
		return EXIT_SUCCESS;
	fprintf(stderr, "softib io: there is no controller in slot %u of %s\n", place.slot,
		place.node);
	io_manager_release(ret_manager);
	mad_engine_close(ret_port);
	return EXIT_FAILURE;
}

static int attach(struct io_request *request)
{
	const struct io_found_controller *controller = NULL;
	const struct io_found_unit *unit = NULL;
	struct mad_engine_port port;
	struct io_manager manager;
	int code = find(request, &port, &manager, &unit, &controller);

	if (!controller)
		return code;
	mad_engine_close(&port);
	code = io_driver_become(request->fabric, request->host, unit, controller, request->lun,
				request->program_options);
	io_manager_release(&manager);
	return code;
}

static int test(struct io_request *request)
{
	const struct io_found_controller *controller = NULL;
	const struct io_found_unit *unit = NULL;
	struct mad_engine_port port;
	struct io_manager manager;
	int code = find(request, &port, &manager, &unit, &controller);

	if (!controller)
		return code;
	code = io_controllers_test(&port, &manager, unit, controller->slot);
	io_manager_release(&manager);
	mad_engine_close(&port);
	return code;
}

static const struct {
	const char *name;
	int word_count; /* with the action */
	int (*run)(struct io_request *request);
	const char *words;
} actions[] = {
	{"scan", 1, scan, ""},
	{"list", 1, list, ""},
	{"add", 3, add, "NODE and storage, console, profile or a path"},
	{"remove", 2, remove_controller, "NODE:SLOT"},
	{"attach", 2, attach, "NODE:SLOT"},
	{"slots", 3, set_slots, "NODE and a number"},
	{"fail", 3, fail, "NODE:SLOT and a code"},
	{"test", 2, test, "NODE:SLOT"},
};

/* Returns why the option is refused, or NULL. */
static const char *take_option(struct io_request *request, int code)
{
	switch (code) {
	case 'n':
		request->fabric = optarg;
		return NULL;
	case 'H':
		request->host = optarg;
		return NULL;
	case OPTION_JSON:
		request->wants_json = true;
		return NULL;
	case OPTION_SLOT:
		return take_number(optarg, IO_SLOTS_MAX, &request->slot)
			       ? NULL
			       : "--slot takes a number from 1 to 255";
	case OPTION_LUN:
		return take_number(optarg, UINT16_MAX, &request->lun) ? NULL
								      : "--lun takes a number";
	case OPTION_COUNT:
		return take_number(optarg, IO_SLOTS_MAX, &request->description.count)
			       ? NULL
			       : "--count takes a number from 1 to 255";
	case OPTION_SERVICE:
		return io_description_add_service(&request->description, optarg);
	case OPTION_FIELD:
		return io_description_set(&request->description, optarg);
	default:
		return "";
	}
}

/* The words after "--" are for the program. */
static void cut_program_options(int *argument_count, char **arguments, char ***ret_options)
{
	static char *none[] = {NULL};

	*ret_options = none;
	for (int i = 1; i < *argument_count; i++) {
		if (strcmp(arguments[i], "--") != 0)
			continue;
		*ret_options = arguments + i + 1;
		*argument_count = i;
		return;
	}
}

static int run_action(struct io_request *request)
{
	for (unsigned i = 0; request->word_count && i < ARRAY_COUNT(actions); i++) {
		char reason[96];

		if (strcmp(actions[i].name, request->words[0]) != 0)
			continue;
		if (request->word_count == actions[i].word_count)
			return actions[i].run(request);
		snprintf(reason, sizeof(reason), "%s takes %s", actions[i].name,
			 actions[i].words[0] ? actions[i].words : "no argument");
		return subcommand_misuse(request->self, reason);
	}
	return subcommand_misuse(request->self, "name scan, list, add, remove, attach, slots, fail "
						"or test");
}

static int run_io(const struct subcommand *self, int argument_count, char **arguments)
{
	struct io_request request = {.self = self, .host = getenv("SOFTIB_HOST")};
	int option, code;

	io_description_init(&request.description);
	cut_program_options(&argument_count, arguments, &request.program_options);
	while ((option = getopt_long(argument_count, arguments, "n:H:h", long_options, NULL)) !=
	       -1) {
		if (option == 'h')
			return subcommand_help(self);

		const char *refusal = take_option(&request, option);

		if (refusal)
			return subcommand_misuse(self, refusal[0] ? refusal : NULL);
	}
	request.fabric = fabric_name_or_default(request.fabric);
	request.words = arguments + optind;
	request.word_count = argument_count - optind;
	code = run_action(&request);
	io_description_release(&request.description);
	return code;
}

const struct subcommand subcommand_io = {
	.name = "io",
	.summary = "find, add and use I/O controllers",
	.usage =
		"Usage: softib io ACTION [OPTION]...\n"
		"I/O controllers in the slots of target channel adapters (softib up --tcas) or of\n"
		"any other adapter. A host finds them by device management, as ibsrpdm does.\n"
		"\n"
		"  scan [-H HOST]      what HOST finds: the SA names the ports, their units name the\n"
		"                      controllers; DRIVER is the program that HOST would use\n"
		"  list                every controller of the fabric, with the program behind it\n"
		"  add NODE storage    start an SRP target on NODE; after \"--\" come its options\n"
		"  add NODE console    start a console controller on NODE\n"
		"  add NODE ./PROGRAM  start a controller of your own (runtime/io_controller.h); it gets\n"
		"                      --slot N and prints a line that begins with \"ready\"\n"
		"  add NODE profile    plug a controller that is only described, by --set FIELD=VALUE\n"
		"                      (io_class, protocol, id_string, ...) and --service NAME=ID\n"
		"  remove NODE:SLOT    end the controller's program, or pull the controller\n"
		"  attach NODE:SLOT    run the controller's driver on HOST: nbdkit for storage; after\n"
		"                      \"--\" come options of the driver\n"
		"  slots NODE N        give NODE's unit N slots (default: 16)\n"
		"  test NODE:SLOT      run the controller's self-test and print its DiagCode\n"
		"  fail NODE:SLOT CODE let self-tests of the controller end with CODE (0: pass)\n"
		"\n"
		"  -H, --host HOST     the host that scans (default: SOFTIB_HOST, or the first)\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  --slot N            the slot for add (default: the first free one)\n"
		"  --lun N             the logical unit for attach (default: 0)\n"
		"  --count N           profile: N controllers; the i-th has service IDs ID + i\n"
		"  --json              scan and list print JSON\n",
	.run = run_io,
};
