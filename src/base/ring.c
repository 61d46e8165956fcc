/* SPDX-License-Identifier: Apache-2.0 */
/* The ring and its producer: see ring.h. */
#include "base/ring.h"

#include <string.h>
#include "base/ring_layout.h"

_Static_assert(sizeof(struct ring_shared) == 3 * RING_CACHE_LINE,
	       "three lines: producer, consumer, maker");

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

static void store_header(uint8_t *at, const struct ring_record *record)
{
	struct ring_header *header = (struct ring_header *)at;
	uint64_t sizes =
		record->byte_count | (uint64_t)record->kind << 32 | (uint64_t)record->port << 48;

	__atomic_store_n(&header->sizes, sizes, __ATOMIC_RELAXED);
	__atomic_store_n(&header->users, record->packet_count | (uint64_t)record->word << 32,
			 __ATOMIC_RELAXED);
}

/* The consumer may only move its head forward, and not past the published records. */
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

/* Where the next record begins. After payload records of a stamped ring, that is the next cache
 * line. */
static uint64_t next_position(const struct ring_producer *producer)
{
	uint64_t alignment = producer->stamp_seed ? RING_CACHE_LINE : RING_ALIGNMENT;

	return (producer->tail + alignment - 1) & ~(alignment - 1);
}

static uint64_t room_seen(const struct ring_producer *producer)
{
	uint64_t taken = next_position(producer) - producer->head_seen;

	return taken < producer->data_bytes ? producer->data_bytes - taken : 0;
}

uint64_t ring_room_at_least(struct ring_producer *producer, uint64_t byte_count)
{
	/* Reads the consumer's cache line only if the room that is known does not suffice. */
	if (!producer->is_corrupt && room_seen(producer) >= byte_count)
		return room_seen(producer);
	return ring_room(producer);
}

/* The bytes that a record of this size needs at the next position: itself, and the end of the ring
 * if it does not fit there. */
static uint64_t bytes_needed(const struct ring_producer *producer, uint64_t record_bytes)
{
	uint64_t to_end =
		producer->data_bytes - (next_position(producer) & (producer->data_bytes - 1));

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

/* After payload records: marks the rest of the line as empty. */
static void end_line(struct ring_producer *producer)
{
	__atomic_store_n((uint64_t *)at_tail(producer),
			 ring_stamp(producer->stamp_seed, producer->tail) ^ RING_FORM_EMPTY,
			 __ATOMIC_RELEASE);
	producer->tail = next_position(producer);
	producer->published = producer->tail;
}

struct ring_record *ring_reserve(struct ring_producer *producer, uint32_t byte_count)
{
	uint64_t record_bytes = ring_bytes_of(producer->stamp_seed, byte_count);
	uint64_t needed = bytes_needed(producer, record_bytes);

	if (unlikely(producer->is_corrupt ||
		     byte_count > ring_body_bytes_max(producer->data_bytes)))
		return NULL;
	if (needed > room_seen(producer)) {
		look_at_head(producer, __ATOMIC_ACQUIRE);
		if (producer->is_corrupt || needed > room_seen(producer))
			return NULL;
	}

	if (unlikely(next_position(producer) != producer->tail))
		end_line(producer);
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

bool ring_publish(struct ring_producer *producer)
{
	if (producer->stamp_seed)
		return ring_announce(producer);
	if (producer->published == producer->tail)
		return false;
	producer->published = producer->tail;
	__atomic_store_n(&producer->shared->tail, producer->tail, __ATOMIC_SEQ_CST);
	return ring_take_flag(&producer->shared->consumer_sleeping);
}

bool ring_wait_for_room(struct ring_producer *producer, uint32_t byte_count)
{
	if (producer->is_corrupt)
		return false;
	__atomic_store_n(&producer->shared->producer_waiting, 1, __ATOMIC_SEQ_CST);
	look_at_head(producer, __ATOMIC_SEQ_CST);
	if (producer->is_corrupt ||
	    bytes_needed(producer, ring_bytes_of(producer->stamp_seed, byte_count)) >
		    room_seen(producer))
		return false;
	__atomic_store_n(&producer->shared->producer_waiting, 0, __ATOMIC_SEQ_CST);
	return true;
}
