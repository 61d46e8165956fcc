/* SPDX-License-Identifier: Apache-2.0 */
/* The command sockets of programs that use connection management, from the first command to the
 * release of everything that the program had. */
#ifndef SOFTIB_DAEMON_CM_CM_COMMAND_SOCKET_H
#define SOFTIB_DAEMON_CM_CM_COMMAND_SOCKET_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* Makes the program and gives its end of the command socket, which is the caller's to close. */
MUST_USE int cm_program_create(struct cm_host *host, struct account *account,
			       struct cm_program **ret_program, int *ret_peer_socket);
/* Releases the programs that cm_program_end() ended, and the channels that were closed. */
void cm_programs_release_ended(struct cm_fabric *fabric);

#endif
