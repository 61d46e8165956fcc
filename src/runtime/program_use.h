/* SPDX-License-Identifier: Apache-2.0 */
/* How a program uses the cores it gets, for runtime/progress_thread.h. A polling program that had
 * no core for a while looks like a program that waits for something, but it polls again as soon as
 * it has a core. */
#ifndef SOFTIB_RUNTIME_PROGRAM_USE_H
#define SOFTIB_RUNTIME_PROGRAM_USE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"

struct process_runtime;

/* Totals since the start. */
struct program_use {
	uint64_t polls;
	time_ns processor_ns; /* of all threads; the progress thread hardly counts while it stays
				 out */
	uint64_t sleeps; /* voluntary context switches, but for those of the progress thread and of
			    adapter_nap */
};

struct program_use program_use_now(const struct process_runtime *runtime);

/* The state from one look to the next. */
struct program_watch {
	struct program_use last;
	uint64_t sleeps; /* before its last poll */
};

void program_watch_begin(struct program_watch *watch, const struct process_runtime *runtime);
/* Whether the program still polls. Either it polled polls_min times since the last look, or it
 * polled whenever it had a core, and has not slept since its last poll. The second case counts
 * where there are more programs than cores. */
bool program_watch_is_polling(struct program_watch *watch, struct program_use now,
			      uint64_t polls_min);

#endif
