/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls libibverbs before the program starts a second thread, because runtime/rma/shared_mr.h
 * relies on there being only one.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>

#define EXPORT __attribute__((visibility("default")))

/* libibverbs sets it. */
EXPORT extern void (*softib_before_thread)(void);
void (*softib_before_thread)(void);

static void tell(void)
{
	void (*before_thread)(void) = __atomic_load_n(&softib_before_thread, __ATOMIC_ACQUIRE);

	if (before_thread)
		before_thread();
}

EXPORT int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
			  void *(*run)(void *), void *context)
{
	__typeof__(&pthread_create) next =
		(__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");

	tell();
	return next(ret_thread, attributes, run, context);
}

EXPORT int thrd_create(thrd_t *ret_thread, thrd_start_t run, void *context)
{
	__typeof__(&thrd_create) next = (__typeof__(&thrd_create))dlsym(RTLD_NEXT, "thrd_create");

	tell();
	return next(ret_thread, run, context);
}
