/* SPDX-License-Identifier: Apache-2.0 */
/* Turns: see turns.h. */
#include "turns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "raw_copy.h"
#include "raw_call.h"
#include "store_buffer.h"

/* What a step costs in virtual time: a few instructions, a system call, an idle look at the rings.
 */
/* Bits of has_turn. */
enum { TURN = 1, CHILD_ENDED = 2 };

enum { POINT_NS = 10, CALL_NS = 300, YIELD_NS = 300, VAIN_YIELDS_PER_STEP = 20 };

enum {
	AMBUSH_BYTES = 256, /* the words of a ring's head stand in three lines */
	AMBUSH_NS_MAX = 300000,
	OFTEN_SHIFT = 1,
	OFTEN_POINTS = 100,
};

/* While programs only poll and yield, the clock goes ahead in longer and longer steps up to this.
 */
#define IDLE_STEP_NS_MAX 100000

struct schedule *schedule;
__thread struct thread *own __attribute__((tls_model("initial-exec")));

static uint64_t random_word(void)
{
	uint64_t word = schedule->random += 0x9e3779b97f4a7c15u;

	word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
	word = (word ^ word >> 27) * 0x94d049bb133111ebu;
	return word ^ word >> 31;
}

uint32_t turns_random(uint32_t limit)
{
	return (uint32_t)((random_word() >> 32) * limit >> 32);
}

static unsigned number_of(const struct thread *thread)
{
	return (unsigned)(thread - schedule->threads);
}

static struct process *process_of(const struct thread *thread)
{
	return &schedule->processes[thread->process];
}

static void futex_wake(uint32_t *word)
{
	raw_call(SYS_futex, (long)word, FUTEX_WAKE, 1, 0, 0, 0);
}

/* Returns at once if the word has changed already. */
static void futex_wait(uint32_t *word, uint32_t value)
{
	raw_call(SYS_futex, (long)word, FUTEX_WAIT, value, 0, 0, 0);
}

static void trace(enum point_kind kind, const void *address, const void *code)
{
	schedule->trace[schedule->points % TRACE_ENTRIES] =
		(struct trace_entry){(uint8_t)number_of(own), (uint8_t)kind, (uintptr_t)address,
				     (uintptr_t)code, schedule->now};
}

static void note(enum point_kind kind, const void *address, const void *code)
{
	if (__builtin_expect(schedule->is_traced, 0))
		trace(kind, address, code);
	schedule->hash =
		(schedule->hash ^ ((uintptr_t)address << 16 | number_of(own) << 8 | kind)) *
		0x100000001b3u;
	schedule->points++;
	schedule->now += POINT_NS;
}

_Noreturn void turns_fail(const char *reason)
{
	if (!schedule->failure[0]) {
		size_t length = 0;

		while (reason[length] && length + 1 < FAILURE_BYTES)
			length++;
		raw_copy(schedule->failure, reason, length);
	}
	raw_call(SYS_exit_group, 99, 0, 0, 0, 0, 0);
	__builtin_trap();
}

static void draw_next_switch(void)
{
	const bool is_often = schedule->points < schedule->ambush.often_until;
	const uint64_t mean = (uint64_t)1 << (is_often ? OFTEN_SHIFT : schedule->switch_shift);

	/* Between 1 and twice the mean. */
	schedule->next_switch = schedule->points + 1 + turns_random((uint32_t)(2 * mean - 1));
}

static bool is_paused(const struct thread *thread)
{
	return schedule->processes[thread->process].paused_until > schedule->now;
}

static bool has_cause(const struct thread *thread)
{
	const struct wait *wait = &thread->wait;

	return wait->deadline <= schedule->now || wait->at_point <= schedule->points ||
	       (wait->for_kernel && wait->kernel_news != schedule->kernel_news) ||
	       (wait->for_ambush && !schedule->ambush.is_set) ||
	       (wait->for_process && wait->process_news != process_of(thread)->news);
}

static bool can_run(const struct thread *thread)
{
	if (is_paused(thread))
		return false;
	return thread->state == THREAD_READY ||
	       (thread->state == THREAD_BLOCKED && has_cause(thread));
}

/* NULL: no thread but except can run. */
static struct thread *choose(const struct thread *except)
{
	struct thread *candidates[THREADS_MAX];
	unsigned count = 0;

