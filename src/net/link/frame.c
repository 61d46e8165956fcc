/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of frames: slabs made on demand up to a bound, never moved, freed all at once. */
#include "net/link/frame.h"

#include <stdlib.h>

enum { FRAMES_PER_SLAB = 64 };

struct frame_slab {
	struct frame_slab *next;
	struct frame frames[FRAMES_PER_SLAB];
};

void frame_pool_init(struct frame_pool *pool, uint32_t frame_count_max)
{
	*pool = (struct frame_pool){.frame_count_max = frame_count_max};
	list_init(&pool->free);
}

void frame_pool_release(struct frame_pool *pool)
{
	while (pool->slabs) {
		struct frame_slab *slab = pool->slabs;

		pool->slabs = slab->next;
		free(slab);
	}
	frame_pool_init(pool, pool->frame_count_max);
}

static void add_slab(struct frame_pool *pool)
{
	if (pool->frame_count + FRAMES_PER_SLAB > pool->frame_count_max)
		return;

	struct frame_slab *slab = malloc(sizeof(*slab));

	if (!slab)
		return;
	slab->next = pool->slabs;
	pool->slabs = slab;
	pool->frame_count += FRAMES_PER_SLAB;
	for (unsigned i = 0; i < FRAMES_PER_SLAB; i++)
		list_append(&pool->free, &slab->frames[i].link);
}

struct frame *frame_take(struct frame_pool *pool)
{
	if (unlikely(list_is_empty(&pool->free)))
		add_slab(pool);

	struct list *link = list_pop(&pool->free);

	if (!link)
		return NULL;

	struct frame *frame = container_of(link, struct frame, link);

	frame->source = NULL;
	frame->source_generation = 0;
	frame->credit_blocks = 0;
	frame->is_corrupt = false;
	return frame;
}

/* The most recently used frame is the one still in the cache. */
void frame_give_back(struct frame_pool *pool, struct frame *frame)
{
	list_prepend(&pool->free, &frame->link);
}
