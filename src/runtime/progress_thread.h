/* SPDX-License-Identifier: Apache-2.0 */
/* The progress thread: makes progress when the program does not poll. */
#ifndef SOFTIB_RUNTIME_PROGRESS_THREAD_H
#define SOFTIB_RUNTIME_PROGRESS_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

struct process_runtime;

MUST_USE int progress_thread_start(struct process_runtime *runtime);
/* Counts the program's polls. A program that polls often enough makes all progress itself, and the
 * progress thread stays out. Lock held. */
void progress_thread_watch_polls(struct process_runtime *runtime, time_ns now);
/* The thread has seen the program poll, and begins to stay out, unless the program has called it
 * since call_count (struct progress) was read: such a program is asleep, and nobody else would
 * listen. Lock held. */
MUST_USE bool progress_thread_stay_out(struct process_runtime *runtime, uint64_t call_count);

#endif