	for (unsigned i = 0; i < schedule->thread_count; i++)
		if (&schedule->threads[i] != except && can_run(&schedule->threads[i]))
			candidates[count++] = &schedule->threads[i];
	return count ? candidates[count > 1 ? turns_random(count) : 0] : NULL;
}

/* When the next blocked or paused thread can run. */
static uint64_t next_deadline(void)
{
	uint64_t deadline = NEVER;

	for (unsigned i = 0; i < schedule->thread_count; i++) {
		const struct thread *thread = &schedule->threads[i];
		const uint64_t paused_until = process_of(thread)->paused_until;
		uint64_t at = NEVER;

		if (thread->state == THREAD_BLOCKED)
			at = thread->wait.deadline;
		if (paused_until > schedule->now &&
		    (thread->state == THREAD_BLOCKED || thread->state == THREAD_READY) &&
		    (at < paused_until || thread->state == THREAD_READY || has_cause(thread)))
			at = paused_until;
		if (at < deadline)
			deadline = at;
	}
	return deadline;
}

/* Nobody else can run before the next deadline, or before the conductor's point. */
static struct thread *pass_time(void)
{
	const uint64_t deadline = next_deadline();
	struct thread *conductor = &schedule->threads[CONDUCTOR];

	if (deadline != NEVER) {
		if (deadline > schedule->now)
			schedule->now = deadline;
		return choose(NULL);
	}
	if (conductor->state == THREAD_BLOCKED && conductor->wait.at_point != NEVER) {
		conductor->wait.at_point = 0;
		return conductor;
	}
	turns_fail("hang: no thread can run, and no deadline will come");
}

static void give_turn(struct thread *next)
{
	schedule->current = number_of(next);
	__atomic_fetch_or(&next->has_turn, TURN, __ATOMIC_RELEASE);
	futex_wake(&next->has_turn);
}

/* The threads of a process that has ended run no more. */
static void bury(struct process *process, int exit_status)
{
	process->is_gone = true;
	process->exit_status = exit_status;
	schedule->kernel_news++;
	if (process_of(&schedule->threads[schedule->ambush.thread]) == process)
		schedule->ambush.is_set = false;
	for (unsigned i = 0; i < schedule->thread_count; i++)
		if (process_of(&schedule->threads[i]) == process) {
			schedule->threads[i].pending = 0;
			__atomic_store_n(&schedule->threads[i].state, THREAD_ENDED,
					 __ATOMIC_RELEASE);
		}
}

bool turns_look_for_ends(void)
{
	bool had_turn = false;
	int status;
	long pid;

	while ((pid = raw_call(SYS_wait4, -1, (long)&status, WNOHANG, 0, 0, 0)) > 0)
		for (unsigned i = 1; i < schedule->process_count; i++) {
			if (schedule->processes[i].pid != pid)
				continue;
			had_turn |= schedule->threads[schedule->current].process == i;
			bury(&schedule->processes[i], status);
		}
	return had_turn;
}

void turns_child_signal(int signal)
{
	(void)signal;
	__atomic_fetch_or(&schedule->threads[CONDUCTOR].has_turn, CHILD_ENDED, __ATOMIC_RELEASE);
}

static void await_turn(void)
{
	for (;;) {
		const uint32_t word = __atomic_exchange_n(&own->has_turn, 0, __ATOMIC_ACQUIRE);

		if (word & TURN)
			return;
		/* A process that ends while it has the turn leaves it to the conductor. */
		if (word & CHILD_ENDED && turns_look_for_ends()) {
			schedule->current = CONDUCTOR;
			return;
		}
		futex_wait(&own->has_turn, 0);
	}
}

/* The calling thread has taken its stores out of memory, and does so again. */
static void serve_drains(void)
{
	while (own->must_drain) {
		struct thread *asker = &schedule->threads[own->must_drain - 1];

		own->must_drain = 0;
		store_buffer_take_up();
		store_buffer_keep(0);
		own->pending = 0;
		give_turn(asker);
		await_turn();
	}
}

