/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses connection management. daemon/cm/cm_command_socket.h makes and releases it.
 */
#ifndef SOFTIB_DAEMON_CM_CM_PROGRAM_H
#define SOFTIB_DAEMON_CM_CM_PROGRAM_H

#include <stdint.h>
#include "daemon/cm/cm_objects.h"

/* Everything that the program has is released at the end of this turn. The log gets the reason
 * unless it is NULL. */
void cm_program_end(struct cm_program *program, const char *reason);

struct cm_id *cm_program_find_id(const struct cm_program *program, uint32_t number);

#endif
