/* SPDX-License-Identifier: Apache-2.0 */
/* The ring's consumer: see ring.h. */
#include <string.h>
#include "base/ring_layout.h"
#include "base/ring_payloads.h"

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

/* The producer may only move its tail forward, and not over records that were not released yet. */
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

/* Loops over fillers only; each step is at least a header, so the loop ends at tail_seen. */
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

/* Moves the head over so many bytes; false: the producer wrote an impossible size. */
static bool pass_stamped(struct ring_consumer *consumer, uint64_t byte_count)
{
	if (unlikely(!ring_may_hold(consumer, byte_count))) {
		consumer->is_corrupt = true;
		return false;
	}
	consumer->head += byte_count;
	ring_expect_stamp(consumer);
	return true;
}

/* The size of the payload record's body at the head; 0: not a valid payload record. */
static uint32_t payload_body_bytes(const uint8_t *at, uint64_t form, uint64_t rest_of_line)
{
	const uint64_t lines_bytes_max = ring_payload_bytes(RING_PAYLOAD_BYTES_MAX);
	uint64_t lines_bytes;

	if (form == RING_FORM_SHORT_PAYLOAD)
		return RING_PAYLOAD_SHORT_BYTES;
	if (form == RING_FORM_LONG_PAYLOAD)
		return RING_PAYLOAD_LONG_BYTES;
	if (form != RING_FORM_LINES_PAYLOAD || rest_of_line)
		return 0;
	lines_bytes = ((const volatile uint64_t *)at)[1];
	if (!lines_bytes || lines_bytes % RING_CACHE_LINE || lines_bytes > lines_bytes_max)
		return 0;
	return (uint32_t)lines_bytes - ring_payload_header_bytes(RING_PAYLOAD_BYTES_MAX);
}

static const struct ring_record *pass_payload(struct ring_consumer *consumer, uint8_t *at,
					      uint32_t byte_count)
{
	consumer->is_corrupt |= !byte_count;
	if (!byte_count || !pass_stamped(consumer, ring_payload_bytes(byte_count)))
		return NULL;
	consumer->current = (struct ring_record){
		.byte_count = byte_count,
		.kind = RING_RECORD_PAYLOAD,
		.body = at + ring_payload_header_bytes(byte_count),
	};
	return &consumer->current;
}

/* Loops over empty space only: rests of lines, at most one per record, and the end of the ring. */
static const struct ring_record *next_stamped(struct ring_consumer *consumer)
{
	struct ring_record *current = &consumer->current;

	while (ring_has_stamped(consumer)) {
		uint8_t *at = consumer->data + (consumer->head & (consumer->data_bytes - 1));
		uint64_t form = *(const volatile uint64_t *)at ^ consumer->stamp;
		uint64_t rest = -consumer->head & (RING_CACHE_LINE - 1);

		if (form == RING_FORM_EMPTY) {
			consumer->is_corrupt |= !rest;
			if (!rest || !pass_stamped(consumer, rest))
				return NULL;
			continue;
		}
		if (form)
			return pass_payload(consumer, at, payload_body_bytes(at, form, rest));
		/* In the middle of the last line a header would reach beyond the ring. */
		if (likely(!rest))
			load_header(at + offsetof(struct ring_stamped_header, header), current);
		if (unlikely(rest || current->kind == RING_RECORD_PAYLOAD)) {
			consumer->is_corrupt = true;
			return NULL;
		}
		if (!pass_stamped(consumer, ring_stamped_bytes(current->byte_count)))
			return NULL;
		if (likely(current->kind != RING_RECORD_FILLER))
			return current;
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
	const struct ring_record *record = &consumer->current;

	return consumer->head - (record->kind == RING_RECORD_PAYLOAD
					 ? ring_payload_bytes(record->byte_count)
					 : ring_bytes_of(consumer->stamp_seed, record->byte_count));
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
	/* A snapshot lies between records, at or before tail_seen. If the head is past it, there is
	 * nothing to read. */
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
	return ring_take_flag(&consumer->shared->producer_waiting);
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
	/* One of the four accesses in ring_take_flag's comment: a sleeper calls this after it set
	 * its flag. */
	return __atomic_load_n(&consumer->shared->tail, __ATOMIC_SEQ_CST) == consumer->head;
}
