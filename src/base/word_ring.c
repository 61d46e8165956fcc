/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of small numbers between two parties that do not trust each other: see word_ring.h. */
#include "base/word_ring.h"

void word_producer_init(struct word_producer *producer, void *memory)
{
	*producer = (struct word_producer){.shared = memory};
}

void word_consumer_init(struct word_consumer *consumer, void *memory)
{
	*consumer = (struct word_consumer){.shared = memory};
}

bool word_ring_has_room(struct word_producer *producer)
{
	if (likely(producer->tail - producer->head_seen < WORD_RING_COUNT))
		return true;

	uint64_t head = __atomic_load_n(&producer->shared->head, __ATOMIC_ACQUIRE);

	/* Only forward, and not past what was written. */
	if (head - producer->head_seen <= producer->tail - producer->head_seen)
		producer->head_seen = head;
	return producer->tail - producer->head_seen < WORD_RING_COUNT;
}

void word_ring_put(struct word_producer *producer, uint64_t number)
{
	uint64_t lap = word_ring_lap(producer->tail);

	debug_assert(number >> WORD_RING_BITS == 0);
	__atomic_store_n(&producer->shared->words[producer->tail % WORD_RING_COUNT],
			 lap << WORD_RING_BITS | number, __ATOMIC_RELEASE);
	producer->tail++;
}

bool word_ring_take(struct word_consumer *consumer, uint64_t *ret_number)
{
	uint64_t word = word_ring_at(consumer);

	if (word >> WORD_RING_BITS != word_ring_lap(consumer->head))
		return false;
	consumer->head++;
	if (consumer->head % WORD_RING_RELEASE == 0)
		__atomic_store_n(&consumer->shared->head, consumer->head, __ATOMIC_RELEASE);
	*ret_number = word & (((uint64_t)1 << WORD_RING_BITS) - 1);
	return true;
}
