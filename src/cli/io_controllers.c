/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of "softib io" on controllers of a fabric. */
#include "cli/io_controllers.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/answer_pages.h"
#include "cli/class_session.h"
#include "cli/fabric_client.h"
#include "cli/mad_engine.h"
#include "mgmt/device/diagnostics_client.h"
#include "mgmt/device/io_manager.h"
#include "wire/pkey.h"

enum { REMOVE_TIMEOUT_MS = 5000, REMOVE_POLL_MS = 10 };

bool io_place_parse(const char *text, struct io_place *ret_place)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	unsigned long slot;
	char *end;

	if (!length || length >= sizeof(ret_place->node) || colon[1] < '0' || colon[1] > '9')
		return false;
	slot = strtoul(colon + 1, &end, 10);
	if (*end || slot < 1 || slot > IO_SLOTS_MAX)
		return false;
	memcpy(ret_place->node, text, length);
	ret_place->node[length] = '\0';
	ret_place->slot = (unsigned)slot;
	return true;
}

void io_description_init(struct io_description *description)
{
	*description = (struct io_description){
		.profile = json_object(), .services = json_array(), .count = 1};
}

void io_description_release(struct io_description *description)
{
	json_decref(description->profile);
	json_decref(description->services);
}

const char *io_description_add_service(struct io_description *description, const char *text)
{
	const char *sign = strrchr(text, '=');

	if (!sign || sign == text || !sign[1])
		return "--service takes NAME=ID";
	json_array_append_new(
		description->services,
		json_pack("{s:s%, s:s}", "name", text, (size_t)(sign - text), "id", sign + 1));
	return NULL;
}

const char *io_description_set(struct io_description *description, const char *text)
{
	const char *sign = strchr(text, '=');
	char field[64];

	if (!sign || sign == text || (size_t)(sign - text) >= sizeof(field))
		return "--set takes FIELD=VALUE";
	memcpy(field, text, (size_t)(sign - text));
	field[sign - text] = '\0';
	json_object_set_new(description->profile, field, json_string(sign + 1));
	return NULL;
}

/* The services of the i-th controller: a unit has a service ID once only. */
static json_t *services_of(const json_t *services, unsigned i)
{
	json_t *copies = json_array();
	json_t *service;
	size_t index;

	json_array_foreach (services, index, service) {
		const char *id = json_string_value(json_object_get(service, "id"));
		char *end;
		uint64_t number = strtoull(id, &end, 0);
		json_t *copy = json_copy(service);

		if (!*end)
			json_object_set_new(copy, "id", json_sprintf("0x%" PRIx64, number + i));
		json_array_append_new(copies, copy);
	}
	return copies;
}

int io_controllers_describe(const char *fabric, const char *node,
			    const struct io_description *description)
{
	int socket = fabric_client_open(fabric);
	int code = socket < 0 ? EXIT_FAILURE : EXIT_SUCCESS;

	for (unsigned i = 0; i < description->count && code == EXIT_SUCCESS; i++) {
		unsigned slot = description->slot ? description->slot + i : 0;
		json_t *answer = fabric_client_ask(
			socket,
			json_pack("{s:s, s:s, s:i, s:O, s:o}", "command", "io-plug", "node", node,
				  "slot", (int)slot, "profile", description->profile, "services",
				  services_of(description->services, i)),
			ANSWER_TIMEOUT_MS);

		if (answer)
			printf("%s:%d %s\n", node, fabric_client_number(answer, "slot"),
			       fabric_client_text(answer, "guid"));
		else
			code = EXIT_FAILURE;
		json_decref(answer);
	}
	if (socket >= 0)
		close(socket);
	return code;
}

static void print_list(const json_t *units, const json_t *controllers)
{
	const json_t *row;
	size_t index;

	printf("%-10s %5s  %9s  %11s\n", "NODE", "SLOTS", "CHANGE ID", "CONTROLLERS");
	json_array_foreach (units, index, row)
		printf("%-10s %5d  %9d  %11d\n", fabric_client_text(row, "node"),
		       fabric_client_number(row, "slots"), fabric_client_number(row, "change_id"),
		       fabric_client_number(row, "controllers"));
	printf("\n%-10s %4s  %-18s  %-6s  %-8s  %7s  %s\n", "NODE", "SLOT", "GUID", "CLASS",
	       "PROTOCOL", "PID", "ID STRING");
	json_array_foreach (controllers, index, row)
		printf("%-10s %4d  %-18s  0x%04x  0x%04x    %7d  %s%s\n",
		       fabric_client_text(row, "node"), fabric_client_number(row, "slot"),
		       fabric_client_text(row, "guid"), fabric_client_number(row, "io_class"),
		       fabric_client_number(row, "protocol"), fabric_client_number(row, "pid"),
		       fabric_client_text(row, "id_string"),
		       json_is_false(json_object_get(row, "is_on")) ? " (off)" : "");
}

