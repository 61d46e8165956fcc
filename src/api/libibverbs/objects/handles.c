/* SPDX-License-Identifier: Apache-2.0 */
/* The live objects of the program, by address. */
#include "api/libibverbs/objects/handles.h"

#include <pthread.h>
#include <stdint.h>
#include "base/hash_table.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct hash_table live; /* address to kind */
static bool is_incomplete;     /* an address was not recorded for lack of memory: from now on every
				* address counts as live */

/* Another thread may have held the mutex when the process forked. Its update is lost in the child,
 * so there every address counts as live. */
static void after_fork_in_child(void)
{
	if (pthread_mutex_trylock(&mutex) != 0) {
		pthread_mutex_init(&mutex, NULL);
		is_incomplete = true;
		return;
	}
	pthread_mutex_unlock(&mutex);
}

__attribute__((constructor)) static void handle_forks(void)
{
	(void)!pthread_atfork(NULL, NULL, after_fork_in_child);
}

void handle_add(enum handle_kind kind, const void *handle)
{
	pthread_mutex_lock(&mutex);
	if (hash_table_put(&live, (uintptr_t)handle, (void *)(uintptr_t)kind) != 0)
		is_incomplete = true;
	pthread_mutex_unlock(&mutex);
}

void handle_remove(const void *handle)
{
	pthread_mutex_lock(&mutex);
	hash_table_remove(&live, (uintptr_t)handle);
	pthread_mutex_unlock(&mutex);
}

bool handle_is_live(enum handle_kind kind, const void *handle)
{
	if (!handle)
		return false;
	pthread_mutex_lock(&mutex);

	bool is_live = is_incomplete || (enum handle_kind)(uintptr_t)hash_table_get(
						&live, (uintptr_t)handle) == kind;

	pthread_mutex_unlock(&mutex);
	return is_live;
}