/* Gives the turn away and returns when it is this thread's again. */
static void switch_to(struct thread *next)
{
	if (next == own)
		return;
	schedule->switches++;
	store_buffer_put_aside();
	own->pending = store_buffer_count();
	give_turn(next);
	await_turn();
	serve_drains();
	store_buffer_take_up();
	own->pending = 0;
	/* A processor goes on draining while its thread executes nothing that we see. */
	if (store_buffer_count())
		store_buffer_keep(turns_random(store_buffer_count() + 1));
	note(POINT_RUN, 0, __builtin_return_address(0));
}

static void switch_at_random(void)
{
	struct thread *next;

	draw_next_switch();
	if (store_buffer_count() && turns_random(4) == 0)
		store_buffer_keep(turns_random(store_buffer_count()));
	next = choose(NULL);
	if (next)
		switch_to(next);
}

static void check_bounds(void)
{
	if (schedule->points >= schedule->points_max)
		turns_fail("the run does not end: too many scheduling points");
}

void point_slowly(enum point_kind kind, const void *address, const void *code)
{
	note(kind, address, code);
	if (__builtin_expect(schedule->points >= schedule->next_switch, 0)) {
		check_bounds();
		switch_at_random();
	}
}

static void lie_in_wait(uint64_t place, const void *code)
{
	struct ambush *ambush = &schedule->ambush;
	struct wait wait = wait_until(schedule->now + turns_random(AMBUSH_NS_MAX));

	ambush->is_set = true;
	ambush->thread = number_of(own);
	ambush->place = place / AMBUSH_BYTES;
	wait.for_ambush = true;
	(void)block(wait, code);
	if (ambush->thread == number_of(own))
		ambush->is_set = false;
}

void point_of_store(enum point_kind kind, const void *address, uint64_t place, const void *code)
{
	struct ambush *ambush = &schedule->ambush;

	schedule->progress++;
	if (!ambush->is_set && ambush->odds && turns_random((uint32_t)ambush->odds) == 0) {
		lie_in_wait(place, code);
	} else if (ambush->is_set && ambush->place == place / AMBUSH_BYTES) {
		ambush->is_set = false;
		ambush->often_until = schedule->points + OFTEN_POINTS;
		draw_next_switch();
	}
	point_slowly(kind, address, code);
}

void point_system_call(const void *code)
{
	if (!own)
		return;
	store_buffer_keep(0);
	schedule->now += CALL_NS;
	point_slowly(POINT_SYSTEM_CALL, 0, code);
	store_buffer_keep(0);
}

void news_of_kernel(void)
{
	if (!own)
		return;
	schedule->kernel_news++;
	schedule->progress++;
}

void news_of_process(void)
{
	if (own)
		process_of(own)->news++;
}

struct wait wait_until(uint64_t deadline)
{
	return (struct wait){
		.deadline = deadline,
		.at_point = NEVER,
		.kernel_news = schedule->kernel_news,
		.process_news = process_of(own)->news,
	};
}

bool block(struct wait wait, const void *code)
{
	struct thread *next;

	store_buffer_keep(0);
	note(POINT_BLOCK, 0, code);
	check_bounds();
	own->wait = wait;
	own->state = THREAD_BLOCKED;
	draw_next_switch();
	next = choose(NULL);
	while (!next)
		next = pass_time();
	switch_to(next);
	own->state = THREAD_READY;
	return schedule->now < wait.deadline;
}

/* Programs that only look at memory and yield wait for time to pass, too. */
static void let_idle_time_pass(void)
{
	const uint64_t deadline = next_deadline();
	uint64_t step = YIELD_NS;

	if (schedule->progress != schedule->progress_seen) {
		schedule->progress_seen = schedule->progress;
		schedule->vain_yields = 0;
		return;
	}
	step <<= ++schedule->vain_yields / (VAIN_YIELDS_PER_STEP * schedule->thread_count);
	if (step > IDLE_STEP_NS_MAX) {
		step = IDLE_STEP_NS_MAX;
		schedule->vain_yields--;
	}
	if (deadline != NEVER && deadline > schedule->now && deadline - schedule->now < step)
		step = deadline - schedule->now;
	schedule->now += step;
}

void yield_turn(const void *code)
{
	struct thread *next;

	if (!own)
		return;
	store_buffer_keep(0);
	note(POINT_YIELD, 0, code);
	check_bounds();
	schedule->now += YIELD_NS;
	let_idle_time_pass();
	draw_next_switch();
	next = choose(own);
	if (next)
		switch_to(next);
}

