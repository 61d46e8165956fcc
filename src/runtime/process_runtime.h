/* SPDX-License-Identifier: Apache-2.0 */
/* The process runtime: attaching the process to its fabric, one round of progress, and its end. */
#ifndef SOFTIB_RUNTIME_PROCESS_RUNTIME_H
#define SOFTIB_RUNTIME_PROCESS_RUNTIME_H

#include "runtime/runtime_state.h"

/* Attaches the process once; later calls return the same runtime. */
MUST_USE int runtime_get(struct session *session, struct process_runtime **ret_runtime);

/* In the child of a fork: every queue pair is in Error, and the runtime is unusable. */
void runtime_abandon(struct process_runtime *runtime);

/* Whether the program has any adapter open. The session's mutex for attaching is held. */
bool runtime_has_open_adapters(const struct process_runtime *runtime);

/* softibd is gone, and no adapter is open: gives back the rings and descriptors. */
void runtime_retire(struct process_runtime *runtime);

/* One round: rings, timers, transmit. Returns whether anything happened. */
bool runtime_progress(struct process_runtime *runtime, time_ns now);

/* When the next round is due if nobody rings. */
time_ns runtime_deadline(const struct process_runtime *runtime);

/* The program leaves a call: makes sure that the progress thread wakes in time for the timers that
 * the call started. */
void runtime_wake_progress_thread(struct process_runtime *runtime);

/* The program is going to wait for an event instead of polling: the progress thread must not stay
 * out. */
void runtime_call_progress_thread(struct process_runtime *runtime);

/* softibd is gone: every adapter fails. */
void runtime_fail(struct process_runtime *runtime, time_ns now);

#endif
