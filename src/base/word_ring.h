/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of small numbers in memory that two processes share: one produces, one consumes, and
 * neither trusts the other.
 *
 * Each number lies in a word together with the number of the lap in which it was written. So a word
 * shows by itself whether it is new, and eight words cross from core to core in one cache line.
 * There is no doorbell: a word ring has a ring of records beside it, which has one.
 */
#ifndef SOFTIB_BASE_WORD_RING_H
#define SOFTIB_BASE_WORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/cache_line.h"

enum {
	WORD_RING_COUNT = 512,
	WORD_RING_BITS = 56, /* of a number; the rest is the lap */
	WORD_RING_LAPS = 255,
	WORD_RING_RELEASE = WORD_RING_COUNT / 4,
};

/* All zero when new. */
struct word_ring_shared {
	_Alignas(64) uint64_t head; /* words ever consumed, updated now and then by the consumer */
	_Alignas(64) uint64_t words[WORD_RING_COUNT];
};

/* lap: word_ring_lap of tail or head, cached because each access needs it. */
struct word_producer {
	struct word_ring_shared *shared;
	uint64_t tail;
	uint64_t lap;
	uint64_t head_seen;
};

struct word_consumer {
	struct word_ring_shared *shared;
	uint64_t head;
	uint64_t lap;
};

void word_producer_init(struct word_producer *producer, void *memory);
void word_consumer_init(struct word_consumer *consumer, void *memory);

/* Reads the consumer's position: whether there is room. An impossible position makes no room. */
bool word_ring_look_for_room(struct word_producer *producer);

/* Reads the consumer's position only if the known room does not suffice. */
static inline bool word_ring_has_room(struct word_producer *producer)
{
	return likely(producer->tail - producer->head_seen < WORD_RING_COUNT) ||
	       word_ring_look_for_room(producer);
}

static inline uint64_t word_ring_lap(uint64_t position)
{
	return position / WORD_RING_COUNT % WORD_RING_LAPS + 1;
}

/* A word will be written soon: prefetches its line. */
static inline void word_ring_want(const struct word_producer *producer)
{
	cache_line_want(
		(const uint8_t *)&producer->shared->words[producer->tail % WORD_RING_COUNT]);
}

static inline void word_ring_put(struct word_producer *producer, uint64_t number)
{
	uint64_t tail = producer->tail;

	debug_assert(number >> WORD_RING_BITS == 0);
	__atomic_store_n(&producer->shared->words[tail % WORD_RING_COUNT],
			 producer->lap << WORD_RING_BITS | number, __ATOMIC_RELEASE);
	producer->tail = ++tail;
	if (unlikely(tail % WORD_RING_COUNT == 0))
		producer->lap = word_ring_lap(tail);
}

static inline uint64_t word_ring_at(const struct word_consumer *consumer)
{
	return __atomic_load_n(&consumer->shared->words[consumer->head % WORD_RING_COUNT],
			       __ATOMIC_ACQUIRE);
}

static inline bool word_ring_is_empty(const struct word_consumer *consumer)
{
	return word_ring_at(consumer) >> WORD_RING_BITS != consumer->lap;
}

/* false: the ring is empty. */
MUST_USE static inline bool word_ring_take(struct word_consumer *consumer, uint64_t *ret_number)
{
	uint64_t word = word_ring_at(consumer);

	if (word >> WORD_RING_BITS != consumer->lap)
		return false;
	consumer->head++;
	if (unlikely(consumer->head % WORD_RING_RELEASE == 0)) {
		consumer->lap = word_ring_lap(consumer->head);
		__atomic_store_n(&consumer->shared->head, consumer->head, __ATOMIC_RELEASE);
	}
	*ret_number = word & (((uint64_t)1 << WORD_RING_BITS) - 1);
	return true;
}

#endif
