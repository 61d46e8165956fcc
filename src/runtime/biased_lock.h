/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that one thread takes and leaves with plain stores: the one that takes it nearly always.
 *
 * The others take a mutex, say that they want the lock, have every thread of the process pass a
 * barrier (membarrier), and wait until the favoured one is out. That one looks whether it is wanted
 * after it has said that it is in; with the barrier in between, one of the two sees the other. A
 * thread may be stopped for any time between reading that it is favoured and saying that it is in:
 * so it reads once more that it still is, and each favour has a word of its own to be in by. A
 * program whose threads take turns loses the favour for good after a few changes and has a mutex.
 */
#ifndef SOFTIB_RUNTIME_BIASED_LOCK_H
#define SOFTIB_RUNTIME_BIASED_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

enum { BIASED_LOCK_BIASES = 8 };

/* Given once, and taken away for good when another is given. */
struct bias {
	const void *thread; /* NULL: to nobody */
	uint32_t is_held;   /* the lock, by this thread, without the mutex */
};

struct biased_lock {
	struct bias *bias;  /* the one that counts. Changes while is_wanted */
	uint32_t is_wanted; /* by who holds the mutex */
	unsigned strangers; /* that took it since the favour changed */
	struct bias biases[1 + BIASED_LOCK_BIASES + 1]; /* the first and the last: nobody's */
	pthread_mutex_t mutex;
	const void *never_biased; /* thread */
	const void *holder;	  /* thread: of the mutex and so of the lock; NULL: none */
	/* Called by who leaves it with the mutex; NULL: nobody cares. */
	void (*before_leaving)(struct biased_lock *lock);
};

/* Where it lies, it stays. */
void biased_lock_init(struct biased_lock *lock);
void biased_lock_destroy(struct biased_lock *lock);
/* The calling thread takes it now and then only, on behalf of another. */
void biased_lock_never_bias_to_me(struct biased_lock *lock);

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

/* The favour of the calling thread, as it was a moment ago; NULL: none. */
static inline struct bias *biased_lock_bias(struct biased_lock *lock)
{
	struct bias *bias = __atomic_load_n(&lock->bias, __ATOMIC_ACQUIRE);

	return likely(bias->thread == this_thread()) ? bias : NULL;
}

/* Takes the lock unless somebody wants it or has got the favour. */
static inline bool biased_lock_enter(struct biased_lock *lock, struct bias *bias)
{
	__atomic_store_n(&bias->is_held, 1, __ATOMIC_RELAXED);
	/* The processor's part is the barrier of those who want it. */
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

/* Takes it if the calling thread has the favour and nobody else wants it. No call: whoever goes
 * another way if it can't has no use for registers that survive one. */
static inline bool biased_lock_try(struct biased_lock *lock)
{
	struct bias *bias = biased_lock_bias(lock);

	return likely(bias) && likely(biased_lock_enter(lock, bias));
}

/* Whether the calling thread has it. Takes no lock and changes nothing: for signal handlers. */
static inline bool biased_lock_is_mine(const struct biased_lock *lock)
{
	const struct bias *bias = __atomic_load_n(&lock->bias, __ATOMIC_ACQUIRE);

	return (bias->thread == this_thread() &&
		__atomic_load_n(&bias->is_held, __ATOMIC_RELAXED)) ||
	       __atomic_load_n(&lock->holder, __ATOMIC_RELAXED) == this_thread();
}

/* In a signal handler of the thread that has it: whether that will call before_leaving. */
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
