/* SPDX-License-Identifier: Apache-2.0 */
/* The ring between two parties that do not trust each other: see ring.h. */
#include "base/ring.h"

#include <string.h>

_Static_assert(sizeof(struct ring_shared) == 3 * RING_CACHE_LINE,
	       "three lines: producer, consumer, maker");

/* A record's header as it lies in the ring: two words, each loaded and stored whole. */
struct ring_header {
	uint64_t sizes; /* byte_count, kind << 32, port << 48 */
	uint64_t users; /* packet_count, word << 32 */
};

_Static_assert(sizeof(struct ring_header) == RING_ALIGNMENT,
	       "a filler may be as small as a header");

/* The same in a stamped ring. The stamp is written last and read first. */
struct ring_stamped_header {
	uint64_t stamp;
	struct ring_header header;
};

_Static_assert(sizeof(struct ring_stamped_header) == RING_STAMPED_HEADER_BYTES,
	       "as the header file says");

size_t ring_shared_bytes(size_t data_bytes)
{
	return sizeof(struct ring_shared) + data_bytes;
}

void ring_shared_init(void *memory)
{
	memset(memory, 0, sizeof(struct ring_shared));
}

void ring_shared_init_stamped(void *memory, uint64_t seed)
{
	struct ring_shared *shared = memory;

	ring_shared_init(memory);
	shared->stamp_seed = seed | 1;
}

void ring_producer_init(struct ring_producer *producer, void *memory, size_t data_bytes)
{
	assert(data_bytes >= 4096 && (data_bytes & (data_bytes - 1)) == 0);
	*producer = (struct ring_producer){
		.shared = memory,
		.data = (uint8_t *)memory + sizeof(struct ring_shared),
		.data_bytes = data_bytes,
		.stamp_seed = ((struct ring_shared *)memory)->stamp_seed,
	};
}

void ring_consumer_init(struct ring_consumer *consumer, void *memory, size_t data_bytes)
{
	assert(data_bytes >= 4096 && (data_bytes & (data_bytes - 1)) == 0);
	*consumer = (struct ring_consumer){
		.shared = memory,
		.data = (uint8_t *)memory + sizeof(struct ring_shared),
		.data_bytes = data_bytes,
		.stamp_seed = ((struct ring_shared *)memory)->stamp_seed,
	};
	ring_expect_stamp(consumer);
}

static void store_header(uint8_t *at, const struct ring_record *record)
{
	struct ring_header *header = (struct ring_header *)at;
	uint64_t sizes =
		record->byte_count | (uint64_t)record->kind << 32 | (uint64_t)record->port << 48;

	__atomic_store_n(&header->sizes, sizes, __ATOMIC_RELAXED);
	__atomic_store_n(&header->users, record->packet_count | (uint64_t)record->word << 32,
			 __ATOMIC_RELAXED);
}

static void load_header(uint8_t *at, struct ring_record *ret_record)
{
	struct ring_header *header = (struct ring_header *)at;
	uint64_t sizes = __atomic_load_n(&header->sizes, __ATOMIC_RELAXED);
	uint64_t users = __atomic_load_n(&header->users, __ATOMIC_RELAXED);

	ret_record->byte_count = (uint32_t)sizes;
	ret_record->kind = (uint16_t)(sizes >> 32);
	ret_record->port = (uint16_t)(sizes >> 48);
	ret_record->packet_count = (uint32_t)users;
	ret_record->word = (uint32_t)(users >> 32);
	ret_record->body = at + sizeof(*header);
}

/* The consumer may only move its head forward, and not past what it was shown. */
static void look_at_head(struct ring_producer *producer, int order)
{
	uint64_t head = order == __ATOMIC_SEQ_CST
				? __atomic_load_n(&producer->shared->head, __ATOMIC_SEQ_CST)
				: __atomic_load_n(&producer->shared->head, __ATOMIC_ACQUIRE);

	if (unlikely(head - producer->head_seen > producer->published - producer->head_seen ||
		     head % RING_ALIGNMENT)) {
		producer->is_corrupt = true;
		return;
	}
	producer->head_seen = head;
}

static uint64_t room_seen(const struct ring_producer *producer)
{
	return producer->data_bytes - (producer->tail - producer->head_seen);
}

uint64_t ring_room_at_least(struct ring_producer *producer, uint64_t byte_count)
{
	/* The consumer's cache line is only looked at when what is known does not do. */
	if (!producer->is_corrupt && room_seen(producer) >= byte_count)
		return room_seen(producer);
	return ring_room(producer);
}

static uint64_t bytes_of(uint64_t stamp_seed, uint32_t byte_count)
{
	return stamp_seed ? ring_stamped_bytes(byte_count) : ring_record_bytes(byte_count);
}

/* What a record of that many bytes needs at the current tail: itself, and the end of the ring where
 * it does not fit there. */
