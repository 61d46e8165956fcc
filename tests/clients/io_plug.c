/* SPDX-License-Identifier: Apache-2.0 */
/* A program that plugs an I/O controller with the profile of an SRP target, says "ready" and waits
 * until its fabric or a signal ends it. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/io_controller.h"
#include "runtime/session.h"
#include "runtime/softibd_connection.h"

int main(int argument_count, char **arguments)
{
	const struct io_service_entry service = {"SRP.T10:00000000feedbeef", 0x00000000feedbeef};
	struct io_controller_description description = {
		.profile = {.vendor_id = 0x025f1b,
			    .io_class = 0x0100,
			    .io_subclass = 0x609e,
			    .protocol = 0x0108,
			    .protocol_version = 1,
			    .send_message_size = 4096},
		.id_string = "a controller without anything behind it",
		.services = &service,
		.service_count = 1,
	};
	struct session *session;
	unsigned slot;
	uint64_t guid;

	if (argument_count == 3 && strcmp(arguments[1], "--slot") == 0)
		description.slot = (unsigned)strtoul(arguments[2], NULL, 10);

	int error = io_controller_plug(&description, &slot, &guid);

	if (!error)
		error = session_get(&session);
	if (error) {
		fprintf(stderr, "io_plug: %s\n", strerror(-error));
		return EXIT_FAILURE;
	}
	printf("ready: slot %u, GUID 0x%016" PRIx64 "\n", slot, guid);
	fflush(stdout);

	struct pollfd fabric = {.fd = session->control, .events = POLLIN};

	while (poll(&fabric, 1, -1) < 0 && errno == EINTR)
		continue;
	return EXIT_SUCCESS;
}
