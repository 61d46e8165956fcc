/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of a channel: commands and task management, from the arriving unit to the response. */
#ifndef SOFTIB_IO_TARGET_TARGET_TASKS_H
#define SOFTIB_IO_TARGET_TARGET_TASKS_H

#include "io/target/target_channel.h"

enum work_kind { WORK_RECEIVE = 1, WORK_FETCH, WORK_RESPONSE, WORK_LOGOUT };

static inline uint64_t work_id(enum work_kind kind, uint32_t index)
{
	return (uint64_t)kind << 32 | index;
}

static inline enum work_kind work_kind(uint64_t work)
{
	return (enum work_kind)(work >> 32);
}

static inline uint32_t work_index(uint64_t work)
{
	return (uint32_t)work;
}

/* Whether a unit can be started: each needs a task. */
bool target_tasks_has_free(const struct target_channel *channel);
/* Starts what the unit asks for. Keeps no pointer to its bytes. */
void target_tasks_start(struct target_channel *channel, const uint8_t *unit, size_t byte_count);
/* The data out of this task have arrived. */
void target_tasks_fetched(struct target_channel *channel, uint32_t index);
/* The response of this task has been sent. */
void target_tasks_answered(struct target_channel *channel, uint32_t index);

#endif
