/* SPDX-License-Identifier: Apache-2.0 */
/* softib run: runs a program on a virtual host. It execs the program, so signals and exit codes are
 * the program's own. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/fabric_client.h"
#include "cli/namespace.h"
#include "cli/program_file.h"
#include "cli/subcommand.h"
#include "ipc/control_socket.h"
#include "ipc/protocol.h"

enum {
	EXIT_NOT_EXECUTABLE = 126, /* the shell's code */
	EXIT_NOT_FOUND = 127,
	START_TIMEOUT_MS = 15000,
	ACTIVE_TIMEOUT_MS = 30000,
	START_ATTEMPTS = 5,
};

enum option_code { OPTION_AUDIT = 256, OPTION_NAMESPACE };

static const struct option long_options[] = {
	{"host", required_argument, NULL, 'H'},
	{"name", required_argument, NULL, 'n'},
	{"audit", no_argument, NULL, OPTION_AUDIT},
	{"namespace", no_argument, NULL, OPTION_NAMESPACE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct run_request {
	const char *fabric;
	const char *host; /* NULL: the first */
	bool fabric_was_named;
	bool uses_audit;
	bool uses_namespace;
	char **program; /* and its arguments */
};

/* Returns -1, or the exit code when there is nothing more to do. */
static int parse(const struct subcommand *self, int argument_count, char **arguments,
		 struct run_request *request)
{
	const char *from_environment = getenv("SOFTIB_FABRIC");
	const char *name = NULL;
	int code;

	request->host = getenv("SOFTIB_HOST");
	/* "+": options after the program's name belong to the program. */
	while ((code = getopt_long(argument_count, arguments, "+H:n:h", long_options, NULL)) !=
	       -1) {
		switch (code) {
		case 'H':
			request->host = optarg;
			break;
		case 'n':
			name = optarg;
			break;
		case OPTION_AUDIT:
			request->uses_audit = true;
			break;
		case OPTION_NAMESPACE:
			request->uses_namespace = true;
			break;
		case 'h':
			return subcommand_help(self);
		default:
			return subcommand_misuse(self, NULL);
		}
	}
	if (optind >= argument_count)
		return subcommand_misuse(self, "name a program to run");
	request->program = arguments + optind;
	request->fabric = fabric_name_or_default(name);
	request->fabric_was_named = name || (from_environment && *from_environment);
	return -1;
}

static int start_embedded(const char *fabric)
{
	static const char *const arguments[] = {"--ephemeral", "--hosts", "2", NULL};
	char reason[512] = "";
	struct launch_options options = {.fabric = fabric,
					 .arguments = arguments,
					 .timeout_ms = START_TIMEOUT_MS,
					 .reason = reason,
					 .reason_bytes = sizeof(reason)};
	int error = fabric_launch(&options);

	if (error && reason[0])
		fprintf(stderr, "softib: %s\n", reason);
	else if (error)
		fprintf(stderr, "softib: cannot start the default fabric: %s\n", strerror(-error));
	return error;
}

/* Connects and sends hello. The program inherits the connection; the answer names its files. */
static int join_once(const struct run_request *request, json_t **ret_answer)
{
	json_t *hello = json_pack("{s:s, s:i, s:s, s:i}", "command", "hello", "version",
				  PROTOCOL_VERSION, "kind", "hold", "pid", (int)getpid());
	struct control_message message;
	int socket = control_connect(request->fabric);

	if (socket < 0) {
		json_decref(hello);
		return socket;
	}
	if (request->host && *request->host)
		json_object_set_new(hello, "host", json_string(request->host));

	int error = fabric_client_exchange(socket, hello, ANSWER_TIMEOUT_MS, &message, ret_answer);

	if (error) {
		close(socket);
		return error;
	}
	control_message_release(&message);
	return socket;
}

/* The default fabric may be stopping because its last program has ended. Then the next try starts a
 * new one. */
static int join(const struct run_request *request, json_t **ret_answer, bool *ret_was_started)
{
	int socket = -ENOENT;

	for (int attempt = 0; attempt < START_ATTEMPTS; attempt++) {
		socket = join_once(request, ret_answer);
		if (socket >= 0 || request->fabric_was_named)
			return socket;
		if (socket != -ENOENT && socket != -ECONNREFUSED && socket != -ECONNRESET)
			return socket;
		if (start_embedded(request->fabric) != 0)
			return -ECANCELED;
		*ret_was_started = true;
	}
	return socket;
}

static int wait_until_active(int socket)
{
	json_t *answer = fabric_client_ask(
		socket,
		json_pack("{s:s, s:i}", "command", "wait-active", "timeout_ms", ACTIVE_TIMEOUT_MS),
		ACTIVE_TIMEOUT_MS + ANSWER_TIMEOUT_MS);
	int error = answer ? 0 : -ETIMEDOUT;

	json_decref(answer);
	return error;
}

/* libasan.so.8, libtsan.so.2, libubsan.so.1 ... */
static bool is_sanitizer(const char *entry, size_t length)
{
	const char *name = memrchr(entry, '/', length);
	char kind[8];

	name = name ? name + 1 : entry;
	return (size_t)(name - entry) < length && sscanf(name, "lib%7[a-z]", kind) == 1 &&
	       strlen(kind) >= 4 && strcmp(kind + strlen(kind) - 3, "san") == 0;
}

/* The entries that stay first: a sanitizer's runtime refuses to be anything but the first library.
 */
static size_t sanitizers_length(const char *list, char separator)
{
	size_t kept = 0;

	for (;;) {
		const char *end = strchrnul(list + kept, separator);

		if (!is_sanitizer(list + kept, (size_t)(end - (list + kept))))
			return kept;
		kept = (size_t)(end - list) + (*end != '\0');
	}
}

/* Puts an entry at the front of a list in the environment, unless it is there. */
static void put_first(const char *variable, const char *entry, char separator)
{
	const char *old = getenv(variable);
	size_t length = strlen(entry);
	char *list;

	if (!old || !*old) {
		setenv(variable, entry, 1);
		return;
	}

	const size_t kept = sanitizers_length(old, separator);
	const char *rest = old + kept;

	if (strncmp(rest, entry, length) == 0 &&
	    (rest[length] == '\0' || rest[length] == separator))
		return;

	int made = *rest ? asprintf(&list, "%.*s%s%c%s", (int)kept, old, entry, separator, rest)
			 : asprintf(&list, "%s%c%s", old, separator, entry);

	if (made < 0)
		return;
	setenv(variable, list, 1);
	free(list);
}

static int put_library_first(const char *variable, const char *libraries, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", libraries, name);
	if (access(path, R_OK) != 0) {
		fprintf(stderr, "softib: %s is missing; is the installation complete?\n", path);
		return -ENOENT;
	}
	put_first(variable, path, ':');
	return 0;
}

static int set_environment(const struct run_request *request, const json_t *answer,
			   const char *libraries)
{
	char path[PATH_MAX], folder[CONTROL_PATH_BYTES];
	int error = fabric_directory(request->fabric, folder);

	if (error)
		return error;
	snprintf(path, sizeof(path), "%s/control", folder);
	setenv("SOFTIB_FABRIC", request->fabric, 1);
	setenv("SOFTIB_HOST", json_string_value(json_object_get(answer, "host")), 1);
	setenv("SOFTIB_TREE", json_string_value(json_object_get(answer, "tree")), 1);
	setenv("SOFTIB_SOCKET", path, 1);
	setenv("SOFTIB_LIBDIR", libraries, 1);
	/* NCCL 2.28 crashes at startup with adapters of other vendors unless GIN is disabled. */
	setenv("NCCL_GIN_TYPE", "2", 0);
	put_first("LD_LIBRARY_PATH", libraries, ':');
	error = put_library_first("LD_PRELOAD", libraries, "libsoftib-paths.so");
	if (!error && request->uses_audit)
		error = put_library_first("LD_AUDIT", libraries, "libsoftib-audit.so");
	return error;
}

/* Checks the program before it connects to the fabric. Returns 0 or the exit code. */
static int check_program(const struct run_request *request)
{
	char path[PATH_MAX];
	int error = program_file_find(request->program[0], path, sizeof(path));
	const char *obstacle = error ? NULL : program_file_obstacle(path);

	if (error == -ENOENT) {
		fprintf(stderr, "softib: program %s not found\n", request->program[0]);
		return EXIT_NOT_FOUND;
	}
	if (error) {
		fprintf(stderr, "softib: cannot run %s: %s\n", request->program[0],
			strerror(-error));
		return EXIT_NOT_EXECUTABLE;
	}
	if (obstacle && !(request->uses_namespace && strstr(obstacle, "--namespace")))
		fprintf(stderr, "softib: %s will not see softib's adapters: it is %s\n", path,
			obstacle);
	return 0;
}

static int become_program(const struct run_request *request, int socket)
{
	/* The program and its children inherit the connection. The default fabric lives as long as
	 * one of them. */
	if (fcntl(socket, F_SETFD, 0) != 0)
		return EXIT_FAILURE;
	execvp(request->program[0], request->program);

	int error = errno;

	fprintf(stderr, "softib: cannot run %s: %s\n", request->program[0], strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int prepare_and_become(const struct run_request *request, int socket, const json_t *answer)
{
	char libraries[CONTROL_PATH_BYTES];
	int error = library_directory(libraries);

	if (error) {
		fprintf(stderr,
			"softib: softib's libraries are missing; is the installation complete?\n");
		return EXIT_FAILURE;
	}
	if (set_environment(request, answer, libraries) != 0)
		return EXIT_FAILURE;
	if (request->uses_namespace &&
	    namespace_enter(json_string_value(json_object_get(answer, "tree")), libraries) != 0)
		return EXIT_FAILURE;
	return become_program(request, socket);
}

static int run_run(const struct subcommand *self, int argument_count, char **arguments)
{
	struct run_request request = {0};
	json_t *answer = NULL;
	bool was_started = false;
	int code = parse(self, argument_count, arguments, &request);

	if (code >= 0)
		return code;
	code = check_program(&request);
	if (code)
		return code;

	int socket = join(&request, &answer, &was_started);

	if (socket < 0) {
		if (socket != -ECANCELED)
			fabric_client_explain(request.fabric, socket);
		return EXIT_FAILURE;
	}
	if (!fabric_client_is_ok(answer))
		return EXIT_FAILURE;
	if (was_started && wait_until_active(socket) != 0)
		return EXIT_FAILURE;
	return prepare_and_become(&request, socket, answer);
}

const struct subcommand subcommand_run = {
	.name = "run",
	.summary = "run a program on a host",
	.usage =
		"Usage: softib run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
		"Runs a program on a host of a fabric: the program sees that host's InfiniBand\n"
		"adapters. If no fabric is named and none is up, softib starts a default one with\n"
		"two hosts; it stops with its last program.\n"
		"\n"
		"  -H, --host HOST     the host (default: SOFTIB_HOST, or the first)\n"
		"  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n"
		"  --audit             also for programs with a fixed library path (DT_RPATH) or\n"
		"                      an absolute dlopen: uses an audit module of the loader\n"
		"  --namespace         mount softib's libraries and files over the real ones, in a\n"
		"                      private mount namespace\n"
		"\n"
		"The exit code is the program's; 127 if it is not found, 126 if it cannot be run.\n",
	.run = run_run,
};
