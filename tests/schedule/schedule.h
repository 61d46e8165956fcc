/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all processes of a scheduled run share: whose turn it is, the virtual clock, the random
 * numbers of the run's seed.
 *
 * Of all threads of all these processes exactly one runs. It has the turn, it alone touches this
 * memory, and it gives the turn to another thread at a scheduling point or when it waits. So a run
 * depends on nothing but its seed.
 */
#ifndef SOFTIB_TESTS_SCHEDULE_SCHEDULE_H
#define SOFTIB_TESTS_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	THREADS_MAX = 32,
	PROCESSES_MAX = 8,
	MODULES_MAX = 12,
	TRACE_ENTRIES = 1 << 16,
	FAILURE_BYTES = 256,
	CONDUCTOR = 0, /* the thread and the process that start and judge a run */
};

#define NEVER UINT64_MAX

enum point_kind {
	POINT_READ,
	POINT_WRITE,
	POINT_LOAD,
	POINT_STORE,
	POINT_EXCHANGE,
	POINT_FENCE,
	POINT_COPY,
	POINT_SYSTEM_CALL,
	POINT_YIELD,
	POINT_BLOCK,
	POINT_LOCK,
	POINT_RUN, /* the thread got the turn */
	POINT_KINDS,
};

enum thread_state {
	THREAD_FREE,
	THREAD_STARTING, /* has a place here, but does not wait for its turn yet */
	THREAD_READY,
	THREAD_BLOCKED,
	THREAD_ENDED,
};

/* What a blocked thread waits for: after any of it, the thread tries again. */
struct wait {
	uint64_t deadline; /* virtual time; NEVER: none */
	uint64_t at_point; /* NEVER: none */
	bool for_kernel;   /* a system call that may have made a descriptor ready */
	bool for_ambush;
	bool for_process;     /* a lock or thread of its own process */
	uint64_t kernel_news; /* as it was when the thread last tried */
	uint64_t process_news;
};

struct thread {
	uint32_t has_turn; /* futex */
	uint32_t state;
	uint32_t process;
	uint32_t pid;	     /* tid */
	uint32_t must_drain; /* gets the turn only to drain its stores, for this thread plus 1 */
	uint32_t pending;    /* stores in its buffer */
	struct wait wait;
};

struct module {
	uint64_t begin, end;
	char name[64];
};

struct process {
	uint32_t pid;
	bool is_gone, was_killed;
	bool is_ready;	     /* says the program: schedule_ready() */
	bool has_registered; /* for membarrier */
	int exit_status;     /* of waitpid */
	uint64_t paused_until;
	uint64_t news; /* counts what may let a thread of this process go on */
	struct module modules[MODULES_MAX];
	char name[16];
};

struct trace_entry {
	uint8_t thread, kind;
	uint64_t address, code, value;
};

/* What is taken out of the memory model, to show that the runs would find it missing. */
enum mutation {
	MUTATE_NOTHING,
	MUTATE_FENCES,	    /* no fence of a thread orders its stores before its loads */
	MUTATE_MEMBARRIERS, /* membarrier(2) does nothing */
};

/*
 * A thread that lies in wait stands before a store to shared memory until another thread stores to
 * the same place, or for a while. Then the two take turns often. So two threads meet where memory
 * effects matter, which chance alone would rarely bring about.
 */
struct ambush {
	bool is_set;
	uint32_t thread;
	uint64_t place;	      /* offset in the mapping, which all processes map alike */
	uint64_t odds;	      /* one store in so many; 0: none */
	uint64_t often_until; /* point number */
};

struct schedule {
	uint64_t seed, random;
	uint64_t now; /* ns */
	uint64_t points, points_max;
	uint64_t hash;
	uint64_t next_switch; /* point number */
	uint64_t switches;
	uint32_t switch_shift; /* on average a switch every 2^n points */
	uint32_t mutation;
	bool is_sequential; /* stores reach memory at once */
	bool is_traced;
	uint64_t kernel_news;
	uint64_t progress; /* counts stores to shared memory and system calls that others may notice
			    */
	uint64_t progress_seen;
	uint32_t vain_yields;
	struct ambush ambush;
	uint32_t current; /* thread */
	uint32_t thread_count, process_count;
	char failure[FAILURE_BYTES]; /* empty: none */
	struct thread threads[THREADS_MAX];
	struct process processes[PROCESSES_MAX];
	struct trace_entry trace[TRACE_ENTRIES];
};

#define SCHEDULE_FILE	"SCHEDULE_FILE"	  /* environment: path of the file with struct schedule */
#define SCHEDULE_THREAD "SCHEDULE_THREAD" /* number of the process's first thread */

#endif
