/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of records in memory that two processes share: one produces, one consumes, and neither
 * trusts the other.
 *
 * Records are contiguous, begin on 16-byte boundaries and never wrap (a filler record covers the
 * end). Each side keeps its own copy of every value that it decides by. It checks what it reads
 * from the shared part before use, and an impossible value marks the ring corrupt for good.
 *
 * A plain ring shows records by its tail, a whole batch at once. A stamped ring shows each record
 * by a stamp in the record's first word, and each record starts a cache line: a small record
 * crosses from core to core in one line. A stamp depends on the position and on a seed that the
 * maker of the ring draws. So old bytes at that place, which may be any payload, never read as a
 * stamp.
 */
#ifndef SOFTIB_BASE_RING_H
#define SOFTIB_BASE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/cache_line.h"

enum {
	RING_ALIGNMENT = 16,
	RING_CACHE_LINE = 64,
	RING_STAMPED_HEADER_BYTES = 24,
	RING_RECORD_FILLER = 0,
	RING_RECORD_PAYLOAD = 0xffff, /* base/ring_payloads.h */
	RING_LINES_AHEAD = 4,
};

/* Other forms of a stamp: these bits are flipped in it. The bits are equal in all stamps of a ring,
 * since positions are multiples of 16. */
enum {
	RING_FORM_SHORT_PAYLOAD = 2,
	RING_FORM_LONG_PAYLOAD = 6,
	RING_FORM_LINES_PAYLOAD = 8,
	RING_FORM_EMPTY = 4, /* the rest of the cache line is empty */
	RING_FORM_MASK = 14,
};

/* The shared part; the data follows, of a power-of-two size. */
struct ring_shared {
	/* written by the producer */
	_Alignas(RING_CACHE_LINE) uint64_t tail; /* bytes ever produced */
	uint32_t producer_waiting;		 /* wants a doorbell when room appears */
	/* written by the consumer */
	_Alignas(RING_CACHE_LINE) uint64_t head; /* bytes ever consumed */
	uint32_t consumer_sleeping;		 /* wants a doorbell when a record appears */
	uint32_t consumer_fences; /* the consumer executes the fence for both sides when it goes to
				     sleep: see ring_sleep_begin */
	/* written by the maker of the ring */
	_Alignas(RING_CACHE_LINE) uint32_t closed;
	uint64_t stamp_seed; /* 0: a plain ring */
};

/* One side's private view of a record. The other side can change the shared header at any time, so
 * the header is read and written exactly once. */
struct ring_record {
	uint32_t byte_count; /* of the body; ring_record_bytes has the size of the record */
	uint16_t kind;	     /* not RING_RECORD_FILLER; RING_RECORD_PAYLOAD: base/ring_payloads.h */
	uint16_t port;	     /* the user's: 1-based port of the adapter, or 0 */
	uint32_t packet_count; /* the user's: packets of a train */
	uint32_t word;	       /* the user's */
	uint8_t *body; /* in the ring, on a 16-byte boundary (8 in a stamped ring); the producer may
			  change it while the consumer reads */
};

struct ring_producer {
	struct ring_shared *shared;
	uint8_t *data;
	uint64_t data_bytes;
	uint64_t tail;	    /* reserved and committed so far */
	uint64_t published; /* shown to the consumer */
	uint64_t head_seen;
	uint64_t stamp_seed; /* 0: plain */
	struct ring_record reserved;
	bool is_corrupt;
	bool is_fenced; /* set by the owner: fences of consumers with consumer_fences cover this
			   process */
};

struct ring_consumer {
	struct ring_shared *shared;
	uint8_t *data;
	uint64_t data_bytes;
	uint64_t head;
	uint64_t released;
	uint64_t tail_seen;
	uint64_t stamp_seed;	  /* 0: plain */
	const uint64_t *stamp_at; /* of the next record */
	uint64_t stamp;		  /* its expected value */
	struct ring_record current;
	bool is_corrupt;
};

