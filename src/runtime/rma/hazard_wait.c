/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for the accesses of peers, and cutting off those that do not end: see hazard_wait.h. */
#include "runtime/rma/hazard_wait.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "runtime/process_fence.h"
#include "runtime/rma/rma_state.h"
#include "runtime/rma/rma_target.h"
#include "runtime/runtime_state.h"
#include "ipc/rma_area.h"

enum {
	/* A peer ends its access within microseconds, unless it was preempted. */
	SPINS_BEFORE_YIELD = 200,
	YIELDS_BEFORE_SLEEP = 200,
	SLEEP_NS = 100000,
};

/* Several times what a loaded machine keeps a process from its processor. A call of the verbs may
 * wait twice, and must return within a second. */
#define ACCESS_NS_MAX MILLISECONDS(250)
/* A copy of a piece by the kernel takes less than a millisecond. */
#define COPY_NS_MAX MILLISECONDS(150)

/* A channel to the process itself needs no wait, since this process holds its own lock. */
static bool may_be_busy(const struct channel *channel)
{
	return channel->state == CHANNEL_OPEN && channel->rma_in &&
	       channel->rma_out != channel->rma_in && !channel->hazard.is_cut_off;
}

/* After this fence every peer sees what was exported or revoked before it, and this process sees
 * the hazard word of each peer that had not seen it. */
static void meet_peers(bool is_fenced)
{
	if (is_fenced)
		process_fence();
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* An access that the peer begins later uses the current keys. A process that ended accesses
 * nothing: softibd closes its rings after its last thread is gone. */
static bool has_ended(const struct channel *channel)
{
	return channel->hazard.seen % 2 == 0 ||
	       __atomic_load_n(&channel->rma_in->hazard, __ATOMIC_ACQUIRE) !=
		       channel->hazard.seen ||
	       ring_is_closed(channel->in.shared);
}

/* By a plain system call: a thread that is cancelled in the C library's function would keep our
 * lock. */
static void sleep_a_little(void)
{
	const struct timespec moment = {.tv_nsec = SLEEP_NS};

	(void)syscall(SYS_nanosleep, &moment, NULL);
}

static void pause_for(unsigned rounds)
{
	if (rounds < SPINS_BEFORE_YIELD)
		__builtin_ia32_pause();
	else if (rounds < SPINS_BEFORE_YIELD + YIELDS_BEFORE_SLEEP)
		sched_yield();
	else
		sleep_a_little();
}

static void wait_until(const struct channel *channel, time_ns deadline)
{
	for (unsigned rounds = 0; !has_ended(channel); rounds++) {
		if (rounds >= SPINS_BEFORE_YIELD && runtime_now() >= deadline)
			return;
		pause_for(rounds);
	}
}

/* false: the access has just ended. */
static bool cut_off(struct channel *channel)
{
	uint64_t found = channel->hazard.seen;

	/* The peer's next access finds no grant. */
	rma_target_revoke(channel);
	if (!__atomic_compare_exchange_n(&channel->rma_in->hazard, &found,
					 found | RMA_HAZARD_CUT_OFF, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return false;
	channel->hazard.seen |= RMA_HAZARD_CUT_OFF;
	channel->hazard.is_cut_off = true;
	channel->hazard.may_copy = true;
	return true;
}

/* The letter that /proc shows for a thread; 'X' if it is gone. */
static char state_of_thread(int tasks, const char *thread)
{
	char path[64], text[512] = "";
	const char *name_end;
	int file;

	snprintf(path, sizeof(path), "%.40s/stat", thread);
	file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 'X';
	if (read(file, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(file);
	/* The name of a program may contain anything. */
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' ? name_end[2] : 'X';
}

/* Whether a thread of the process may be in the middle of a copy. One that sleeps or was stopped by
 * a signal is not; a tracer can stop it anywhere. */
static bool may_copy(uint32_t pid)
{
	char path[64];
	const struct dirent *entry;
	bool any = false;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && !any && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			any = strchr("RDt", state_of_thread(dirfd(tasks), entry->d_name));
	if (tasks)
		closedir(tasks);
	return any;
}

/* The peer has been cut off, and every processor has passed a fence since. */
static void wait_for_copy(struct channel *channel, time_ns deadline)
{
	const struct rma_peer *peer = channel->peer;

	while (!has_ended(channel) && runtime_now() < deadline &&
	       (!peer || may_copy(peer->peer_memory.header->pid)))
		sleep_a_little();
	channel->hazard.may_copy = false;
}

bool hazard_wait(struct channel *const channels[], unsigned count, bool is_fenced)
{
	bool has_met = false, any = false;
	time_ns deadline = TIME_NEVER;

	for (unsigned i = 0; i < count; i++) {
		if (!may_be_busy(channels[i]))
			continue;
		if (!has_met)
			meet_peers(is_fenced);
		has_met = true;
		channels[i]->hazard.seen =
			__atomic_load_n(&channels[i]->rma_in->hazard, __ATOMIC_SEQ_CST);
	}
	for (unsigned i = 0; has_met && i < count; i++) {
		if (!may_be_busy(channels[i]) || has_ended(channels[i]))
			continue;
		if (deadline == TIME_NEVER)
			deadline = runtime_now() + ACCESS_NS_MAX;
		wait_until(channels[i], deadline);
		any |= !has_ended(channels[i]) && cut_off(channels[i]);
	}
	if (likely(!any))
		return false;
	meet_peers(is_fenced);
	deadline = runtime_now() + COPY_NS_MAX;
	for (unsigned i = 0; i < count; i++)
		if (channels[i]->hazard.may_copy)
			wait_for_copy(channels[i], deadline);
	return true;
}
