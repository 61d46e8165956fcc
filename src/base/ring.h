/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of records in memory that two parties share: one produces, one consumes, neither trusts
 * the other.
 *
 * Records are contiguous, begin on 16-byte boundaries and never wrap (a filler record covers the
 * end). Each side keeps its own copy of everything it decides by; what it reads from the shared
 * part is checked before use, and a nonsense value marks the ring corrupt for good.
 */
#ifndef SOFTIB_BASE_RING_H
#define SOFTIB_BASE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

enum { RING_ALIGNMENT = 16, RING_CACHE_LINE = 64, RING_RECORD_FILLER = 0 };

/* The shared part; data of a power-of-two size follows it. */
struct ring_shared {
	/* written by the producer */
	_Alignas(RING_CACHE_LINE) uint64_t tail; /* bytes ever produced */
	uint32_t producer_waiting;		 /* wants a doorbell when room appears */
	/* written by the consumer */
	_Alignas(RING_CACHE_LINE) uint64_t head; /* bytes ever consumed */
	uint32_t consumer_sleeping;		 /* wants a doorbell when a record appears */
	/* written by whoever made the ring */
	_Alignas(RING_CACHE_LINE) uint32_t closed;
};

/* One side's private view of a record: the other side can change the shared header at any time, so
 * it is read and written exactly once. */
struct ring_record {
	uint32_t
		byte_count; /* of the body; the record occupies 16 + byte_count, rounded up to 16 */
	uint16_t kind;	    /* not RING_RECORD_FILLER */
	uint16_t port;	    /* the user's: 1-based port of the adapter, or 0 */
	uint32_t packet_count; /* the user's: packets of a train */
	uint32_t word;	       /* the user's */
	uint8_t *body; /* in the ring, on a 16-byte boundary; a consumer must expect it to change
			  under its eyes */
};

struct ring_producer {
	struct ring_shared *shared;
	uint8_t *data;
	uint64_t data_bytes;
	uint64_t tail;	    /* reserved and committed so far */
	uint64_t published; /* what the consumer has been shown */
	uint64_t head_seen;
	struct ring_record reserved;
	bool is_corrupt;
};

struct ring_consumer {
	struct ring_shared *shared;
	uint8_t *data;
	uint64_t data_bytes;
	uint64_t head;
	uint64_t released;
	uint64_t tail_seen;
	struct ring_record current;
	bool is_corrupt;
};

/* Memory for a ring of data_bytes (a power of two, at least 4096). */
size_t ring_shared_bytes(size_t data_bytes);
void ring_shared_init(void *memory);
void ring_producer_init(struct ring_producer *producer, void *memory, size_t data_bytes);
void ring_consumer_init(struct ring_consumer *consumer, void *memory, size_t data_bytes);

/* The largest body that every ring of this size can take. */
static inline uint32_t ring_body_bytes_max(uint64_t data_bytes)
{
	return (uint32_t)(data_bytes / 2 - RING_ALIGNMENT);
}

/* What a body of byte_count occupies. */
static inline uint64_t ring_record_bytes(uint32_t byte_count)
{
	return RING_ALIGNMENT +
	       (((uint64_t)byte_count + RING_ALIGNMENT - 1) & ~(uint64_t)(RING_ALIGNMENT - 1));
}

/* Free bytes, as the consumer last said; the end of the ring may cost up to one record of them. */
uint64_t ring_room(struct ring_producer *producer);
/* The same from what is known already, if that is at least byte_count. */
uint64_t ring_room_at_least(struct ring_producer *producer, uint64_t byte_count);

/* Room for a body of up to byte_count (at most ring_body_bytes_max); NULL when the ring is full (or
 * corrupt). */
MUST_USE struct ring_record *ring_reserve(struct ring_producer *producer, uint32_t byte_count);
/* The reserved record is complete; its byte_count is set and not above what was reserved. */
void ring_commit(struct ring_producer *producer, struct ring_record *record);
/* Shows committed records to the consumer. Returns true if it sleeps and wants a doorbell (said
 * once per sleep). */
MUST_USE bool ring_publish(struct ring_producer *producer);
/* Asks for a doorbell when there is room; returns true if there is room after all. Publish first.
 */
MUST_USE bool ring_wait_for_room(struct ring_producer *producer, uint32_t byte_count);

/* The next record (fillers skipped), validated; NULL when there is none or the ring is corrupt. The
 * record is valid until the next call, its body until ring_release. */
const struct ring_record *ring_next(struct ring_consumer *consumer);
/* Position of the producer as seen now: ring_next_until stops there. */
uint64_t ring_snapshot(struct ring_consumer *consumer);
const struct ring_record *ring_next_until(struct ring_consumer *consumer, uint64_t snapshot);
/* Gives consumed records' room back. Returns true if the producer waits and wants a doorbell. */
MUST_USE bool ring_release(struct ring_consumer *consumer);
/* Says that the consumer sleeps; returns true if something came in between (then it does not). */
MUST_USE bool ring_sleep(struct ring_consumer *consumer);
void ring_wake(struct ring_consumer *consumer);
bool ring_is_empty(const struct ring_consumer *consumer);

static inline bool ring_is_closed(const struct ring_shared *shared)
{
	return __atomic_load_n(&shared->closed, __ATOMIC_ACQUIRE) != 0;
}

#endif