/* Memory for a ring of data_bytes (a power of two, at least 4096). */
size_t ring_shared_bytes(size_t data_bytes);
void ring_shared_init(void *memory);
/* Makes a stamped ring. The data must be zero; the seed must not be predictable. */
void ring_shared_init_stamped(void *memory, uint64_t seed);
void ring_producer_init(struct ring_producer *producer, void *memory, size_t data_bytes);
void ring_consumer_init(struct ring_consumer *consumer, void *memory, size_t data_bytes);

/* The largest body that every ring of this size can take. */
static inline uint32_t ring_body_bytes_max(uint64_t data_bytes)
{
	return (uint32_t)(data_bytes / 2 - RING_CACHE_LINE);
}

/* The size of a record with a body of byte_count bytes, in a plain ring and in a stamped one. */
static inline uint64_t ring_record_bytes(uint32_t byte_count)
{
	return RING_ALIGNMENT +
	       (((uint64_t)byte_count + RING_ALIGNMENT - 1) & ~(uint64_t)(RING_ALIGNMENT - 1));
}

static inline uint64_t ring_stamped_bytes(uint32_t byte_count)
{
	return ((uint64_t)RING_STAMPED_HEADER_BYTES + byte_count + RING_CACHE_LINE - 1) &
	       ~(uint64_t)(RING_CACHE_LINE - 1);
}

/* The first header word of a record in a stamped ring: all fields but packet_count and word. */
static inline uint64_t ring_sizes(uint32_t byte_count, uint16_t kind, uint16_t port)
{
	return byte_count | (uint64_t)kind << 32 | (uint64_t)port << 48;
}

/* Odd for every position, so that zeroed memory never reads as a stamp. */
static inline uint64_t ring_stamp(uint64_t seed, uint64_t position)
{
	return seed ^ position * 0x9e3779b97f4a7c15u;
}

/* Free bytes by the consumer's last report; the end of the ring may cost up to one record of them.
 */
uint64_t ring_room(struct ring_producer *producer);
/* ring_room without reading the consumer's position, if at least byte_count bytes are known to be
 * free. */
uint64_t ring_room_at_least(struct ring_producer *producer, uint64_t byte_count);

/* Reserves a body of up to byte_count bytes (at most ring_body_bytes_max); NULL: the ring is full
 * or corrupt. */
MUST_USE struct ring_record *ring_reserve(struct ring_producer *producer, uint32_t byte_count);
/* The reserved record is complete; its byte_count is set and not above the reserved size. */
void ring_commit(struct ring_producer *producer, struct ring_record *record);
/* Shows committed records to the consumer. Returns true if the consumer sleeps and wants a doorbell
 * (once per sleep). */
MUST_USE bool ring_publish(struct ring_producer *producer);
/* Asks for a doorbell when there is room; returns true if there is room after all. Publish first.
 */
MUST_USE bool ring_wait_for_room(struct ring_producer *producer, uint32_t byte_count);

/* The next record (fillers skipped), validated; NULL when there is none or the ring is corrupt. The
 * record is valid until the next call, its body until ring_release. */
const struct ring_record *ring_next(struct ring_consumer *consumer);
/* The position at which the last read record begins. */
uint64_t ring_position(const struct ring_consumer *consumer);
/* Puts the last read record back: it is the next one again. Nothing may have been released since it
 * was read. */
void ring_put_back(struct ring_consumer *consumer);
/* The current position of a plain ring's producer: ring_next_until stops there. */
uint64_t ring_snapshot(struct ring_consumer *consumer);
const struct ring_record *ring_next_until(struct ring_consumer *consumer, uint64_t snapshot);
/* Gives the room of consumed records back. Returns true if the producer waits and wants a doorbell.
 */
MUST_USE bool ring_release(struct ring_consumer *consumer);
/* Marks the consumer as sleeping; true: a record came in between, and the consumer does not sleep.
 */
MUST_USE bool ring_sleep(struct ring_consumer *consumer);
/* ring_sleep in two steps, for a consumer that executes a process fence in between. The producer of
 * a stamped ring then needs no fence between its stores and the check whether to ring. */
void ring_sleep_begin(struct ring_consumer *consumer);
MUST_USE bool ring_sleep_end(struct ring_consumer *consumer);
void ring_wake(struct ring_consumer *consumer);
bool ring_is_empty(const struct ring_consumer *consumer);

