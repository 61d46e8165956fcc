/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that one thread takes and leaves with plain stores: see biased_lock.h. */
#include "host/biased_lock.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

enum { STRANGERS_PER_CHANGE = 32, CHANGES_MAX = 8, SPINS_PER_YIELD = 256 };

static bool membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) == 0;
}

/* The thread sanitizer knows nothing of such barriers. */
static bool can_favour(void)
{
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
	return false;
#else
	return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
#endif
}

void biased_lock_init(struct biased_lock *lock)
{
	pthread_mutexattr_t kind;

	*lock = (struct biased_lock){.has_favour = can_favour()};
	pthread_mutexattr_init(&kind);
	/* Whoever holds it leaves within microseconds: a short spin beats a sleep. */
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&lock->mutex, &kind);
	pthread_mutexattr_destroy(&kind);
}

void biased_lock_destroy(struct biased_lock *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

void biased_lock_never_favour_me(struct biased_lock *lock)
{
	biased_lock_take(lock);
	lock->never_favoured = this_thread();
	biased_lock_leave(lock);
}

/* With the mutex: waits until the favoured thread is out; it stays out until is_wanted is 0. */
static void keep_favoured_out(struct biased_lock *lock)
{
	__atomic_store_n(&lock->is_wanted, 1, __ATOMIC_RELAXED);
	(void)membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	for (unsigned spins = 1; __atomic_load_n(&lock->is_held, __ATOMIC_ACQUIRE); spins++)
		if (spins % SPINS_PER_YIELD == 0)
			sched_yield();
}

/* Held, and the favoured thread is out. */
static void change_favour(struct biased_lock *lock)
{
	lock->strangers = 0;
	if (++lock->changes > CHANGES_MAX)
		lock->has_favour = false;
	__atomic_store_n(&lock->favoured, lock->has_favour ? this_thread() : NULL,
			 __ATOMIC_RELAXED);
}

void biased_lock_take_slowly(struct biased_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	if (!lock->has_favour || lock->favoured == this_thread())
		return;
	if (lock->favoured)
		keep_favoured_out(lock);
	if (lock->never_favoured == this_thread())
		return;
	if (!lock->favoured || ++lock->strangers >= STRANGERS_PER_CHANGE)
		change_favour(lock);
}

void biased_lock_leave_slowly(struct biased_lock *lock)
{
	if (lock->is_wanted)
		__atomic_store_n(&lock->is_wanted, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock->mutex);
}
