/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A biased lock: the thread that takes it nearly always takes and leaves it with plain stores.
 *
 * Every other thread takes a mutex, sets is_wanted, makes all threads of the process pass a barrier
 * (membarrier), and waits until the biased thread has left. The biased thread sets is_held first
 * and checks is_wanted afterwards. With the barrier in between, one of the two threads sees the
 * other's store.
 *
 * The biased thread may be preempted between checking its bias and setting is_held, and the bias
 * may change meanwhile. So it rechecks the bias afterwards, and each bias has an is_held of its
 * own.
 *
 * A program whose threads take turns loses the bias for good after a few changes; the lock is a
 * mutex then.
 */
#ifndef SOFTIB_RUNTIME_BIASED_LOCK_H
#define SOFTIB_RUNTIME_BIASED_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

enum { BIASED_LOCK_BIASES = 8 };

/* Given to one thread, and taken away for good when another thread gets one. */
struct bias {
	const void *thread; /* NULL: no thread's */
	uint32_t is_held;   /* the thread holds the lock without the mutex */
};

struct biased_lock {
	struct bias *bias;    /* the current one; changes only while is_wanted */
	uint32_t is_wanted;   /* by the thread that holds the mutex */
	unsigned other_takes; /* times that other threads took the lock since the bias changed */
	struct bias biases[1 + BIASED_LOCK_BIASES + 1]; /* the first and the last are no thread's */
	pthread_mutex_t mutex;
	const void *never_biased; /* this thread never gets the bias */
	const void *holder;	  /* the thread that holds the mutex, and so the lock; NULL: none */
	/* Called by a thread that leaves the lock by the mutex; may be NULL. */
	void (*before_leaving)(struct biased_lock *lock);
};

/* The lock must not move afterwards. */
void biased_lock_init(struct biased_lock *lock);
void biased_lock_destroy(struct biased_lock *lock);
/* The calling thread takes the lock only now and then, on behalf of another thread. */
void biased_lock_never_bias_to_me(struct biased_lock *lock);

/* For the functions below. */
void biased_lock_take_slowly(struct biased_lock *lock);
void biased_lock_leave_slowly(struct biased_lock *lock);

/* A different value for each living thread. */
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

/* The bias of the calling thread, as it was a moment ago; NULL: none. */
static inline struct bias *biased_lock_bias(struct biased_lock *lock)
{
	struct bias *bias = __atomic_load_n(&lock->bias, __ATOMIC_ACQUIRE);

	return likely(bias->thread == this_thread()) ? bias : NULL;
}

/* Takes the lock unless another thread wants it or has got the bias. */
static inline bool biased_lock_enter(struct biased_lock *lock, struct bias *bias)
{
	__atomic_store_n(&bias->is_held, 1, __ATOMIC_RELAXED);
	/* Only the compiler needs a fence here: the other thread's membarrier is the fence of the
	 * processor. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (likely(!__atomic_load_n(&lock->is_wanted, __ATOMIC_ACQUIRE) &&
		   __atomic_load_n(&lock->bias, __ATOMIC_RELAXED) == bias))
		return true;
	__atomic_store_n(&bias->is_held, 0, __ATOMIC_RELEASE);
	return false;
}

static inline void biased_lock_take(struct biased_lock *lock)
{
	struct bias *bias = biased_lock_bias(lock);

	if (!(likely(bias) && likely(biased_lock_enter(lock, bias))))
		biased_lock_take_slowly(lock);
}

/* Takes the lock if the calling thread has the bias and no other thread wants the lock. Makes no
 * call, so that a caller with another way to go need not save registers. */
static inline bool biased_lock_try(struct biased_lock *lock)
{
	struct bias *bias = biased_lock_bias(lock);

	return likely(bias) && likely(biased_lock_enter(lock, bias));
}

/* Whether the calling thread holds the lock. Takes no lock and changes nothing: for signal
 * handlers. */
static inline bool biased_lock_is_mine(const struct biased_lock *lock)
{
	const struct bias *bias = __atomic_load_n(&lock->bias, __ATOMIC_ACQUIRE);

	return (bias->thread == this_thread() &&
		__atomic_load_n(&bias->is_held, __ATOMIC_RELAXED)) ||
	       __atomic_load_n(&lock->holder, __ATOMIC_RELAXED) == this_thread();
}

/* In a signal handler of the thread that holds the lock: whether leaving it will call
 * before_leaving. */
MUST_USE bool biased_lock_will_leave_slowly(struct biased_lock *lock);

static inline void biased_lock_leave(struct biased_lock *lock)
{
	struct bias *bias = biased_lock_bias(lock);

	if (likely(bias) && likely(__atomic_load_n(&bias->is_held, __ATOMIC_RELAXED)))
		__atomic_store_n(&bias->is_held, 0, __ATOMIC_RELEASE);
	else
		biased_lock_leave_slowly(lock);
}

#endif
