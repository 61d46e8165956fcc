/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of frames: slabs made on demand up to a bound, never moved, freed all at once. */
#include "net/link/frame.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_PER_SLAB = 64 };

_Static_assert(offsetof(struct frame, bytes) + FRAME_TINY_BYTES <= FRAME_TINY_ROOM,
	       "a tiny frame has its bytes");
_Static_assert(offsetof(struct frame, bytes) + FRAME_SMALL_BYTES <= FRAME_SMALL_ROOM,
	       "a small frame has its bytes");
_Static_assert(offsetof(struct frame, bytes) + LRH_BYTES + sizeof(uint32_t) <= 2 * 64,
	       "the cached header and its source bytes are in two cache lines");

struct frame_slab {
	struct frame_slab *next;
};

static const size_t rooms[FRAME_SIZES] = {
	[FRAME_TINY] = FRAME_TINY_ROOM,
	[FRAME_SMALL] = FRAME_SMALL_ROOM,
	[FRAME_LARGE] = (sizeof(struct frame) + 63) / 64 * 64,
};

void frame_pool_init(struct frame_pool *pool, uint32_t frame_count_max)
{
	*pool = (struct frame_pool){.frame_count_max = frame_count_max};
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

/* The header of a slab takes a whole cache line. */
static void add_slab(struct frame_pool *pool, enum frame_size size)
{
	enum { LINE_BYTES = 64 };

	if (pool->frame_counts[size] + FRAMES_PER_SLAB > pool->frame_count_max)
		return;

	struct frame_slab *slab =
		aligned_alloc(LINE_BYTES, LINE_BYTES + FRAMES_PER_SLAB * rooms[size]);

	if (!slab)
		return;
	slab->next = pool->slabs;
	pool->slabs = slab;
	pool->frame_counts[size] += FRAMES_PER_SLAB;
	for (unsigned i = FRAMES_PER_SLAB; i-- > 0;) {
		struct frame *frame = (struct frame *)((char *)slab + LINE_BYTES + i * rooms[size]);

		frame->size = (uint8_t)size;
		frame_give_back(pool, frame);
	}
}

static struct frame *take(struct frame_pool *pool, enum frame_size size)
{
	if (unlikely(!pool->free[size]))
		add_slab(pool, size);

	struct frame *frame = pool->free[size];

	if (!frame)
		return NULL;
	pool->free[size] = frame->next;
	frame->source = NULL;
	frame->source_generation = 0;
	frame->credit_blocks = 0;
	frame->has_crcs = false;
	frame->fault_actions = 0;
	frame->static_rate = 0;
	frame->source_qpn = 0;
	frame->header_source.bth_offset = 0;
	return frame;
}

struct frame *frame_take(struct frame_pool *pool)
{
	return take(pool, FRAME_LARGE);
}

struct frame *frame_take_for(struct frame_pool *pool, uint32_t byte_count)
{
	struct frame *frame = byte_count <= FRAME_TINY_BYTES ? take(pool, FRAME_TINY) : NULL;

	/* If its size has run out, a larger frame will do. */
	if (!frame && byte_count <= FRAME_SMALL_BYTES)
		frame = take(pool, FRAME_SMALL);
	return frame ? frame : take(pool, FRAME_LARGE);
}

void frame_copy(struct frame *copy, const struct frame *frame)
{
	uint8_t size = copy->size;
	void *source = copy->source;
	uint32_t source_generation = copy->source_generation;

	memcpy(copy, frame, offsetof(struct frame, bytes) + frame_stored_bytes(frame));
	list_init(&copy->link);
	copy->size = size;
	copy->source = source;
	copy->source_generation = source_generation;
}

/* The most recently used frame is the one still in the cache. */
void frame_give_back(struct frame_pool *pool, struct frame *frame)
{
	frame->next = pool->free[frame->size];
	pool->free[frame->size] = frame;
}
