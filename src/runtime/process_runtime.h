/* SPDX-License-Identifier: Apache-2.0 */
/* This process on its fabric: attaching it, one round of its work, and its end. */
#ifndef SOFTIB_RUNTIME_PROCESS_RUNTIME_H
#define SOFTIB_RUNTIME_PROCESS_RUNTIME_H

#include "runtime/runtime_state.h"

/* Attaches the process once; later calls return the same. */
MUST_USE int attachment_get(struct session *session, struct attachment **ret_attachment);

/* In the child of a fork: every queue pair is in Error, and nothing here works any more. */
void attachment_abandon(struct attachment *attachment);

/* One round: rings, timers, transmit. Returns whether anything happened. */
bool attachment_progress(struct attachment *attachment, time_ns now);

/* When the next round is due if nobody rings. */
time_ns attachment_deadline(const struct attachment *attachment);

/* A program leaves: makes sure that the helper wakes up in time for what it started. */
void attachment_wake_helper(struct attachment *attachment);

/* The program will wait for an event instead of polling: the helper should not stay out. */
void attachment_call_helper(struct attachment *attachment);

/* softibd is gone: every adapter fails. */
void attachment_fail(struct attachment *attachment, time_ns now);

#endif
