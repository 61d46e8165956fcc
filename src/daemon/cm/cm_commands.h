/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a program's command socket (ipc/cm_protocol.h). */
#ifndef SOFTIB_DAEMON_CM_CM_COMMANDS_H
#define SOFTIB_DAEMON_CM_CM_COMMANDS_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* Runs a command; returns 0 or a negative errno. given_descriptor came with the command; -1: none
 * did. ret_descriptor, if it is set, goes with the answer. Both are the caller's to close. */
MUST_USE int cm_command_run(struct cm_program *program, const struct cm_command *command,
			    int given_descriptor, struct cm_answer *ret_answer,
			    int *ret_descriptor);
/* Sends the event that reports failure of a posted command. */
void cm_command_failed(struct cm_program *program, const struct cm_command *command, int error);

#endif
