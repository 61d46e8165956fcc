/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a stamped ring that say no more than "as before, but for these bytes": a stamp of
 * another form and 8 or 24 bytes, packed behind what comes before them, so that four of them cross
 * from core to core in one cache line. Longer ones take whole lines, and say how much that is. What
 * they repeat, and how, is between the ring's users.
 *
 * The next record of the usual form begins on a cache line again: a stamp of a third form says that
 * the rest of the line is empty.
 */
#ifndef SOFTIB_BASE_RING_PAYLOADS_H
#define SOFTIB_BASE_RING_PAYLOADS_H

#include "base/ring.h"

enum {
	RING_PAYLOAD_SHORT_BYTES = 8,
	RING_PAYLOAD_LONG_BYTES = 24,
	RING_PAYLOAD_BYTES_MAX = 1008,
};

/* What a repeat of up to RING_PAYLOAD_BYTES_MAX bytes says, and takes. */
static inline uint64_t ring_payload_form(uint32_t byte_count)
{
	if (byte_count <= RING_PAYLOAD_SHORT_BYTES)
		return RING_FORM_SHORT_PAYLOAD;
	return byte_count <= RING_PAYLOAD_LONG_BYTES ? RING_FORM_LONG_PAYLOAD
						     : RING_FORM_LINES_PAYLOAD;
}

/* Its stamp, and of whole lines what they take. */
static inline uint32_t ring_payload_header_bytes(uint32_t byte_count)
{
	return byte_count <= RING_PAYLOAD_LONG_BYTES ? 8 : 16;
}

static inline uint64_t ring_payload_bytes(uint32_t byte_count)
{
	if (byte_count <= RING_PAYLOAD_SHORT_BYTES)
		return 16;
	if (byte_count <= RING_PAYLOAD_LONG_BYTES)
		return 32;
	return (ring_payload_header_bytes(byte_count) + (uint64_t)byte_count + RING_CACHE_LINE -
		1) &
	       ~(uint64_t)(RING_CACHE_LINE - 1);
}

/* How many repeats of so many bytes may be written next, before the end of the ring and into the
 * room that is known. */
static inline uint32_t ring_payloads_room(const struct ring_producer *producer, uint32_t byte_count)
{
	uint64_t to_end = producer->data_bytes - (producer->tail & (producer->data_bytes - 1));
	uint64_t free = producer->data_bytes - (producer->tail - producer->head_seen);

	if (unlikely(producer->is_corrupt || free > producer->data_bytes))
		return 0;
	/* Whole lines begin with one. */
	if (unlikely(byte_count > RING_PAYLOAD_LONG_BYTES && producer->tail % RING_CACHE_LINE))
		return 0;
	return (uint32_t)((to_end < free ? to_end : free) / ring_payload_bytes(byte_count));
}

/* Where the bytes of the next one go. */
static inline uint8_t *ring_payload_place(const struct ring_producer *producer, uint32_t byte_count)
{
	return producer->data + (producer->tail & (producer->data_bytes - 1)) +
	       ring_payload_header_bytes(byte_count);
}

static inline void ring_commit_payload(struct ring_producer *producer, uint32_t byte_count)
{
	const uint64_t form = ring_payload_form(byte_count);
	const uint64_t record_bytes = ring_payload_bytes(byte_count);
	uint64_t *header =
		(uint64_t *)(producer->data + (producer->tail & (producer->data_bytes - 1)));

	if (form == RING_FORM_LINES_PAYLOAD)
		__atomic_store_n(&header[1], record_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&header[0], ring_stamp(producer->stamp_seed, producer->tail) ^ form,
			 __ATOMIC_RELEASE);
	producer->tail += record_bytes;
	producer->published = producer->tail;
	if (producer->tail % RING_CACHE_LINE == 0)
		ring_want_ahead(producer);
}

/* Whether the next record is a repeat of so many bytes. */
static inline bool ring_has_payload(const struct ring_consumer *consumer, uint32_t byte_count)
{
	return __atomic_load_n(consumer->stamp_at, __ATOMIC_ACQUIRE) ==
	       (consumer->stamp ^ ring_payload_form(byte_count));
}

/* Repeats of one length that lie at the head, one behind the other, as the consumer takes them: the
 * ring hears of it when it has had enough. */
struct ring_payloads {
	const uint8_t *at; /* of the next one: its stamp */
	uint64_t head, limit;
	uint64_t seed; /* with their form */
	uint64_t record_bytes;
	uint32_t header_bytes;
};

static inline struct ring_payloads ring_payloads_begin(const struct ring_consumer *consumer,
						       uint32_t byte_count)
{
	const uint64_t form = ring_payload_form(byte_count);
	const uint64_t offset = consumer->head & (consumer->data_bytes - 1);
	const uint64_t to_end = consumer->head + (consumer->data_bytes - offset);
	const uint64_t to_released = consumer->released + consumer->data_bytes;

	return (struct ring_payloads){
		.at = consumer->data + offset,
		.head = consumer->head,
		.limit = unlikely(consumer->is_corrupt) ? consumer->head
			 : to_end < to_released		? to_end
							: to_released,
		.seed = consumer->stamp_seed ^ form,
		.record_bytes = ring_payload_bytes(byte_count),
		.header_bytes = ring_payload_header_bytes(byte_count),
	};
}

/* The bytes of the next one; NULL: there is none. */
static inline const uint8_t *ring_payloads_peek(const struct ring_payloads *repeats)
{
	if (unlikely(repeats->limit - repeats->head < repeats->record_bytes) ||
	    __atomic_load_n((const uint64_t *)repeats->at, __ATOMIC_ACQUIRE) !=
		    ring_stamp(repeats->seed, repeats->head))
		return NULL;
	if (repeats->record_bytes >= RING_CACHE_LINE &&
	    unlikely(__atomic_load_n((const uint64_t *)repeats->at + 1, __ATOMIC_RELAXED) !=
		     repeats->record_bytes))
		return NULL;
	return repeats->at + repeats->header_bytes;
}

/* The first repeat of a line was taken: if the producer has filled the line, it fetches the next
 * one. Otherwise it would take that away from the producer, who is about to write there. */
static inline void ring_payloads_fetch(const struct ring_payloads *repeats)
{
	uint64_t rest = RING_CACHE_LINE - 2 * repeats->record_bytes;

	if (__atomic_load_n((const uint64_t *)(repeats->at + rest), __ATOMIC_RELAXED) ==
	    ring_stamp(repeats->seed, repeats->head + rest))
		__builtin_prefetch(repeats->at + rest + repeats->record_bytes);
}

static inline void ring_payloads_take(struct ring_payloads *repeats)
{
	repeats->head += repeats->record_bytes;
	repeats->at += repeats->record_bytes;
	if (repeats->head % RING_CACHE_LINE == repeats->record_bytes)
		ring_payloads_fetch(repeats);
}

static inline void ring_payloads_end(const struct ring_payloads *repeats,
				     struct ring_consumer *consumer)
{
	consumer->head = repeats->head;
	ring_expect_stamp(consumer);
}

#endif
