/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of single words: see word_ring.h. */
#include "base/word_ring.h"

void word_producer_init(struct word_producer *producer, void *memory)
{
	*producer = (struct word_producer){.shared = memory, .lap = word_ring_lap(0)};
}

void word_consumer_init(struct word_consumer *consumer, void *memory)
{
	*consumer = (struct word_consumer){.shared = memory, .lap = word_ring_lap(0)};
}

bool word_ring_look_for_room(struct word_producer *producer)
{
	uint64_t head = __atomic_load_n(&producer->shared->head, __ATOMIC_ACQUIRE);

	/* The consumer's head may only move forward, and not past the written words. */
	if (head - producer->head_seen <= producer->tail - producer->head_seen)
		producer->head_seen = head;
	return producer->tail - producer->head_seen < WORD_RING_COUNT;
}
