/* SPDX-License-Identifier: Apache-2.0 */
/* softib down: stops a fabric, or removes the folder of one that died. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/fabric_client.h"
#include "cli/fabric_options.h"
#include "cli/subcommand.h"
#include "ipc/control_socket.h"

enum { FOLDER_DESCRIPTORS = 16 };

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	return remove(path) == 0 || errno == ENOENT ? 0 : -errno;
}

static int clear_remains(const char *fabric)
{
	char folder[CONTROL_PATH_BYTES];
	int error = fabric_directory(fabric, folder);

	if (!error)
		error = nftw(folder, remove_entry, FOLDER_DESCRIPTORS,
			     FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	if (error) {
		fprintf(stderr, "softib: cannot remove the folder of fabric %s: %s\n", fabric,
			strerror(-error));
		return EXIT_FAILURE;
	}
	printf("fabric %s had died; its remains are removed\n", fabric);
	return EXIT_SUCCESS;
}

/* softibd closes the connection when it has cleaned up. */
static int wait_for_the_end(int socket)
{
	struct control_message message;
	int error = control_receive(socket, ANSWER_TIMEOUT_MS, &message);

	if (!error)
		control_message_release(&message);
	if (error == -ECONNRESET)
		return EXIT_SUCCESS;
	fprintf(stderr, "softib: softibd was told to stop but is still running\n");
	return EXIT_FAILURE;
}

static int end_fabric(const char *fabric)
{
	int socket = control_connect_operator(fabric);

	if (socket == -ECONNREFUSED)
		return clear_remains(fabric);
	if (socket < 0) {
		fabric_client_explain(fabric, socket);
		return EXIT_FAILURE;
	}

	json_t *answer =
		fabric_client_ask(socket, json_pack("{s:s}", "command", "down"), ANSWER_TIMEOUT_MS);
	int code = answer ? wait_for_the_end(socket) : EXIT_FAILURE;

	if (code == EXIT_SUCCESS)
		printf("fabric %s is down\n", fabric);
	json_decref(answer);
	close(socket);
	return code;
}

static int run_down(const struct subcommand *self, int argument_count, char **arguments)
{
	struct fabric_options options;
	int code = fabric_options_read_all(self, FABRIC_NAME_ONLY, argument_count, arguments,
					   &options);

	if (code >= 0)
		return code;
	return end_fabric(options.fabric);
}

const struct subcommand subcommand_down = {
	.name = "down",
	.summary = "stop a fabric",
	.usage = "Usage: softib down [OPTION]...\n"
		 "Stops a fabric. Programs that use it get an IBV_EVENT_DEVICE_FATAL event.\n"
		 "\n"
		 "  -n, --name FABRIC   the fabric (default: SOFTIB_FABRIC, or \"default\")\n",
	.run = run_down,
};
