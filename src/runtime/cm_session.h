/* SPDX-License-Identifier: Apache-2.0 */
/* This process and the connection manager of its host, as softibd plays it (ipc/cm_protocol.h). */
#ifndef SOFTIB_RUNTIME_CM_SESSION_H
#define SOFTIB_RUNTIME_CM_SESSION_H

#include <stdbool.h>
#include "base/attributes.h"
#include "ipc/cm_protocol.h"

/* Asks and waits; connects at the first use, and again in the child of a fork. 0, the answer's
 * error, or -ENODEV: there is no softibd. Not a cancellation point. */
MUST_USE int cm_session_ask(const struct cm_command *command, struct cm_answer *ret_answer);

/* Only says it: 0, or -ENODEV. What comes of it is told by an event, if by anything. */
MUST_USE int cm_session_post(const struct cm_command *command);

/* Whether softibd surely hears of a command that is posted now before that time (of an event's
 * quiet_until). */
bool cm_session_is_before(uint64_t time);

/* The same as cm_session_ask for an answer that brings a descriptor, which is close-on-exec. */
MUST_USE int cm_session_ask_descriptor(const struct cm_command *command,
				       struct cm_answer *ret_answer, int *ret_descriptor);

/* The same for a command that a descriptor goes with; the caller keeps its own. */
MUST_USE int cm_session_give_descriptor(const struct cm_command *command, int descriptor);

/* The next event of a channel. Blocks as the descriptor does. -EAGAIN, -EINTR; -ENODEV: softibd is
 * gone. A cancellation point. */
MUST_USE int cm_session_read_event(int channel, struct cm_event_message *ret_event);
/* The same without waiting. */
MUST_USE int cm_session_try_event(int channel, struct cm_event_message *ret_event);
/* Looks at the next event without taking it, and never waits. */
MUST_USE int cm_session_peek_event(int channel, struct cm_event_message *ret_event);

#endif
