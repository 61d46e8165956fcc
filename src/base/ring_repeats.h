/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a stamped ring that say no more than "as before, but for these bytes": a stamp of
 * another form and 8 or 24 bytes, packed behind what comes before them, so that four of them cross
 * from core to core in one cache line. What they repeat, and how, is between the ring's users.
 *
 * The next record of the usual form begins on a cache line again: a stamp of a third form says that
 * the rest of the line is empty.
 */
#ifndef SOFTIB_BASE_RING_REPEATS_H
#define SOFTIB_BASE_RING_REPEATS_H

#include "base/ring.h"

enum { RING_REPEAT_BYTES_MAX = 24 };

/* What a repeat of up to RING_REPEAT_BYTES_MAX bytes says, and takes. */
static inline uint64_t ring_repeat_form(uint32_t byte_count)
{
	return byte_count <= 8 ? RING_FORM_SHORT_REPEAT : RING_FORM_LONG_REPEAT;
}

static inline uint64_t ring_repeat_bytes(uint64_t form)
{
	return form == RING_FORM_SHORT_REPEAT ? 16 : 32;
}

/* How many repeats of so many bytes may be written next, before the end of the ring and into the
 * room that is known. */
static inline uint32_t ring_repeats_room(const struct ring_producer *producer, uint32_t byte_count)
{
	uint64_t to_end = producer->data_bytes - (producer->tail & (producer->data_bytes - 1));
	uint64_t free = producer->data_bytes - (producer->tail - producer->head_seen);

	if (unlikely(producer->is_corrupt || free > producer->data_bytes))
		return 0;
	return (uint32_t)((to_end < free ? to_end : free) /
			  ring_repeat_bytes(ring_repeat_form(byte_count)));
}

/* Where the bytes of the next one go. */
static inline uint8_t *ring_repeat_place(const struct ring_producer *producer)
{
	return producer->data + (producer->tail & (producer->data_bytes - 1)) + sizeof(uint64_t);
}

static inline void ring_commit_repeat(struct ring_producer *producer, uint32_t byte_count)
{
	uint64_t form = ring_repeat_form(byte_count);
	uint64_t *stamp =
		(uint64_t *)(producer->data + (producer->tail & (producer->data_bytes - 1)));

	__atomic_store_n(stamp, ring_stamp(producer->stamp_seed, producer->tail) ^ form,
			 __ATOMIC_RELEASE);
	producer->tail += ring_repeat_bytes(form);
	producer->published = producer->tail;
	if (producer->tail % RING_CACHE_LINE == 0)
		ring_want_ahead(producer);
}

/* The bytes of the next record, if it is a repeat of so many; it is not taken by that. */
static inline const uint8_t *ring_peek_repeat(const struct ring_consumer *consumer,
					      uint32_t byte_count)
{
	uint64_t form = ring_repeat_form(byte_count);
	uint64_t offset = consumer->head & (consumer->data_bytes - 1);

	if (__atomic_load_n(consumer->stamp_at, __ATOMIC_ACQUIRE) != (consumer->stamp ^ form))
		return NULL;
	if (unlikely(consumer->is_corrupt || !ring_may_hold(consumer, ring_repeat_bytes(form))))
		return NULL;
	return consumer->data + offset + sizeof(uint64_t);
}

/* The first repeat of a line was taken: if the producer has filled the line, it fetches the next
 * one. Otherwise it would take that away from the producer, who is about to write there. */
static inline void ring_fetch_next_line(const struct ring_consumer *consumer, uint64_t form)
{
	uint64_t last = (consumer->head | (RING_CACHE_LINE - 1)) + 1 - ring_repeat_bytes(form);
	const uint8_t *at = consumer->data + (last & (consumer->data_bytes - 1));

	if (__atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED) ==
	    (ring_stamp(consumer->stamp_seed, last) ^ form))
		__builtin_prefetch(at + ring_repeat_bytes(form));
}

/* Takes it. */
static inline void ring_take_repeat(struct ring_consumer *consumer, uint32_t byte_count)
{
	uint64_t form = ring_repeat_form(byte_count);
	uint64_t record_bytes = ring_repeat_bytes(form);

	consumer->head += record_bytes;
	ring_expect_stamp(consumer);
	if (consumer->head % RING_CACHE_LINE == record_bytes)
		ring_fetch_next_line(consumer, form);
}

#endif
