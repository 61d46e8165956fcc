/* SPDX-License-Identifier: Apache-2.0 */
/* The progress thread: makes progress when the program does not poll. */
#ifndef SOFTIB_RUNTIME_PROGRESS_THREAD_H
#define SOFTIB_RUNTIME_PROGRESS_THREAD_H

#include "base/attributes.h"
#include "base/time.h"

struct process_runtime;

MUST_USE int progress_thread_start(struct process_runtime *runtime);
/* Counts the program's polls. A program that polls often enough makes all progress itself, and the
 * progress thread stays out. Lock held. */
void progress_thread_watch_polls(struct process_runtime *runtime, time_ns now);

#endif
