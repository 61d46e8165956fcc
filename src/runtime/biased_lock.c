/* SPDX-License-Identifier: Apache-2.0 */
/* The slow paths of the biased lock: see biased_lock.h. */
#include "runtime/biased_lock.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STRANGERS_PER_CHANGE = 32, SPINS_PER_YIELD = 256 };

/* No thread's: the next thread that takes the lock gets a bias. */
static struct bias *first_bias(struct biased_lock *lock)
{
	return &lock->biases[0];
}

/* No thread's, for good: the lock is a mutex from now on. */
static struct bias *last_bias(struct biased_lock *lock)
{
	return &lock->biases[1 + BIASED_LOCK_BIASES];
}

static bool membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) == 0;
}

static bool can_bias(void)
{
	return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

void biased_lock_init(struct biased_lock *lock)
{
	pthread_mutexattr_t kind;

	*lock = (struct biased_lock){0};
	lock->bias = can_bias() ? first_bias(lock) : last_bias(lock);
	pthread_mutexattr_init(&kind);
	/* The holder leaves within microseconds: a short spin beats a sleep. */
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&lock->mutex, &kind);
	pthread_mutexattr_destroy(&kind);
}

void biased_lock_destroy(struct biased_lock *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

void biased_lock_never_bias_to_me(struct biased_lock *lock)
{
	biased_lock_take(lock);
	lock->never_biased = this_thread();
	biased_lock_leave(lock);
}

/* With the mutex held: waits until the biased thread has left the lock; it stays out until
 * is_wanted is 0. */
static void keep_biased_out(struct biased_lock *lock)
{
	__atomic_store_n(&lock->is_wanted, 1, __ATOMIC_RELAXED);
	(void)membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	for (unsigned spins = 1; __atomic_load_n(&lock->bias->is_held, __ATOMIC_ACQUIRE); spins++)
		if (spins % SPINS_PER_YIELD == 0)
			sched_yield();
}

/* The lock is held, and the biased thread is out. */
static void change_bias(struct biased_lock *lock)
{
	struct bias *next = lock->bias + 1;

	lock->other_takes = 0;
	if (next != last_bias(lock))
		next->thread = this_thread();
	__atomic_store_n(&lock->bias, next, __ATOMIC_RELEASE);
}

void biased_lock_take_slowly(struct biased_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	__atomic_store_n(&lock->holder, this_thread(), __ATOMIC_RELAXED);
	if (lock->bias == last_bias(lock) || biased_lock_bias(lock))
		return;
	if (lock->bias != first_bias(lock))
		keep_biased_out(lock);
	if (lock->never_biased == this_thread())
		return;
	if (lock->bias == first_bias(lock) || ++lock->other_takes >= STRANGERS_PER_CHANGE)
		change_bias(lock);
}

/* The thread may hold the lock by its bias only: it takes the mutex as well and clears is_held, so
 * that leaving goes by the mutex. If another thread has the mutex, that thread waits for is_held.
 */
bool biased_lock_will_leave_slowly(struct biased_lock *lock)
{
	if (__atomic_load_n(&lock->holder, __ATOMIC_RELAXED) == this_thread())
		return true;
	if (pthread_mutex_trylock(&lock->mutex) != 0)
		return false;
	__atomic_store_n(&lock->holder, this_thread(), __ATOMIC_RELAXED);
	__atomic_store_n(&lock->bias->is_held, 0, __ATOMIC_RELAXED);
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