int io_controllers_list(const char *fabric, bool wants_json)
{
	int socket = fabric_client_open(fabric);
	json_t *units, *controllers;

	if (socket < 0)
		return EXIT_FAILURE;
	units = answer_pages_collect(socket, json_pack("{s:s}", "command", "io-units"), "units");
	controllers = units ? answer_pages_collect(socket, json_pack("{s:s}", "command", "io"),
						   "controllers")
			    : NULL;
	close(socket);
	if (controllers && wants_json) {
		json_object_update(units, controllers);
		print_json(units);
	} else if (controllers) {
		print_list(json_object_get(units, "units"),
			   json_object_get(controllers, "controllers"));
	}
	json_decref(units);
	json_decref(controllers);
	return controllers ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The program behind the controller; 0: none. -ENOENT: there is no such controller. -EIO after
 * printing the error. */
static int find_pid(int socket, const struct io_place *place)
{
	json_t *answer =
		answer_pages_collect(socket, json_pack("{s:s}", "command", "io"), "controllers");
	int pid = answer ? -ENOENT : -EIO;
	const json_t *row;
	size_t index;

	json_array_foreach (json_object_get(answer, "controllers"), index, row) {
		if (strcmp(fabric_client_text(row, "node"), place->node) == 0 &&
		    (unsigned)fabric_client_number(row, "slot") == place->slot)
			pid = fabric_client_number(row, "pid");
	}
	json_decref(answer);
	return pid;
}

unsigned io_controllers_first_free(const char *fabric, const char *node)
{
	int socket = fabric_client_open(fabric);
	struct io_place place = {.slot = 1};
	int pid = 0;

	if (socket < 0)
		return 0;
	snprintf(place.node, sizeof(place.node), "%s", node);
	while (place.slot <= IO_SLOTS_MAX && (pid = find_pid(socket, &place)) >= 0)
		place.slot++;
	close(socket);
	return pid == -ENOENT ? place.slot : 0;
}

/* Ends the program and waits until softibd has seen its end. */
static int end_program(int socket, const struct io_place *place, int pid)
{
	const struct timespec pause = {.tv_nsec = REMOVE_POLL_MS * 1000000L};

	if (kill(pid, SIGTERM) != 0 && errno != ESRCH)
		return -errno;
	for (unsigned waited = 0; waited < REMOVE_TIMEOUT_MS; waited += REMOVE_POLL_MS) {
		int now = find_pid(socket, place);

		if (now == -EIO)
			return -EIO;
		if (now != pid)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

static int pull(int socket, const struct io_place *place)
{
	json_t *answer = fabric_client_ask(socket,
					   json_pack("{s:s, s:s, s:i}", "command", "io-pull",
						     "node", place->node, "slot", (int)place->slot),
					   ANSWER_TIMEOUT_MS);

	json_decref(answer);
	return answer ? EXIT_SUCCESS : EXIT_FAILURE;
}

int io_controllers_remove(const char *fabric, const struct io_place *place)
{
	int socket = fabric_client_open(fabric);
	int pid, error = 0, code = EXIT_SUCCESS;

	if (socket < 0)
		return EXIT_FAILURE;
	pid = find_pid(socket, place);
	if (pid > 0) {
		error = end_program(socket, place, pid);
		if (error && error != -EIO)
			fprintf(stderr, "softib io: program %d: %s\n", pid, strerror(-error));
		code = error ? EXIT_FAILURE : EXIT_SUCCESS;
	} else if (pid != -EIO) {
		code = pull(socket, place);
	} else {
		code = EXIT_FAILURE;
	}
	close(socket);
	return code;
}

static void receive(void *context, time_ns now, const struct mad_message *message)
{
	diagnostics_client_receive(context, now, message);
}

static unsigned transmit(void *context, time_ns now, unsigned messages_max,
			 struct mad_message ret_messages[])
{
	return diagnostics_client_transmit(context, now, messages_max, ret_messages);
}

static time_ns deadline(const void *context)
{
	return diagnostics_client_deadline(context);
}

static bool is_done(void *context, time_ns now)
{
	(void)now;
	return diagnostics_client_is_done(context);
}

static int report_test(const struct diagnostics_client *test)
{
	switch (test->state) {
	case DIAGNOSTICS_DONE:
		printf("DiagCode 0x%04x: %s\n", test->diag_code,
		       test->diag_code == DIAG_CODE_PASSED ? "passed" : "failed");
		return test->diag_code == DIAG_CODE_PASSED ? EXIT_SUCCESS : EXIT_FAILURE;
	case DIAGNOSTICS_REFUSED:
		fprintf(stderr, "softib io: the unit refused the test with status 0x%04x\n",
			test->status);
		break;
	case DIAGNOSTICS_TOO_LONG:
		fprintf(stderr, "softib io: the test takes longer than the controller said\n");
		break;
	case DIAGNOSTICS_TIMEOUT:
	case DIAGNOSTICS_PREPARE:
	case DIAGNOSTICS_AWAIT_PREPARED:
	case DIAGNOSTICS_START:
	case DIAGNOSTICS_AWAIT_CODE:
	case DIAGNOSTICS_SILENT:
		fprintf(stderr, "softib io: the unit does not respond\n");
		break;
	}
	return EXIT_FAILURE;
}

int io_controllers_test(struct mad_engine_port *port, const struct io_manager *manager,
			const struct io_found_unit *unit, unsigned slot)
{
	struct class_client_options options;
	const struct mad_address address = {.lid = unit->lid,
					    .sl = unit->sl,
					    .qpn = QPN_GSI,
					    .qkey = QKEY_GSI,
					    .pkey = unit->pkey};
	struct diagnostics_client test;
	const struct mad_engine engine = {.context = &test,
					  .receive = receive,
					  .transmit = transmit,
					  .deadline = deadline,
					  .is_done = is_done,
					  .descriptor = -1};
	int error;

	class_session_fill(port, manager->options.agent_number, manager->options.sa.agent_number,
			   &options);
	error = diagnostics_client_init(&test, &options, &address, (uint8_t)slot);
	if (error) {
		fprintf(stderr, "softib io: %s\n", strerror(-error));
		return EXIT_FAILURE;
	}
	(void)class_session_set_port(port, &test.client);
	error = mad_engine_run(port, &engine);

	int code = error ? EXIT_FAILURE : report_test(&test);

	diagnostics_client_release(&test);
	return code;
}
