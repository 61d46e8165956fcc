/* SPDX-License-Identifier: Apache-2.0 */
/* Turns: which thread runs next, waiting, the clock. */
#ifndef SOFTIB_TESTS_SCHEDULE_TURNS_H
#define SOFTIB_TESTS_SCHEDULE_TURNS_H

#include "schedule.h"

/* NULL: this process is not part of a scheduled run. */
extern struct schedule *schedule;
/* NULL: this thread is not, or not yet. */
extern __thread struct thread *own __attribute__((tls_model("initial-exec")));

void turns_open(void);
uint32_t turns_random(uint32_t limit);

/* A scheduling point. Another thread may run before it returns. */
void point_slowly(enum point_kind kind, const void *address, const void *code);
static inline void point(enum point_kind kind, const void *address, const void *code)
{
	if (__builtin_expect(own != 0, 1))
		point_slowly(kind, address, code);
}

/* The same before a store to shared memory; place: its offset in the mapping. */
void point_of_store(enum point_kind kind, const void *address, uint64_t place, const void *code);

/* Before a system call: what this thread stored is in memory. */
void point_system_call(const void *code);
/* After one that may have made a descriptor of some thread ready. */
void news_of_kernel(void);
void news_of_process(void);

struct wait wait_until(uint64_t deadline);
/* Returns after one of the reasons; the caller tries again. false: the deadline has passed. */
bool block(struct wait wait, const void *code);
void yield_turn(const void *code);

/* All other threads of this process, or of all registered processes, drain their stores. */
void drain_process(unsigned process);
void drain_registered(void);

/* The number of a new thread's place. Its owner calls turns_join() from the new thread. */
unsigned turns_add_thread(unsigned process);
void turns_join(unsigned number);
void turns_await_thread(unsigned number);
void turns_leave(void);

/* For the conductor, the parent of all processes: its handler of SIGCHLD; and what it does with
 * processes that have ended. Returns whether one of them had the turn. */
void turns_child_signal(int signal);
bool turns_look_for_ends(void);
/* Only one thread of the conductor, which has the first turn. */
void turns_conduct(struct schedule *made);
_Noreturn void turns_fail(const char *reason);

#endif
