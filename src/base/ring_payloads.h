/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payload records of a stamped ring: a stamp of another form, and nothing but payload. Payloads of
 * up to 8 or 24 bytes are packed behind the record before them, so that four records of 8 bytes
 * cross from core to core in one cache line. Longer payloads take whole lines and state how many
 * bytes. The users of the ring know what the payload belongs to (runtime/fast/burst.h).
 *
 * The next ordinary record begins on a cache line: a stamp of a third form marks the rest of the
 * line as empty.
 */
#ifndef SOFTIB_BASE_RING_PAYLOADS_H
#define SOFTIB_BASE_RING_PAYLOADS_H

#include "base/ring.h"

enum {
	RING_PAYLOAD_SHORT_BYTES = 8,
	RING_PAYLOAD_LONG_BYTES = 24,
	RING_PAYLOAD_BYTES_MAX = 1008,
};

/* The stamp's form for a payload of up to RING_PAYLOAD_BYTES_MAX bytes. */
static inline uint64_t ring_payload_form(uint32_t byte_count)
{
	if (byte_count <= RING_PAYLOAD_SHORT_BYTES)
		return RING_FORM_SHORT_PAYLOAD;
	return byte_count <= RING_PAYLOAD_LONG_BYTES ? RING_FORM_LONG_PAYLOAD
						     : RING_FORM_LINES_PAYLOAD;
}

/* The stamp and, for whole lines, the size of the record. */
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

/* Whether a payload record of this size may be written next: before the end of the ring, and into
 * the room that is known. A record of whole lines must begin on a line. */
static inline bool ring_fits_payload(const struct ring_producer *producer, uint32_t byte_count)
{
	return ring_fits(producer, ring_payload_bytes(byte_count)) &&
	       (byte_count <= RING_PAYLOAD_LONG_BYTES || producer->tail % RING_CACHE_LINE == 0);
}

/* How many payload records of this size may be written next. */
static inline uint32_t ring_payloads_room(const struct ring_producer *producer, uint32_t byte_count)
{
	const uint64_t to_end =
		producer->data_bytes - (producer->tail & (producer->data_bytes - 1));
	const uint64_t free = producer->data_bytes - (producer->tail - producer->head_seen);

	if (unlikely(!ring_fits_payload(producer, byte_count)))
		return 0;
	return (uint32_t)((to_end < free ? to_end : free) / ring_payload_bytes(byte_count));
}

/* ring_fits_payload with the room that the consumer shows now. */
static inline bool ring_has_room_for_payload(struct ring_producer *producer, uint32_t byte_count)
{
	return likely(ring_fits_payload(producer, byte_count)) ||
	       (ring_room(producer) && ring_fits_payload(producer, byte_count));
}

/* Where the payload of the next record goes. */
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

/* Whether the next record is a payload record of this size. */
static inline bool ring_has_payload(const struct ring_consumer *consumer, uint32_t byte_count)
{
	return __atomic_load_n(consumer->stamp_at, __ATOMIC_ACQUIRE) ==
	       (consumer->stamp ^ ring_payload_form(byte_count));
}

/* Payload records of one size at the head of the ring, one behind the other, while the consumer
 * takes them. The ring is updated only by ring_payloads_end. */
struct ring_payloads {
	const uint8_t *at; /* the stamp of the next record */
	uint64_t head, limit;
	uint64_t seed; /* combined with the records' form */
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

/* The payload of the next record; NULL: there is none. */
static inline const uint8_t *ring_payloads_peek(const struct ring_payloads *payloads)
{
	if (unlikely(payloads->limit - payloads->head < payloads->record_bytes) ||
	    __atomic_load_n((const uint64_t *)payloads->at, __ATOMIC_ACQUIRE) !=
		    ring_stamp(payloads->seed, payloads->head))
		return NULL;
	if (payloads->record_bytes >= RING_CACHE_LINE &&
	    unlikely(__atomic_load_n((const uint64_t *)payloads->at + 1, __ATOMIC_RELAXED) !=
		     payloads->record_bytes))
		return NULL;
	return payloads->at + payloads->header_bytes;
}

/* The first payload record of a line was taken. If the producer has filled the line, fetches the
 * next one. Otherwise the fetch would take that line away from the producer, who is about to write
 * there. */
static inline void ring_payloads_fetch(const struct ring_payloads *payloads)
{
	uint64_t rest = RING_CACHE_LINE - 2 * payloads->record_bytes;

	if (__atomic_load_n((const uint64_t *)(payloads->at + rest), __ATOMIC_RELAXED) ==
	    ring_stamp(payloads->seed, payloads->head + rest))
		__builtin_prefetch(payloads->at + rest + payloads->record_bytes);
}

static inline void ring_payloads_take(struct ring_payloads *payloads)
{
	payloads->head += payloads->record_bytes;
	payloads->at += payloads->record_bytes;
	if (payloads->head % RING_CACHE_LINE == payloads->record_bytes)
		ring_payloads_fetch(payloads);
}

static inline void ring_payloads_end(const struct ring_payloads *payloads,
				     struct ring_consumer *consumer)
{
	consumer->head = payloads->head;
	ring_expect_stamp(consumer);
}

#endif
