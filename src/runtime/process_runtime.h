/* SPDX-License-Identifier: Apache-2.0 */
/* This process on its fabric: attaching it, one round of its work, and its end. */
#ifndef SOFTIB_RUNTIME_PROCESS_RUNTIME_H
#define SOFTIB_RUNTIME_PROCESS_RUNTIME_H

#include "runtime/runtime_state.h"

/* Attaches the process once; later calls return the same. */
MUST_USE int runtime_get(struct session *session, struct process_runtime **ret_runtime);

/* In the child of a fork: every queue pair is in Error, and nothing here works any more. */
void runtime_abandon(struct process_runtime *runtime);

/* One round: rings, timers, transmit. Returns whether anything happened. */
bool runtime_progress(struct process_runtime *runtime, time_ns now);

/* When the next round is due if nobody rings. */
time_ns runtime_deadline(const struct process_runtime *runtime);

/* A program leaves: makes sure that the helper wakes up in time for what it started. */
void runtime_wake_progress_thread(struct process_runtime *runtime);

/* The program will wait for an event instead of polling: the helper should not stay out. */
void runtime_call_progress_thread(struct process_runtime *runtime);

/* softibd is gone: every adapter fails. */
void runtime_fail(struct process_runtime *runtime, time_ns now);

#endif