static void drain_thread(struct thread *thread)
{
	if (thread == own || !thread->pending || thread->state == THREAD_ENDED ||
	    process_of(thread)->is_gone)
		return;
	store_buffer_put_aside();
	thread->must_drain = number_of(own) + 1;
	give_turn(thread);
	await_turn();
	store_buffer_take_up();
}

void drain_process(unsigned process)
{
	for (unsigned i = 0; own && i < schedule->thread_count; i++)
		if (schedule->threads[i].process == process)
			drain_thread(&schedule->threads[i]);
}

void drain_registered(void)
{
	for (unsigned i = 0; own && i < schedule->thread_count; i++)
		if (process_of(&schedule->threads[i])->has_registered)
			drain_thread(&schedule->threads[i]);
}

unsigned turns_add_thread(unsigned process)
{
	const unsigned number = schedule->thread_count;

	if (number == THREADS_MAX)
		turns_fail("too many threads");
	schedule->threads[number] = (struct thread){.state = THREAD_STARTING, .process = process};
	schedule->thread_count++;
	return number;
}

/* Until the new thread waits for its turn, so that it can't run beside this one. */
void turns_await_thread(unsigned number)
{
	uint32_t *state = &schedule->threads[number].state;

	while (__atomic_load_n(state, __ATOMIC_ACQUIRE) == THREAD_STARTING) {
		futex_wait(state, THREAD_STARTING);
		if (number_of(own) == CONDUCTOR)
			(void)turns_look_for_ends();
	}
}

void turns_join(unsigned number)
{
	struct thread *thread = &schedule->threads[number];

	own = thread;
	thread->pid = (uint32_t)raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	__atomic_store_n(&thread->state, THREAD_READY, __ATOMIC_RELEASE);
	futex_wake(&thread->state);
	await_turn();
	note(POINT_RUN, 0, __builtin_return_address(0));
}

void turns_leave(void)
{
	struct thread *thread = own, *next;

	if (!thread)
		return;
	store_buffer_keep(0);
	news_of_process();
	thread->state = THREAD_ENDED;
	next = choose(NULL);
	while (!next)
		next = pass_time();
	own = NULL;
	give_turn(next);
}

static int note_module(struct dl_phdr_info *info, size_t size, void *context)
{
	struct process *process = context;
	uint64_t end = 0;
	size_t length = 0;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz > end)
			end = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	for (unsigned i = 0; i < MODULES_MAX; i++) {
		struct module *module = &process->modules[i];

		if (module->end)
			continue;
		module->begin = info->dlpi_addr;
		module->end = info->dlpi_addr + end;
		while (info->dlpi_name[length])
			length++;
		/* The end of a path says more than its beginning. */
		const size_t kept =
			length < sizeof(module->name) ? length : sizeof(module->name) - 1;

		/* The program itself has no name here. */
		raw_copy(module->name, length ? info->dlpi_name + length - kept : "program",
			 length ? kept : sizeof("program"));
		break;
	}
	return 0;
}

void turns_open(void)
{
	const char *path = getenv(SCHEDULE_FILE), *number = getenv(SCHEDULE_THREAD);

	if (!path || !number)
		return;

	int file = (int)raw_call(SYS_open, (long)path, O_RDWR, 0, 0, 0, 0);
	long memory = file < 0 ? -1
			       : raw_call(SYS_mmap, 0, sizeof(struct schedule),
					  PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (memory < 0 && memory > -4096)
		raw_call(SYS_exit_group, 98, 0, 0, 0, 0, 0);
	raw_call(SYS_close, file, 0, 0, 0, 0, 0);
	schedule = (struct schedule *)memory;

	struct thread *thread = &schedule->threads[strtoul(number, NULL, 10)];
	struct process *process = &schedule->processes[thread->process];

	process->pid = (uint32_t)getpid();
	dl_iterate_phdr(note_module, process);
	turns_join((unsigned)(thread - schedule->threads));
}

void turns_conduct(struct schedule *made)
{
	schedule = made;
	own = &schedule->threads[CONDUCTOR];
	*own = (struct thread){.state = THREAD_READY, .process = CONDUCTOR};
	schedule->thread_count = 1;
	schedule->process_count = 1;
	draw_next_switch();
}