static uint64_t bytes_needed(const struct ring_producer *producer, uint64_t record_bytes)
{
	uint64_t to_end = producer->data_bytes - (producer->tail & (producer->data_bytes - 1));

	return record_bytes > to_end ? to_end + record_bytes : record_bytes;
}

uint64_t ring_room(struct ring_producer *producer)
{
	if (producer->is_corrupt)
		return 0;
	look_at_head(producer, __ATOMIC_ACQUIRE);
	return producer->is_corrupt ? 0 : room_seen(producer);
}

static uint8_t *at_tail(const struct ring_producer *producer)
{
	return producer->data + (producer->tail & (producer->data_bytes - 1));
}

static uint64_t header_bytes(const struct ring_producer *producer)
{
	return producer->stamp_seed ? sizeof(struct ring_stamped_header)
				    : sizeof(struct ring_header);
}

/* The header of the record at the tail is complete. */
static void show_stamped(struct ring_producer *producer, uint64_t record_bytes)
{
	struct ring_stamped_header *header = (struct ring_stamped_header *)at_tail(producer);

	__atomic_store_n(&header->stamp, ring_stamp(producer->stamp_seed, producer->tail),
			 __ATOMIC_RELEASE);
	producer->tail += record_bytes;
	producer->published = producer->tail;
}

static void fill_to_end(struct ring_producer *producer, uint64_t byte_count)
{
	const struct ring_record filler = {
		.byte_count = (uint32_t)(byte_count - header_bytes(producer)),
		.kind = RING_RECORD_FILLER,
	};

	store_header(at_tail(producer) + header_bytes(producer) - sizeof(struct ring_header),
		     &filler);
	if (producer->stamp_seed)
		show_stamped(producer, byte_count);
	else
		producer->tail += byte_count;
}

struct ring_record *ring_reserve(struct ring_producer *producer, uint32_t byte_count)
{
	uint64_t record_bytes = bytes_of(producer->stamp_seed, byte_count);
	uint64_t needed = bytes_needed(producer, record_bytes);

	if (unlikely(producer->is_corrupt ||
		     byte_count > ring_body_bytes_max(producer->data_bytes)))
		return NULL;
	if (needed > room_seen(producer)) {
		look_at_head(producer, __ATOMIC_ACQUIRE);
		if (producer->is_corrupt || needed > room_seen(producer))
			return NULL;
	}

	if (unlikely(needed != record_bytes))
		fill_to_end(producer, needed - record_bytes);
	producer->reserved = (struct ring_record){
		.byte_count = byte_count,
		.body = at_tail(producer) + header_bytes(producer),
	};
	return &producer->reserved;
}

void ring_commit(struct ring_producer *producer, struct ring_record *record)
{
	debug_assert(record == &producer->reserved);
	debug_assert(record->kind != RING_RECORD_FILLER);
	store_header(record->body - sizeof(struct ring_header), record);
	if (producer->stamp_seed) {
		show_stamped(producer, ring_stamped_bytes(record->byte_count));
		return;
	}
	producer->tail += ring_record_bytes(record->byte_count);
}

/* Both doorbell words work the same way: the flag is looked at after the position was stored, the
 * waiter looks at the position after it set the flag. All four accesses are sequentially
 * consistent, so one of the two sees the other. */
static bool take_flag(uint32_t *flag)
{
	if (likely(!__atomic_load_n(flag, __ATOMIC_SEQ_CST)))
		return false;
	return __atomic_exchange_n(flag, 0, __ATOMIC_SEQ_CST) != 0;
}

bool ring_publish(struct ring_producer *producer)
{
	if (producer->stamp_seed)
		return ring_announce(producer);
	if (producer->published == producer->tail)
		return false;
	producer->published = producer->tail;
	__atomic_store_n(&producer->shared->tail, producer->tail, __ATOMIC_SEQ_CST);
	return take_flag(&producer->shared->consumer_sleeping);
}

bool ring_wait_for_room(struct ring_producer *producer, uint32_t byte_count)
{
	if (producer->is_corrupt)
		return false;
	__atomic_store_n(&producer->shared->producer_waiting, 1, __ATOMIC_SEQ_CST);
	look_at_head(producer, __ATOMIC_SEQ_CST);
	if (producer->is_corrupt ||
	    bytes_needed(producer, bytes_of(producer->stamp_seed, byte_count)) >
		    room_seen(producer))
		return false;
	__atomic_store_n(&producer->shared->producer_waiting, 0, __ATOMIC_SEQ_CST);
	return true;
}

/* The producer may only move its tail forward, and not over what was not released yet. */
static void look_at_tail(struct ring_consumer *consumer)
{
	uint64_t tail = __atomic_load_n(&consumer->shared->tail, __ATOMIC_ACQUIRE);

	if (likely(tail == consumer->tail_seen))
		return;
	if (unlikely(tail - consumer->tail_seen > consumer->data_bytes ||
		     tail - consumer->released > consumer->data_bytes || tail % RING_ALIGNMENT)) {
		consumer->is_corrupt = true;
		return;
	}
	consumer->tail_seen = tail;
}

