/* SPDX-License-Identifier: Apache-2.0 */
/* This process and the connection manager of its host, which softibd implements
 * (ipc/cm_protocol.h). */
#ifndef SOFTIB_RUNTIME_CM_SESSION_H
#define SOFTIB_RUNTIME_CM_SESSION_H

#include <stdbool.h>
#include "base/attributes.h"
#include "ipc/cm_protocol.h"

/* Asks and waits; connects at the first use, and again in the child of a fork. 0, the answer's
 * error, or -ENODEV: there is no softibd. Not a cancellation point. */
MUST_USE int cm_session_ask(const struct cm_command *command, struct cm_answer *ret_answer);

/* Sends the command and does not wait for an answer: 0, or -ENODEV. An event may tell the outcome.
 */
MUST_USE int cm_session_post(const struct cm_command *command);

/* Whether softibd surely gets a command that is posted now before that time (quiet_until of an
 * event). */
bool cm_session_is_before(uint64_t time);

/* cm_session_ask for an answer that brings a descriptor, which is close-on-exec. */
MUST_USE int cm_session_ask_descriptor(const struct cm_command *command,
				       struct cm_answer *ret_answer, int *ret_descriptor);

/* cm_session_ask for a command that takes a descriptor along; the caller keeps its own. */
MUST_USE int cm_session_give_descriptor(const struct cm_command *command, int descriptor);

/* The next event of a channel. Blocks as the descriptor does. -EAGAIN, -EINTR; -ENODEV: softibd is
 * gone. A cancellation point. */
MUST_USE int cm_session_read_event(int channel, struct cm_event_message *ret_event);
/* cm_session_read_event without waiting. */
MUST_USE int cm_session_try_event(int channel, struct cm_event_message *ret_event);
/* Copies the next event without taking it, and never waits. */
MUST_USE int cm_session_peek_event(int channel, struct cm_event_message *ret_event);

#endif
