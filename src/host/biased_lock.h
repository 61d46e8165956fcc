/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that one thread takes and leaves with plain stores: the one that takes it nearly always.
 *
 * The others take a mutex, say that they want the lock, have every thread of the process pass a
 * barrier (membarrier), and wait until the favoured one is out. That one looks whether it is wanted
 * after it has said that it is in; with the barrier in between, one of the two sees the other. A
 * program whose threads take turns loses the favour for good after a few changes and has a mutex.
 */
#ifndef SOFTIB_HOST_BIASED_LOCK_H
#define SOFTIB_HOST_BIASED_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct biased_lock {
	const void *favoured; /* thread; NULL: none. Changes only while nobody holds the lock */
	uint32_t is_held;     /* by the favoured thread, without the mutex */
	uint32_t is_wanted;   /* by who holds the mutex */
	pthread_mutex_t mutex;
	const void *never_favoured; /* thread */
	unsigned strangers;	    /* that took it since the favour changed */
	unsigned changes;
	bool has_favour; /* to give */
};

void biased_lock_init(struct biased_lock *lock);
void biased_lock_destroy(struct biased_lock *lock);
/* The calling thread takes it now and then only, on behalf of another. */
void biased_lock_never_favour_me(struct biased_lock *lock);

/* For the functions below. */
void biased_lock_take_slowly(struct biased_lock *lock);
void biased_lock_leave_slowly(struct biased_lock *lock);

/* Different for each thread that lives. */
static inline const void *this_thread(void)
{
#if defined(__x86_64__)
	const void *self;

	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
#else
	return (const void *)(uintptr_t)pthread_self();
#endif
}

static inline void biased_lock_take(struct biased_lock *lock)
{
	if (likely(__atomic_load_n(&lock->favoured, __ATOMIC_RELAXED) == this_thread())) {
		__atomic_store_n(&lock->is_held, 1, __ATOMIC_RELAXED);
		/* The processor's part is the barrier of those who want it. */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (likely(!__atomic_load_n(&lock->is_wanted, __ATOMIC_ACQUIRE)))
			return;
		__atomic_store_n(&lock->is_held, 0, __ATOMIC_RELEASE);
	}
	biased_lock_take_slowly(lock);
}

static inline void biased_lock_leave(struct biased_lock *lock)
{
	if (likely(__atomic_load_n(&lock->favoured, __ATOMIC_RELAXED) == this_thread() &&
		   __atomic_load_n(&lock->is_held, __ATOMIC_RELAXED)))
		__atomic_store_n(&lock->is_held, 0, __ATOMIC_RELEASE);
	else
		biased_lock_leave_slowly(lock);
}

#endif