/* Loops over fillers only; each step is at least a header, so it ends at tail_seen. */
static const struct ring_record *next_before(struct ring_consumer *consumer, uint64_t end)
{
	while (consumer->head != end) {
		uint64_t offset = consumer->head & (consumer->data_bytes - 1);

		load_header(consumer->data + offset, &consumer->current);

		uint64_t record_bytes = ring_record_bytes(consumer->current.byte_count);

		if (unlikely(record_bytes > end - consumer->head ||
			     record_bytes > consumer->data_bytes - offset)) {
			consumer->is_corrupt = true;
			return NULL;
		}
		consumer->head += record_bytes;
		if (consumer->current.kind != RING_RECORD_FILLER)
			return &consumer->current;
	}
	return NULL;
}

/* Loops over fillers only, of which there is one per lap. */
static const struct ring_record *next_stamped(struct ring_consumer *consumer)
{
	while (ring_has_stamped(consumer)) {
		uint64_t offset = consumer->head & (consumer->data_bytes - 1);

		load_header(consumer->data + offset + offsetof(struct ring_stamped_header, header),
			    &consumer->current);

		uint64_t record_bytes = ring_stamped_bytes(consumer->current.byte_count);

		if (unlikely(record_bytes > consumer->data_bytes - offset ||
			     consumer->head + record_bytes - consumer->released >
				     consumer->data_bytes)) {
			consumer->is_corrupt = true;
			return NULL;
		}
		consumer->head += record_bytes;
		ring_expect_stamp(consumer);
		if (likely(consumer->current.kind != RING_RECORD_FILLER))
			return &consumer->current;
	}
	return NULL;
}

const struct ring_record *ring_next(struct ring_consumer *consumer)
{
	if (consumer->is_corrupt)
		return NULL;
	if (consumer->stamp_seed)
		return next_stamped(consumer);
	if (consumer->head == consumer->tail_seen)
		look_at_tail(consumer);
	return consumer->is_corrupt ? NULL : next_before(consumer, consumer->tail_seen);
}

uint64_t ring_position(const struct ring_consumer *consumer)
{
	return consumer->head - bytes_of(consumer->stamp_seed, consumer->current.byte_count);
}

void ring_put_back(struct ring_consumer *consumer)
{
	consumer->head = ring_position(consumer);
	if (consumer->stamp_seed)
		ring_expect_stamp(consumer);
}

uint64_t ring_snapshot(struct ring_consumer *consumer)
{
	debug_assert(!consumer->stamp_seed);
	if (!consumer->is_corrupt)
		look_at_tail(consumer);
	return consumer->is_corrupt ? consumer->head : consumer->tail_seen;
}

const struct ring_record *ring_next_until(struct ring_consumer *consumer, uint64_t snapshot)
{
	/* A snapshot is a place between records, at or before tail_seen; a later one than the head
	 * was read past already. */
	if (consumer->is_corrupt ||
	    consumer->tail_seen - snapshot > consumer->tail_seen - consumer->head)
		return NULL;
	return next_before(consumer, snapshot);
}

bool ring_release(struct ring_consumer *consumer)
{
	if (consumer->released == consumer->head)
		return false;
	consumer->released = consumer->head;
	__atomic_store_n(&consumer->shared->head, consumer->head, __ATOMIC_SEQ_CST);
	return take_flag(&consumer->shared->producer_waiting);
}

void ring_sleep_begin(struct ring_consumer *consumer)
{
	__atomic_store_n(&consumer->shared->consumer_sleeping, 1, __ATOMIC_SEQ_CST);
}

bool ring_sleep_end(struct ring_consumer *consumer)
{
	if (ring_is_empty(consumer))
		return false;
	ring_wake(consumer);
	return true;
}

bool ring_sleep(struct ring_consumer *consumer)
{
	ring_sleep_begin(consumer);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return ring_sleep_end(consumer);
}

void ring_wake(struct ring_consumer *consumer)
{
	if (__atomic_load_n(&consumer->shared->consumer_sleeping, __ATOMIC_RELAXED))
		__atomic_store_n(&consumer->shared->consumer_sleeping, 0, __ATOMIC_SEQ_CST);
}

bool ring_is_empty(const struct ring_consumer *consumer)
{
	if (consumer->is_corrupt)
		return true;
	if (consumer->stamp_seed)
		return !ring_has_stamped(consumer);
	/* One of the four that take_flag speaks of: a sleeper asks this after it said that it
	 * sleeps. */
	return __atomic_load_n(&consumer->shared->tail, __ATOMIC_SEQ_CST) == consumer->head;
}
