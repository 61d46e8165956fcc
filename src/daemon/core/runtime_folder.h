/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric's folder in the runtime directory: created at the start, cleared of the remains of a
 * softibd that died, removed at the end. */
#ifndef SOFTIB_DAEMON_CORE_RUNTIME_FOLDER_H
#define SOFTIB_DAEMON_CORE_RUNTIME_FOLDER_H

#include "base/attributes.h"
#include "ipc/control_socket.h"

struct runtime_folder {
	char path[CONTROL_PATH_BYTES];
	int directory; /* open on path, so that long paths fit a socket address */
	int pid_file;  /* locked for as long as this softibd lives */
};

/* -EEXIST: another softibd serves this fabric. The remains of a softibd that died are removed. */
MUST_USE int runtime_folder_claim(struct runtime_folder *folder, const char *fabric);

/* A listening socket with this name in the folder, or -errno: CONTROL_SOCKET, OPERATOR_SOCKET. */
MUST_USE int runtime_folder_listen(const struct runtime_folder *folder, const char *name);

/* Removes the whole folder. */
void runtime_folder_remove(struct runtime_folder *folder);

/* Removes everything below a folder and the folder itself; links are removed, not followed. */
void remove_folder(const char *path);

#endif
