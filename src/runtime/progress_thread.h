/* SPDX-License-Identifier: Apache-2.0 */
/* The helper thread: does the program's work when the program does not poll. */
#ifndef SOFTIB_RUNTIME_PROGRESS_THREAD_H
#define SOFTIB_RUNTIME_PROGRESS_THREAD_H

#include "base/attributes.h"
#include "base/time.h"

struct process_runtime;

MUST_USE int progress_thread_start(struct process_runtime *runtime);
/* A program that polls looks after everything itself: the helper stays out if it does so often
 * enough. Lock held. */
void progress_thread_watch_polls(struct process_runtime *runtime, time_ns now);

#endif
