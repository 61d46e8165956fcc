/* SPDX-License-Identifier: Apache-2.0 */
/* The programs behind "softib io". Each is started by "softib run". */
#include "cli/io_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cli/program_file.h"
#include "ipc/control_socket.h"
#include "mgmt/device/io_drivers.h"
#include "mgmt/device/io_manager.h"

enum {
	ARGUMENTS_MAX = 64,
	TEXT_BYTES = 512,
	LOG_BYTES = 4096,
	READY_TIMEOUT_MS = 15000,
	READY_POLL_MS = 10,
	END_TIMEOUT_MS = 2000,
};

static const struct {
	const char *kind;
	const char *program;
} controllers[] = {
	{"storage", "softib-srp-target"},
	{"console", "softib-console-controller"},
};

/* An argument list that is built in order. */
struct arguments {
	char *list[ARGUMENTS_MAX + 1];
	unsigned count;
};

static void add(struct arguments *arguments, const char *argument)
{
	if (arguments->count < ARGUMENTS_MAX)
		arguments->list[arguments->count++] = (char *)(uintptr_t)argument;
}

static void add_all(struct arguments *arguments, char *const list[])
{
	for (; list && *list; list++)
		add(arguments, *list);
}

/* "softib run" of this very program. */
static void add_run(struct arguments *arguments, const char *fabric, const char *host)
{
	add(arguments, "softib");
	add(arguments, "run");
	add(arguments, "--name");
	add(arguments, fabric);
	if (host) {
		add(arguments, "--host");
		add(arguments, host);
	}
	add(arguments, "--");
}

static void become(const struct arguments *arguments)
{
	execv("/proc/self/exe", arguments->list);
	fprintf(stderr, "softib io: cannot run softib: %s\n", strerror(errno));
}

/* softib's own program, or one in PATH. */
static int find_program(const char *name, char ret_path[static PATH_MAX])
{
	char own[CONTROL_PATH_BYTES];
	int error;

	if (!strchr(name, '/') && program_path(name, own) == 0) {
		snprintf(ret_path, PATH_MAX, "%s", own);
		return 0;
	}
	error = program_file_find(name, ret_path, PATH_MAX);
	if (error)
		fprintf(stderr, "softib io: the program %s is not installed\n", name);
	return error;
}

/* A kind of controller, or the path of a program. */
static const char *program_of(const char *kind)
{
	if (strchr(kind, '/'))
		return kind;
	for (unsigned i = 0; i < ARRAY_COUNT(controllers); i++) {
		if (strcmp(controllers[i].kind, kind) == 0)
			return controllers[i].program;
	}
	return NULL;
}

/* Both ends of the program's output go to the log, because softib does not stay to read it. */
static void become_background(const struct arguments *arguments, int log)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setsid();
	dup2(nothing, STDIN_FILENO);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	become(arguments);
	_exit(EXIT_FAILURE);
}

static void read_log(int log, char ret_text[static LOG_BYTES])
{
	ssize_t length = pread(log, ret_text, LOG_BYTES - 1, 0);

	ret_text[length > 0 ? length : 0] = '\0';
}