/* Whether so many bytes fit at the tail of a stamped ring: before its end, and into the room that
 * is known. */
static inline bool ring_fits(const struct ring_producer *producer, uint64_t byte_count)
{
	uint64_t offset = producer->tail & (producer->data_bytes - 1);

	return !producer->is_corrupt && byte_count <= producer->data_bytes - offset &&
	       producer->tail + byte_count - producer->head_seen <= producer->data_bytes;
}

/* Whether so many bytes may lie at the head of a stamped ring: before its end, and within the room
 * that was released. */
static inline bool ring_may_hold(const struct ring_consumer *consumer, uint64_t byte_count)
{
	uint64_t offset = consumer->head & (consumer->data_bytes - 1);

	return byte_count <= consumer->data_bytes - offset &&
	       consumer->head + byte_count - consumer->released <= consumer->data_bytes;
}

/* ring_reserve for a stamped ring, inlined: where the body of the next record begins, if it fits
 * before the end of the ring and into the room that is known; NULL: use ring_reserve. */
static inline uint8_t *ring_reserve_stamped(struct ring_producer *producer, uint32_t byte_count)
{
	uint64_t offset = producer->tail & (producer->data_bytes - 1);

	if (unlikely(offset % RING_CACHE_LINE ||
		     !ring_fits(producer, ring_stamped_bytes(byte_count))))
		return NULL;
	return producer->data + offset + RING_STAMPED_HEADER_BYTES;
}

/* Prefetches a line that the consumer's core has from the last lap. Not the next line, which the
 * consumer may be polling. */
static inline void ring_want_ahead(const struct ring_producer *producer)
{
	cache_line_want(producer->data + ((producer->tail + RING_LINES_AHEAD * RING_CACHE_LINE) &
					  (producer->data_bytes - 1)));
}

/* The record at the tail, reserved in either way, is complete. header: where its header lies;
 * sizes: its first word. */
static inline void ring_commit_stamped_at(struct ring_producer *producer, uint64_t *header,
					  uint64_t sizes, uint32_t packet_count)
{
	const uint64_t tail = producer->tail;

	__atomic_store_n(&header[1], sizes, __ATOMIC_RELAXED);
	__atomic_store_n(&header[2], packet_count, __ATOMIC_RELAXED);
	__atomic_store_n(&header[0], ring_stamp(producer->stamp_seed, tail), __ATOMIC_RELEASE);
	producer->tail = tail + ring_stamped_bytes((uint32_t)sizes);
	producer->published = producer->tail;
	ring_want_ahead(producer);
}

static inline void ring_commit_stamped(struct ring_producer *producer, uint32_t byte_count,
				       uint16_t kind, uint16_t port, uint32_t packet_count)
{
	uint64_t *header =
		(uint64_t *)(producer->data + (producer->tail & (producer->data_bytes - 1)));

	ring_commit_stamped_at(producer, header, ring_sizes(byte_count, kind, port), packet_count);
}

/* A record will be written soon: prefetches its line. */
static inline void ring_want(const struct ring_producer *producer)
{
	cache_line_want(producer->data + (producer->tail & (producer->data_bytes - 1)));
}

/* Computes place and value of the next stamp of a stamped ring. */
static inline void ring_expect_stamp(struct ring_consumer *consumer)
{
	uint64_t offset = consumer->head & (consumer->data_bytes - 1);

	consumer->stamp_at = (const uint64_t *)(consumer->data + offset);
	consumer->stamp = ring_stamp(consumer->stamp_seed, consumer->head);
}

/* Whether a stamped ring has a record, or an empty rest of a line (RING_FORM_EMPTY) before one. One
 * load. */
static inline bool ring_has_stamped(const struct ring_consumer *consumer)
{
	uint64_t difference =
		__atomic_load_n(consumer->stamp_at, __ATOMIC_ACQUIRE) ^ consumer->stamp;

	return !(difference & ~(uint64_t)RING_FORM_MASK);
}

/* Whether the kind is none of the two that the ring itself uses. */
static inline bool ring_kind_is_plain(uint16_t kind)
{
	return (uint16_t)(kind - 1) < RING_RECORD_PAYLOAD - 1;
}

