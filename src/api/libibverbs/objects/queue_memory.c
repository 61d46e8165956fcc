/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for queues from a program's own allocator. */
#include "api/libibverbs/objects/objects.h"

/* Queues begin on cache lines of their own. */
enum { QUEUE_ALIGNMENT = 64 };

int queue_memory_allocate(struct queue_memory *memory, struct ibv_pd *public,
			  enum queue_memory_purpose purpose,
			  const size_t sizes[static QUEUE_MEMORY_PIECES])
{
	struct verbs_pd *pd = public ? pd_of(public) : NULL;

	*memory = (struct queue_memory){.purpose = purpose};
	if (!pd || !pd->is_parent_domain)
		return 0;
	memory->pd = public;
	__atomic_add_fetch(&pd->user_count, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; pd->allocate && i < QUEUE_MEMORY_PIECES; i++) {
		if (!sizes[i])
			continue;

		void *piece = pd->allocate(public, pd->allocator_context, sizes[i], QUEUE_ALIGNMENT,
					   purpose);

		if (piece == IBV_ALLOCATOR_USE_DEFAULT)
			continue;
		memory->pieces[i] = piece;
		if (!piece || (uintptr_t)piece % QUEUE_ALIGNMENT) {
			queue_memory_free(memory);
			return -ENOMEM;
		}
	}
	return 0;
}

void queue_memory_free(struct queue_memory *memory)
{
	struct verbs_pd *pd = memory->pd ? pd_of(memory->pd) : NULL;

	if (!pd)
		return;
	for (unsigned i = 0; i < QUEUE_MEMORY_PIECES; i++)
		if (memory->pieces[i] && pd->release)
			pd->release(memory->pd, pd->allocator_context, memory->pieces[i],
				    memory->purpose);
	__atomic_sub_fetch(&pd->user_count, 1, __ATOMIC_RELAXED);
	*memory = (struct queue_memory){0};
}
