/* SPDX-License-Identifier: Apache-2.0 */
/* What a program does with the processors it gets, for runtime/progress_thread.h: one that polls
 * and had none for a while looks like one that waits for something, but will poll again as soon as
 * it has one.
 */
#ifndef SOFTIB_RUNTIME_PROGRAM_USE_H
#define SOFTIB_RUNTIME_PROGRAM_USE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"

struct process_runtime;

/* All of them so far. */
struct program_use {
	uint64_t polls;
	time_ns processor_ns; /* of all threads; the helper's hardly counts while it stays out */
	uint64_t sleeps; /* how often it gave a processor up to wait, but for the helper and for our
			    doing */
};

struct program_use program_use_now(const struct process_runtime *runtime);

/* How it went on from look to look. */
struct program_watch {
	struct program_use last;
	uint64_t sleeps; /* before it polled last */
};

void program_watch_begin(struct program_watch *watch, const struct process_runtime *runtime);
/* Whether it still polls, as it is now: so often since the last look, or, with more programs than
 * processors, whenever it had one, without having waited for anything else since it polled last. */
bool program_watch_is_polling(struct program_watch *watch, struct program_use now,
			      uint64_t polls_min);

#endif
