/* SPDX-License-Identifier: Apache-2.0 */
/* How a program uses the cores it gets: see program_use.h. */
#include "runtime/program_use.h"

#include <sys/resource.h>
#include <time.h>
#include "runtime/runtime_state.h"

/* A program that polls does so at least this often while it runs, whatever else it does. */
#define POLL_NS_MAX MICROSECONDS(10)

struct program_use program_use_now(const struct process_runtime *runtime)
{
	struct timespec used;
	struct rusage program, progress_thread;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	getrusage(RUSAGE_SELF, &program);
	getrusage(RUSAGE_THREAD, &progress_thread);
	return (struct program_use){
		.polls = __atomic_load_n(&runtime->progress.poll_count, __ATOMIC_RELAXED),
		.processor_ns = SECONDS(used.tv_sec) + (time_ns)used.tv_nsec,
		.sleeps = (uint64_t)(program.ru_nvcsw - progress_thread.ru_nvcsw) -
			  __atomic_load_n(&runtime->progress.naps, __ATOMIC_RELAXED),
	};
}

void program_watch_begin(struct program_watch *watch, const struct process_runtime *runtime)
{
	watch->last = program_use_now(runtime);
	watch->sleeps = watch->last.sleeps;
}

bool program_watch_is_polling(struct program_watch *watch, struct program_use now,
			      uint64_t polls_min)
{
	const uint64_t polls = now.polls - watch->last.polls;
	const time_ns processor_ns = now.processor_ns - watch->last.processor_ns;
	const bool polled_while_it_ran = polls >= processor_ns / POLL_NS_MAX;

	/* The program may have gone to sleep after its last poll. */
	if (polls)
		watch->sleeps = watch->last.sleeps;
	watch->last = now;
	return polls >= polls_min || (polled_while_it_ran && now.sleeps == watch->sleeps);
}
