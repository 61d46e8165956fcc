/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that one thread takes and leaves with plain stores: see biased_lock.h. */
#include "runtime/biased_lock.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

enum { STRANGERS_PER_CHANGE = 32, SPINS_PER_YIELD = 256 };

/* Nobody's: the next who takes the lock gets one. */
static struct favour *first_favour(struct biased_lock *lock)
{
	return &lock->favours[0];
}

/* Nobody's, for good. */
static struct favour *last_favour(struct biased_lock *lock)
{
	return &lock->favours[1 + BIASED_LOCK_FAVOURS];
}

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

	*lock = (struct biased_lock){0};
	lock->favour = can_favour() ? first_favour(lock) : last_favour(lock);
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
	for (unsigned spins = 1; __atomic_load_n(&lock->favour->is_held, __ATOMIC_ACQUIRE); spins++)
		if (spins % SPINS_PER_YIELD == 0)
			sched_yield();
}

/* Held, and the favoured thread is out. */
static void change_favour(struct biased_lock *lock)
{
	struct favour *next = lock->favour + 1;

	lock->strangers = 0;
	if (next != last_favour(lock))
		next->thread = this_thread();
	__atomic_store_n(&lock->favour, next, __ATOMIC_RELEASE);
}

void biased_lock_take_slowly(struct biased_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	__atomic_store_n(&lock->holder, this_thread(), __ATOMIC_RELAXED);
	if (lock->favour == last_favour(lock) || biased_lock_favour(lock))
		return;
	if (lock->favour != first_favour(lock))
		keep_favoured_out(lock);
	if (lock->never_favoured == this_thread())
		return;
	if (lock->favour == first_favour(lock) || ++lock->strangers >= STRANGERS_PER_CHANGE)
		change_favour(lock);
}

/* The thread may have the lock by its favour: it gets the mutex as well, and gives up the favour's
 * word, so that leaving finds the mutex. Somebody who has the mutex waits for that word. */
bool biased_lock_will_leave_slowly(struct biased_lock *lock)
{
	if (lock->holder == this_thread())
		return true;
	if (pthread_mutex_trylock(&lock->mutex) != 0)
		return false;
	__atomic_store_n(&lock->holder, this_thread(), __ATOMIC_RELAXED);
	__atomic_store_n(&lock->favour->is_held, 0, __ATOMIC_RELAXED);
	return true;
}

void biased_lock_leave_slowly(struct biased_lock *lock)
{
	if (lock->before_leaving)
		lock->before_leaving(lock);
	if (lock->is_wanted)
		__atomic_store_n(&lock->is_wanted, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&lock->holder, NULL, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock->mutex);
}