/* The line that begins with "ready"; NULL: it is not there yet. */
static const char *ready_line(const char *text)
{
	while (text) {
		if (strncmp(text, "ready", 5) == 0 && strchr(text, '\n'))
			return text;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

static void pause_ms(unsigned ms)
{
	const struct timespec time = {.tv_nsec = (long)ms * 1000000};

	nanosleep(&time, NULL);
}

static void end_program(pid_t pid)
{
	kill(pid, SIGTERM);
	for (unsigned waited = 0; waited < END_TIMEOUT_MS; waited += READY_POLL_MS) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return;
		pause_ms(READY_POLL_MS);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int await_ready(pid_t pid, int log)
{
	char text[LOG_BYTES];

	for (unsigned waited = 0; waited < READY_TIMEOUT_MS; waited += READY_POLL_MS) {
		bool has_ended = waitpid(pid, NULL, WNOHANG) == pid;
		const char *ready;

		read_log(log, text);
		ready = ready_line(text);
		if (ready && !has_ended) {
			printf("%.*s\n", (int)strcspn(ready, "\n"), ready);
			return EXIT_SUCCESS;
		}
		if (has_ended) {
			fprintf(stderr, "%ssoftib io: the controller's program has ended\n", text);
			return EXIT_FAILURE;
		}
		pause_ms(READY_POLL_MS);
	}
	fprintf(stderr, "%ssoftib io: the controller's program did not become ready\n", text);
	end_program(pid);
	return EXIT_FAILURE;
}

static int open_log(const char *fabric, const char *node)
{
	char folder[CONTROL_PATH_BYTES], path[PATH_MAX];
	int error = fabric_directory(fabric, folder);
	int log = -1;

	if (!error) {
		snprintf(path, sizeof(path), "%s/io-%s-%d.log", folder, node, (int)getpid());
		log = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	}
	if (log < 0)
		fprintf(stderr, "softib io: cannot write a log for fabric %s: %s\n", fabric,
			strerror(error ? -error : errno));
	return log;
}

int io_program_start(const char *fabric, const char *node, const char *kind, unsigned slot,
		     char *const options[])
{
	const char *name = program_of(kind);
	struct arguments arguments = {0};
	char program[PATH_MAX], number[16];
	int log, code;
	pid_t pid;

	if (!name) {
		fprintf(stderr,
			"softib io: there is no controller %s: storage, console, profile or a path\n",
			kind);
		return EXIT_FAILURE;
	}
	if (strchr(node, '/') || find_program(name, program) != 0)
		return EXIT_FAILURE;
	log = open_log(fabric, node);
	if (log < 0)
		return EXIT_FAILURE;
	add_run(&arguments, fabric, node);
	add(&arguments, program);
	snprintf(number, sizeof(number), "%u", slot);
	if (slot) {
		add(&arguments, "--slot");
		add(&arguments, number);
	}
	add_all(&arguments, options);
	pid = fork();
	if (pid == 0)
		become_background(&arguments, log);
	if (pid < 0)
		fprintf(stderr, "softib io: %s\n", strerror(errno));
	code = pid < 0 ? EXIT_FAILURE : await_ready(pid, log);
	close(log);
	return code;
}

/* The target as "ibsrpdm -c" prints it. */
static void format_target(const struct io_found_unit *unit,
			  const struct io_found_controller *controller,
			  const struct io_service_entry *service, char ret_text[static TEXT_BYTES])
{
	enum { ID_OFFSET = 8, IO_CLASS_REV_10 = 0xff00 }; /* "SRP.T10:" */
	const char *io_class =
		controller->profile.io_class == IO_CLASS_REV_10 ? ",io_class=ff00" : "";

	snprintf(ret_text, TEXT_BYTES,
		 "target=id_ext=%.16s,ioc_guid=%016" PRIx64 ",dgid=%016" PRIx64 "%016" PRIx64
		 ",pkey=%04x,service_id=%016" PRIx64 "%s",
		 service->name + ID_OFFSET, controller->profile.guid, gid_prefix(&unit->gid),
		 gid_guid(&unit->gid), unit->pkey, service->id, io_class);
}

static void print_command(const char *driver, const struct arguments *arguments, unsigned from)
{
	fprintf(stderr, "driver %s:", driver);
	for (unsigned i = from; i < arguments->count; i++)
		fprintf(stderr, " %s", arguments->list[i]);
	fputc('\n', stderr);
}

/* The plug-in is beside softib itself in a build tree, and installed in nbdkit's folder beside the
 * folder of softib's libraries. Else nbdkit looks for it. */
static void find_plugin(char ret_path[static PATH_MAX])
{
	static const char file[] = "nbdkit-softib-srp-plugin.so";
	char folder[CONTROL_PATH_BYTES];

	if (program_path(file, folder) == 0) {
		snprintf(ret_path, PATH_MAX, "%s", folder);
		return;
	}
	if (library_directory(folder) == 0) {
		snprintf(ret_path, PATH_MAX, "%s/../nbdkit/plugins/%s", folder, file);
		if (access(ret_path, R_OK) == 0)
			return;
	}
	snprintf(ret_path, PATH_MAX, "softib-srp");
}

static void add_srp(struct arguments *arguments, const struct io_found_unit *unit,
		    const struct io_found_controller *controller, unsigned lun)
{
	static char plugin[PATH_MAX], target[TEXT_BYTES], lun_text[32];

	find_plugin(plugin);
	format_target(unit, controller, io_driver_service(IO_DRIVER_SRP, controller), target);
	snprintf(lun_text, sizeof(lun_text), "lun=%u", lun);
	add(arguments, plugin);
	add(arguments, target);
	add(arguments, lun_text);
}

static void add_console(struct arguments *arguments, const struct io_found_unit *unit,
			const struct io_found_controller *controller)
{
	static char dgid[TEXT_BYTES], service_id[32];

	snprintf(dgid, sizeof(dgid), "%016" PRIx64 "%016" PRIx64, gid_prefix(&unit->gid),
		 gid_guid(&unit->gid));
	snprintf(service_id, sizeof(service_id), "0x%016" PRIx64,
		 io_driver_service(IO_DRIVER_CONSOLE, controller)->id);
	add(arguments, "--dgid");
	add(arguments, dgid);
	add(arguments, "--service-id");
	add(arguments, service_id);
}

int io_driver_become(const char *fabric, const char *host, const struct io_found_unit *unit,
		     const struct io_found_controller *controller, unsigned lun,
		     char *const options[])
{
	enum io_driver driver = io_driver_for(controller);
	struct arguments arguments = {0};
	char program[PATH_MAX];
	unsigned from;

	if (driver == IO_DRIVER_NONE) {
		fprintf(stderr,
			"softib io: there is no driver for \"%s\" (class 0x%04x, protocol "
			"0x%04x)\n",
			controller->id_string, controller->profile.io_class,
			controller->profile.protocol);
		return EXIT_FAILURE;
	}
	if (find_program(driver == IO_DRIVER_SRP ? "nbdkit" : "softib-console", program) != 0)
		return EXIT_FAILURE;
	add_run(&arguments, fabric, host);
	from = arguments.count;
	add(&arguments, program);
	add_all(&arguments, options);
	if (driver == IO_DRIVER_SRP)
		add_srp(&arguments, unit, controller, lun);
	else
		add_console(&arguments, unit, controller);
	print_command(io_driver_name(driver), &arguments, from);
	become(&arguments);
	return EXIT_FAILURE;
}
