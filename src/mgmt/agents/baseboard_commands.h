/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of baseboard management (management 6.2). */
#ifndef SOFTIB_MGMT_AGENTS_BASEBOARD_COMMANDS_H
#define SOFTIB_MGMT_AGENTS_BASEBOARD_COMMANDS_H

#include "mgmt/agents/baseboard.h"

/* What follows the status in an answer. */
enum { ANSWER_DATA_MAX = PARAMETERS_MAX - 1 };

struct command_answer {
	uint8_t data[ANSWER_DATA_MAX];
	unsigned byte_count;
};

/* Carries out the command with this attribute id. With a status other than BASEBOARD_OK nothing has
 * changed and the answer has no data. baseboard_changed() has to follow. */
MUST_USE enum baseboard_status baseboard_command_run(struct agent_memory *memory,
						     struct baseboard *baseboard, time_ns now,
						     uint16_t command, const uint8_t *parameters,
						     unsigned parameter_count,
						     struct command_answer *ret_answer);

#endif
