/* SPDX-License-Identifier: Apache-2.0 */
/* softib up: starts a fabric and waits until its ports are Active. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/fabric_client.h"
#include "cli/subcommand.h"
#include "ipc/control_socket.h"
#include "launch/start_options.h"

enum { START_TIMEOUT_MS = 30000, ACTIVE_TIMEOUT_MS = 60000, ARGUMENTS_MAX = 64 };

enum { OPTION_JSON = START_OPTION_END };

/* clang-format off */
static const struct option long_options[] = {
	START_LONG_OPTIONS
	{"name", required_argument, NULL, 'n'},
	{"foreground", no_argument, NULL, 'f'},
	{"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};
/* clang-format on */

/* The arguments for softibd, and how to start it. */
struct up_request {
	const char *fabric;
	const char *arguments[ARGUMENTS_MAX + 1];
	unsigned argument_count;
	bool has_hosts;
	bool has_topology;
	bool has_manager_options;
	bool is_foreground;
	bool wants_json;
	bool waits_for_active;
};

static void add_argument(struct up_request *request, const char *argument)
{
	if (request->argument_count < ARGUMENTS_MAX)
		request->arguments[request->argument_count++] = argument;
}

/* Adds an option to softibd's arguments. Returns an error message, or NULL. */
static const char *take_start_option(struct up_request *request, enum start_option option,
				     const char *value)
{
	const char *refusal = start_option_refusal(option, value);

	if (refusal)
		return refusal;
	add_argument(request, start_option_name(option));
	if (value)
		add_argument(request, value);
	request->has_hosts |= option == START_OPTION_HOSTS;
	request->has_topology |= option == START_OPTION_TOPOLOGY;
	/* These options are for the built-in subnet manager. */
	request->has_manager_options |=
		option >= START_OPTION_ENGINE && option <= START_OPTION_PRUNE;
	request->waits_for_active &= option != START_OPTION_NO_SM;
	return NULL;
}

/* Returns -1, or the exit code when there is nothing more to do. */
static int parse(const struct subcommand *self, int argument_count, char **arguments,
		 struct up_request *request)
{
	const char *name = NULL;
	int code;

	while ((code = getopt_long(argument_count, arguments, "n:h", long_options, NULL)) != -1) {
		if (start_option_is(code)) {
			const char *refusal =
				take_start_option(request, (enum start_option)code, optarg);

			if (refusal)
				return subcommand_misuse(self, refusal);
			continue;
		}
		switch (code) {
		case 'n':
			name = optarg;
			break;
		case 'f':
			request->is_foreground = true;
			break;
		case OPTION_JSON:
			request->wants_json = true;
			break;
		case 'h':
			return subcommand_help(self);
		default:
			return subcommand_misuse(self, NULL);
		}
	}
	if (optind < argument_count)
		return subcommand_misuse(self, "unexpected argument: only options are accepted");
	if (request->has_hosts && request->has_topology)
		return subcommand_misuse(self, "use either --hosts or --topology");
	if (request->has_manager_options && !request->waits_for_active)
		return subcommand_misuse(self, "with --no-sm there is no built-in subnet manager "
					       "to take these options");
	request->fabric = fabric_name_or_default(name);
	return -1;
}

static int run_in_foreground(const struct up_request *request)
{
	char program[CONTROL_PATH_BYTES];
	const char *arguments[ARGUMENTS_MAX + 6] = {"softibd", "--foreground", "--name",
						    request->fabric};
	int error = program_path("softibd", program);

	memcpy(arguments + 4, request->arguments, sizeof(request->arguments));
	if (!error) {
		execv(program, (char *const *)(uintptr_t)arguments);
		error = -errno;
	}
	fprintf(stderr, "softib: cannot start softibd: %s\n", strerror(-error));
	return EXIT_FAILURE;
}

static void explain_launch(const char *fabric, int error, const char *reason)
{
	if (error == -EEXIST)
		fprintf(stderr,
			"softib: fabric %s is up already; stop it with \"softib down --name %s\", "
			"or choose another --name\n",
			fabric, fabric);
	else if (reason[0])
		fprintf(stderr, "softib: %s\n", reason);
	else if (error == -ENOENT)
		fprintf(stderr, "softib: softibd is missing; is the installation complete?\n");
	else
		fabric_client_explain(fabric, error);
}

static int report(const struct up_request *request, int socket)
{
	json_t *status = fabric_client_ask(socket, json_pack("{s:s}", "command", "status"),
					   ANSWER_TIMEOUT_MS);

	if (!status)
		return EXIT_FAILURE;
	if (request->wants_json)
		print_json(status);
	else
		printf("fabric %s is up: %d hosts, %d switches, %d of %d links active\n",
		       request->fabric, (int)json_integer_value(json_object_get(status, "hosts")),
		       (int)json_integer_value(json_object_get(status, "switches")),
		       (int)json_integer_value(json_object_get(status, "active_links")),
		       (int)json_integer_value(json_object_get(status, "links")));
	json_decref(status);
	return EXIT_SUCCESS;
}

static int wait_and_report(const struct up_request *request)
{
	int socket = fabric_client_open(request->fabric);
	int code = EXIT_FAILURE;

	if (socket < 0)
		return EXIT_FAILURE;
	if (request->waits_for_active) {
		json_t *answer = fabric_client_ask(socket,
						   json_pack("{s:s, s:i}", "command", "wait-active",
							     "timeout_ms", ACTIVE_TIMEOUT_MS),
						   ACTIVE_TIMEOUT_MS + ANSWER_TIMEOUT_MS);

		if (answer)
			code = report(request, socket);
		json_decref(answer);
	} else {
		code = report(request, socket);
	}
	close(socket);
	return code;
}

/* A default fabric that a program started and no program uses any more is stopped, so that its name
 * is free. */
static bool end_unused(const char *fabric)
{
	struct control_message message;
	int socket = control_connect_operator(fabric);
	json_t *status = NULL, *answer = NULL;

	if (socket < 0)
		return false;
	status = fabric_client_ask(socket, json_pack("{s:s}", "command", "status"),
				   ANSWER_TIMEOUT_MS);
	if (json_is_true(json_object_get(status, "ephemeral")) &&
	    json_integer_value(json_object_get(status, "users")) == 0)
		answer = fabric_client_ask(socket, json_pack("{s:s}", "command", "down"),
					   ANSWER_TIMEOUT_MS);

	bool has_ended =
		answer && control_receive(socket, ANSWER_TIMEOUT_MS, &message) == -ECONNRESET;

	json_decref(status);
	json_decref(answer);
	close(socket);
	return has_ended;
}

static int run_up(const struct subcommand *self, int argument_count, char **arguments)
{
	struct up_request request = {.waits_for_active = true};
	char reason[512] = "";
	int code = parse(self, argument_count, arguments, &request);

	if (code >= 0)
		return code;
	if (request.is_foreground)
		return run_in_foreground(&request);

	struct launch_options options = {.fabric = request.fabric,
					 .arguments = request.arguments,
					 .must_be_new = true,
					 .timeout_ms = START_TIMEOUT_MS,
					 .reason = reason,
					 .reason_bytes = sizeof(reason)};
	int error = fabric_launch(&options);

	if (error == -EEXIST && end_unused(request.fabric))
		error = fabric_launch(&options);
	if (error) {
		explain_launch(request.fabric, error, reason);
		return EXIT_FAILURE;
	}
	return wait_and_report(&request);
}

const struct subcommand subcommand_up = {
	.name = "up",
	.summary = "start a fabric",
	.usage =
		"Usage: softib up [OPTION]...\n"
		"Starts a fabric in the background and waits until its ports are Active.\n"
		"\n"
		"  -n, --name FABRIC     its name (default: SOFTIB_FABRIC, or \"default\")\n"
		"  --hosts N             N hosts, h1 to hN, on one switch (default: 2)\n"
		"  --topology TOPOLOGY   a file in ibnetdiscover's format, or a generator:\n"
		"                        star:N, ring:N, fat-tree:K, mesh:AxB, torus:AxB[xC],\n"
		"                        routed:AxB; star:4+2 has 2 target channel adapters\n"
		"  --tcas N              N target channel adapters for I/O controllers, tca1 to\n"
		"                        tcaN, on the leaf switches (not with a topology file)\n"
		"  --vls N               data VLs of every port: 1, 2, 4, 8 (default) or 15;\n"
		"                        in a topology file, vls=N sets it for one port\n"
		"  --no-sm               no built-in subnet manager: ports stay in Init\n"
		"  --engine NAME         routing engine of the built-in subnet manager\n"
		"                        (default: minhop)\n"
		"  --partitions FILE     partitions, as in OpenSM's partitions.conf\n"
		"  --part-enforce TYPE   both, in, out or off: which packets switches and routers\n"
		"                        check (default: both)\n"
		"  --no-part-enforce     same as --part-enforce off\n"
		"  --qos FILE            service levels of partitions and services, and VLs\n"
		"  --lmc N               2^N LIDs per port (default: 0)\n"
		"  --state FILE          keep LIDs in FILE from one start to the next\n"
		"  --m-key KEY           M_Key of every port (default: 0, none)\n"
		"  --m-key-secret FILE   a different M_Key per port, derived from the secret in\n"
		"                        FILE, which is created if absent\n"
		"  --m-key-protection-level N\n"
		"                        0: anyone can read the M_Key; 1: it is hidden (default);\n"
		"                        2 or 3: requests without it get no answer\n"
		"  --m-key-lease-period S\n"
		"                        seconds after a wrong M_Key until a port gives up its\n"
		"                        protection, unless the right M_Key follows\n"
		"                        (default: 60; 0: never)\n"
		"  --prune SECONDS       interval at which multicast members are checked and dead\n"
		"                        ones removed (default: 600; 0: never)\n"
		"  --no-offload          send every packet through softibd, hop by hop\n"
		"  --isolate             programs share no memory but rings of packets, so none\n"
		"                        can read or overwrite another's registered memory\n"
		"  --paced               run links at their width and speed instead of as fast as\n"
		"                        possible; \"softib status\" tells if softibd cannot keep up\n"
		"  --congestion          start with congestion control: switches mark packets,\n"
		"                        adapters slow down (with --paced)\n"
		"  --unprivileged        no program may use a controlled Q_Key, one with the\n"
		"                        highest bit set (default: programs of the fabric's user\n"
		"                        may)\n"
		"  --gateway ROUTER=WHERE\n"
		"                        connect a router to a LAN for raw packets:\n"
		"                        udp:127.0.0.1:PORT,127.0.0.1:PEERPORT or tap:NAME\n"
		"  --snmp-config FILE    communities, users and views of the nodes' SNMP agents, as\n"
		"                        in snmpd.conf (default: public reads, private writes)\n"
		"  --foreground          stay in the foreground, log to stderr, end with Ctrl-C\n"
		"  --json                print the state as JSON\n",
	.run = run_up,
};