/* ring_next for a stamped ring, inlined except for rare cases. */
static inline const struct ring_record *ring_next_stamped(struct ring_consumer *consumer)
{
	const uint64_t *header = consumer->stamp_at;
	uint64_t form = __atomic_load_n(header, __ATOMIC_ACQUIRE) ^ consumer->stamp;

	if (form)
		return likely(form & ~(uint64_t)RING_FORM_MASK) ? NULL : ring_next(consumer);

	uint64_t sizes = __atomic_load_n(&header[1], __ATOMIC_RELAXED);
	uint64_t offset = consumer->head & (consumer->data_bytes - 1);
	uint64_t record_bytes = ring_stamped_bytes((uint32_t)sizes);

	if (unlikely(consumer->is_corrupt || offset % RING_CACHE_LINE ||
		     !ring_kind_is_plain((uint16_t)(sizes >> 32)) ||
		     !ring_may_hold(consumer, record_bytes)))
		return ring_next(consumer);

	/* Read only after the checks: in the middle of the last line this word would lie behind the
	 * ring. */
	uint64_t users = __atomic_load_n(&header[2], __ATOMIC_RELAXED);

	consumer->current = (struct ring_record){
		.byte_count = (uint32_t)sizes,
		.kind = (uint16_t)(sizes >> 32),
		.port = (uint16_t)(sizes >> 48),
		.packet_count = (uint32_t)users,
		.word = (uint32_t)(users >> 32),
		.body = consumer->data + offset + RING_STAMPED_HEADER_BYTES,
	};
	consumer->head += record_bytes;
	ring_expect_stamp(consumer);
	/* Fetches the next stamp while this record is processed. */
	__builtin_prefetch(consumer->stamp_at);
	return &consumer->current;
}

/* The body of the next record of a stamped ring, if that is one packet of this kind, without a
 * word; NULL: use ring_next_stamped. Does not take the record. ret_sizes: ring_sizes of it. */
static inline const uint8_t *ring_peek_single(const struct ring_consumer *consumer, uint16_t kind,
					      uint64_t *ret_sizes)
{
	const uint64_t *header = consumer->stamp_at;

	if (unlikely(__atomic_load_n(header, __ATOMIC_ACQUIRE) != consumer->stamp ||
		     consumer->is_corrupt || consumer->head % RING_CACHE_LINE))
		return NULL;
	*ret_sizes = __atomic_load_n(&header[1], __ATOMIC_RELAXED);
	if (unlikely((uint16_t)(*ret_sizes >> 32) != kind ||
		     __atomic_load_n(&header[2], __ATOMIC_RELAXED) != 1 ||
		     !ring_may_hold(consumer, ring_stamped_bytes((uint32_t)*ret_sizes))))
		return NULL;
	return (const uint8_t *)header + RING_STAMPED_HEADER_BYTES;
}

/* Takes the record that ring_peek_single found. */
static inline void ring_take_single(struct ring_consumer *consumer, uint64_t sizes)
{
	consumer->head += ring_stamped_bytes((uint32_t)sizes);
	ring_expect_stamp(consumer);
	__builtin_prefetch(consumer->stamp_at);
}

/* Whether the consumer of a stamped ring sleeps and wants a doorbell (true once per sleep). The
 * flag must be read after the stamps were stored. If the consumer executes the fence for both sides
 * before it checks the stamps, the producer needs only a compiler barrier. */
MUST_USE static inline bool ring_announce(struct ring_producer *producer)
{
	struct ring_shared *shared = producer->shared;

	if (likely(producer->is_fenced &&
		   __atomic_load_n(&shared->consumer_fences, __ATOMIC_RELAXED)))
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (likely(!__atomic_load_n(&shared->consumer_sleeping, __ATOMIC_RELAXED)))
		return false;
	return __atomic_exchange_n(&shared->consumer_sleeping, 0, __ATOMIC_SEQ_CST) != 0;
}

static inline bool ring_is_closed(const struct ring_shared *shared)
{
	return __atomic_load_n(&shared->closed, __ATOMIC_ACQUIRE) != 0;
}

#endif
