/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, mutexes and condition variables: they wait by giving the turn away. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "interpose.h"
#include "turns.h"

struct start {
	void *(*run)(void *);
	void *context;
	unsigned number;
};

static void *run_thread(void *context)
{
	struct start start = *(struct start *)context;
	void *result;

	free(context);
	turns_join(start.number);
	result = start.run(start.context);
	turns_leave();
	return result;
}

/* By thread number: which pthread_t it is, for pthread_join. */
static pthread_t known_threads[THREADS_MAX];

EXPORT int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
			  void *(*run)(void *), void *context)
{
	__typeof__(&pthread_create) next = NEXT(pthread_create);

	if (!own)
		return next(ret_thread, attributes, run, context);
	point_system_call(CODE);

	struct start *start = malloc(sizeof(*start));

	if (!start)
		return EAGAIN;
	*start = (struct start){run, context, turns_add_thread(own->process)};

	const unsigned number = start->number;
	const int error = next(ret_thread, attributes, run_thread, start);

	if (error)
		turns_fail("no thread can be created");
	turns_await_thread(number);
	known_threads[number] = *ret_thread;
	return 0;
}

static bool wait_for_process(uint64_t deadline, const void *code)
{
	struct wait wait = wait_until(deadline);

	wait.for_process = true;
	return block(wait, code);
}

EXPORT int pthread_join(pthread_t thread, void **ret_result)
{
	__typeof__(&pthread_join) next = NEXT(pthread_join);

	for (unsigned i = 0; own && i < THREADS_MAX; i++)
		if (known_threads[i] == thread && schedule->threads[i].process == own->process)
			while (schedule->threads[i].state != THREAD_ENDED)
				(void)wait_for_process(NEVER, CODE);
	return next(thread, ret_result);
}

static __typeof__(&pthread_mutex_trylock) next_trylock;
static __typeof__(&pthread_mutex_lock) next_lock;
static __typeof__(&pthread_mutex_unlock) next_unlock;

static void find_next(void)
{
	next_lock = NEXT(pthread_mutex_lock);
	next_trylock = NEXT(pthread_mutex_trylock);
	next_unlock = NEXT(pthread_mutex_unlock);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	if (!next_lock)
		find_next();
	if (own)
		point_system_call(CODE);
	return next_trylock(mutex);
}

static int lock(pthread_mutex_t *mutex, uint64_t deadline, const void *code)
{
	int error;

	point_system_call(code);
	while ((error = next_trylock(mutex)) == EBUSY)
		if (!wait_for_process(deadline, code))
			return ETIMEDOUT;
	return error;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!next_lock)
		find_next();
	return own ? lock(mutex, NEVER, CODE) : next_lock(mutex);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!next_lock)
		find_next();
	if (!own)
		return next_unlock(mutex);
	point_system_call(CODE);

	const int error = next_unlock(mutex);

	news_of_process();
	return error;
}

/* A condition variable is a counter here; waking more threads than one is allowed. */
static uint32_t *counter_of(pthread_cond_t *condition)
{
	return (uint32_t *)(void *)condition;
}

static int wait_on(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline,
		   const void *code)
{
	const uint32_t before = *counter_of(condition);
	bool has_time = true;

	(void)pthread_mutex_unlock(mutex);
	while (has_time && *counter_of(condition) == before)
		has_time = wait_for_process(deadline, code);
	(void)lock(mutex, NEVER, code);
	return *counter_of(condition) == before ? ETIMEDOUT : 0;
}

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	if (!own)
		abort();
	return wait_on(condition, mutex, NEVER, CODE);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
				  const struct timespec *until)
{
	struct timespec now;
	uint64_t deadline;

	clock_gettime(CLOCK_REALTIME, &now);
	deadline = schedule->now + (uint64_t)((until->tv_sec - now.tv_sec) * 1000000000 +
					      until->tv_nsec - now.tv_nsec);
	return wait_on(condition, mutex, deadline, CODE);
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
	if (own)
		point_system_call(CODE);
	++*counter_of(condition);
	news_of_process();
	return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
	return pthread_cond_signal(condition);
}

EXPORT int pthread_cond_destroy(pthread_cond_t *condition)
{
	(void)condition;
	return 0;
}

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *rwlock)
{
	if (!own)
		return NEXT(pthread_rwlock_rdlock)(rwlock);
	point_system_call(CODE);
	while (pthread_rwlock_tryrdlock(rwlock) == EBUSY)
		(void)wait_for_process(NEVER, CODE);
	return 0;
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *rwlock)
{
	if (!own)
		return NEXT(pthread_rwlock_wrlock)(rwlock);
	point_system_call(CODE);
	while (pthread_rwlock_trywrlock(rwlock) == EBUSY)
		(void)wait_for_process(NEVER, CODE);
	return 0;
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *rwlock)
{
	const int error = NEXT(pthread_rwlock_unlock)(rwlock);

	news_of_process();
	return error;
}

enum { ONCE_RUNS = 1, ONCE_DONE = 2 };

EXPORT int pthread_once(pthread_once_t *once, void (*run)(void))
{
	point_system_call(CODE);
	while (*once == ONCE_RUNS && own)
		(void)wait_for_process(NEVER, CODE);
	if (*once == ONCE_DONE)
		return 0;
	*once = ONCE_RUNS;
	run();
	*once = ONCE_DONE;
	news_of_process();
	return 0;
}

EXPORT void schedule_ready(void);
EXPORT void schedule_ready(void)
{
	if (!own)
		return;
	schedule->processes[own->process].is_ready = true;
	news_of_kernel();
}

__attribute__((constructor(101))) static void open_schedule(void)
{
	find_next();
	turns_open();
}
