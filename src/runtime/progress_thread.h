/* SPDX-License-Identifier: Apache-2.0 */
/* The helper thread: does the program's work when the program does not poll. */
#ifndef SOFTIB_RUNTIME_PROGRESS_THREAD_H
#define SOFTIB_RUNTIME_PROGRESS_THREAD_H

#include "base/attributes.h"
#include "base/time.h"

struct attachment;

MUST_USE int helper_start(struct attachment *attachment);
/* A program that polls looks after everything itself: the helper stays out if it does so often
 * enough. Lock held. */
void helper_watch_polls(struct attachment *attachment, time_ns now);

#endif
