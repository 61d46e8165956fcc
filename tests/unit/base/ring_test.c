/* SPDX-License-Identifier: Apache-2.0 */
/* Rings: order, wrapping, doorbells, and an other side that lies. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "base/ring.h"

enum { DATA_BYTES = 4096, KIND = 7, TORTURE_RECORDS = 200000 };

struct pair {
	uint8_t *memory;
	struct ring_shared *shared;
	struct ring_producer producer;
	struct ring_consumer consumer;
};

static int pair_setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	/* Exactly as large as it is, so that the address sanitizer sees a step outside. */
	pair->memory = aligned_alloc(RING_CACHE_LINE, ring_shared_bytes(DATA_BYTES));
	memset(pair->memory, 0xee, ring_shared_bytes(DATA_BYTES));
	pair->shared = (struct ring_shared *)pair->memory;
	ring_shared_init(pair->memory);
	ring_producer_init(&pair->producer, pair->memory, DATA_BYTES);
	ring_consumer_init(&pair->consumer, pair->memory, DATA_BYTES);
	*state = pair;
	return 0;
}

static int pair_teardown(void **state)
{
	struct pair *pair = *state;

	free(pair->memory);
	free(pair);
	return 0;
}

static bool put(struct ring_producer *producer, uint32_t byte_count, uint8_t fill)
{
	struct ring_record *record = ring_reserve(producer, byte_count);

	if (!record)
		return false;
	record->kind = KIND;
	record->port = 0x0102;
	record->packet_count = 3;
	record->word = fill;
	memset(record->body, fill, byte_count);
	ring_commit(producer, record);
	return true;
}

static void test_record_comes_out_as_it_went_in(void **state)
{
	struct pair *pair = *state;

	assert_true(put(&pair->producer, 33, 0x5a));
	assert_null(ring_next(&pair->consumer));
	assert_false(ring_publish(&pair->producer));

	const struct ring_record *record = ring_next(&pair->consumer);

	assert_non_null(record);
	assert_int_equal(record->byte_count, 33);
	assert_int_equal(record->kind, KIND);
	assert_int_equal(record->port, 0x0102);
	assert_int_equal(record->packet_count, 3);
	assert_int_equal(record->word, 0x5a);
	assert_int_equal((uintptr_t)record->body % RING_ALIGNMENT, 0);
	for (unsigned i = 0; i < 33; i++)
		assert_int_equal(record->body[i], 0x5a);
	assert_null(ring_next(&pair->consumer));
}

static void test_committed_record_may_be_shorter_than_reserved(void **state)
{
	struct pair *pair = *state;
	struct ring_record *record = ring_reserve(&pair->producer, 1000);

	record->kind = KIND;
	record->byte_count = 5;
	ring_commit(&pair->producer, record);
	assert_true(put(&pair->producer, 8, 1));
	assert_false(ring_publish(&pair->producer));
	assert_int_equal(ring_next(&pair->consumer)->byte_count, 5);
	assert_int_equal(ring_next(&pair->consumer)->byte_count, 8);
}

static void test_full_ring_refuses_until_room_is_released(void **state)
{
	struct pair *pair = *state;
	unsigned count = 0;

	while (put(&pair->producer, 112, 0))
		count++;
	assert_int_equal(count, DATA_BYTES / 128);
	assert_int_equal(ring_room(&pair->producer), 0);
	assert_false(ring_publish(&pair->producer));
	assert_non_null(ring_next(&pair->consumer));
	assert_false(put(&pair->producer, 112, 0)); /* read, but not released */
	assert_false(ring_release(&pair->consumer));
	assert_true(put(&pair->producer, 112, 0));
	assert_false(put(&pair->producer, 112, 0));
}

static void test_every_size_wraps_without_loss(void **state)
{
	struct pair *pair = *state;
	uint8_t fill = 0;

	for (uint32_t byte_count = 0; byte_count <= ring_body_bytes_max(DATA_BYTES); byte_count++) {
		for (unsigned i = 0; i < 3; i++) {
			assert_true(put(&pair->producer, byte_count, ++fill));
			assert_false(ring_publish(&pair->producer));

			const struct ring_record *record = ring_next(&pair->consumer);

			assert_non_null(record);
			assert_int_equal(record->byte_count, byte_count);
			for (uint32_t at = 0; at < byte_count; at++)
				assert_int_equal(record->body[at], fill);
			assert_false(ring_release(&pair->consumer));
		}
	}
	assert_null(ring_reserve(&pair->producer, ring_body_bytes_max(DATA_BYTES) + 1));
	assert_false(pair->producer.is_corrupt);
}

static void test_snapshot_stops_the_reader(void **state)
{
	struct pair *pair = *state;

	assert_true(put(&pair->producer, 1, 1));
	assert_false(ring_publish(&pair->producer));

	uint64_t snapshot = ring_snapshot(&pair->consumer);

	assert_true(put(&pair->producer, 1, 2));
	assert_false(ring_publish(&pair->producer));
	assert_int_equal(ring_next_until(&pair->consumer, snapshot)->word, 1);
	assert_null(ring_next_until(&pair->consumer, snapshot));
	assert_int_equal(ring_next(&pair->consumer)->word, 2);
	assert_null(ring_next_until(&pair->consumer, snapshot)); /* behind us by now */
	assert_true(ring_is_empty(&pair->consumer));
}

static void test_sleeping_consumer_gets_one_doorbell(void **state)
{
	struct pair *pair = *state;

	assert_false(ring_sleep(&pair->consumer));
	assert_true(put(&pair->producer, 1, 1));
	assert_true(ring_publish(&pair->producer));
	assert_true(put(&pair->producer, 1, 1));
	assert_false(ring_publish(&pair->producer));
	assert_true(ring_sleep(&pair->consumer)); /* something is there: no sleep */
	assert_int_equal(pair->shared->consumer_sleeping, 0);
	while (ring_next(&pair->consumer))
		;
	assert_false(ring_sleep(&pair->consumer));
	ring_wake(&pair->consumer);
	assert_true(put(&pair->producer, 1, 1));
	assert_false(ring_publish(&pair->producer));
}

static void test_waiting_producer_gets_one_doorbell(void **state)
{
	struct pair *pair = *state;

	while (put(&pair->producer, 1000, 0))
		;
	assert_false(ring_publish(&pair->producer));
	assert_false(ring_wait_for_room(&pair->producer, 1000));
	assert_non_null(ring_next(&pair->consumer));
	assert_true(ring_release(&pair->consumer));
	assert_non_null(ring_next(&pair->consumer));
	assert_false(ring_release(&pair->consumer));
	assert_true(ring_wait_for_room(&pair->producer, 1000));
	assert_int_equal(pair->shared->producer_waiting, 0);
}

static void expect_corrupt_consumer(struct pair *pair)
{
	assert_null(ring_next(&pair->consumer));
	assert_true(pair->consumer.is_corrupt);
	/* For good: a sane value does not bring it back. */
	pair->shared->tail = pair->consumer.head;
	assert_null(ring_next(&pair->consumer));
	assert_true(pair->consumer.is_corrupt);
	assert_true(ring_is_empty(&pair->consumer));
	assert_int_equal(ring_snapshot(&pair->consumer), pair->consumer.head);
}

static void test_absurd_tails_corrupt_the_consumer(void **state)
{
	static const uint64_t tails[] = {
		DATA_BYTES + 16,  8, 1, UINT64_MAX, UINT64_MAX - 15, UINT64_C(1) << 63,
		UINT64_C(1) << 32};

	for (unsigned i = 0; i < ARRAY_COUNT(tails); i++) {
		assert_int_equal(pair_teardown(state), 0);
		assert_int_equal(pair_setup(state), 0);

		struct pair *pair = *state;

		pair->shared->tail = tails[i];
		expect_corrupt_consumer(pair);
	}
}

static void test_tail_that_goes_back_corrupts_the_consumer(void **state)
{
	struct pair *pair = *state;

	assert_true(put(&pair->producer, 100, 0));
	assert_true(put(&pair->producer, 100, 0));
	assert_false(ring_publish(&pair->producer));
	assert_non_null(ring_next(&pair->consumer));
	assert_non_null(ring_next(&pair->consumer));
	pair->shared->tail = 16;
	expect_corrupt_consumer(pair);
}

static void test_absurd_record_sizes_corrupt_the_consumer(void **state)
{
	static const uint32_t sizes[] = {
		UINT32_MAX, UINT32_MAX - 15, UINT32_MAX - 16, DATA_BYTES, DATA_BYTES - 15, 64, 17};

	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		assert_int_equal(pair_teardown(state), 0);
		assert_int_equal(pair_setup(state), 0);

		struct pair *pair = *state;

		assert_true(put(&pair->producer, 16, 0));
		assert_false(ring_publish(&pair->producer));
		memcpy(pair->producer.data, &sizes[i], sizeof(sizes[i]));
		expect_corrupt_consumer(pair);
	}
}

/* The end of the ring, with a size that the shown bytes would cover if it wrapped. */
static void test_record_across_the_end_corrupts_the_consumer(void **state)
{
	struct pair *pair = *state;
	uint32_t lie = 64;

	for (unsigned i = 0; i < DATA_BYTES / 32 - 1; i++) {
		assert_true(put(&pair->producer, 16, 0));
		assert_false(ring_publish(&pair->producer));
		assert_non_null(ring_next(&pair->consumer));
		assert_false(ring_release(&pair->consumer));
	}
	assert_true(put(&pair->producer, 16, 0));
	memcpy(pair->producer.data + DATA_BYTES - 32, &lie, sizeof(lie));
	for (unsigned i = 0; i < 8; i++)
		assert_true(put(&pair->producer, 16, 0));
	assert_false(ring_publish(&pair->producer));
	expect_corrupt_consumer(pair);
}

static void test_absurd_heads_corrupt_the_producer(void **state)
{
	static const uint64_t heads[] = {UINT64_MAX, 16, 48, 8, UINT64_C(1) << 63};

	for (unsigned i = 0; i < ARRAY_COUNT(heads); i++) {
		assert_int_equal(pair_teardown(state), 0);
		assert_int_equal(pair_setup(state), 0);

		struct pair *pair = *state;

		while (put(&pair->producer, 16, 0))
			;
		/* Nothing was published yet, so no head but 0 is true. */
		pair->shared->head = heads[i];
		assert_int_equal(ring_room(&pair->producer), 0);
		assert_true(pair->producer.is_corrupt);
		assert_null(ring_reserve(&pair->producer, 0));
		assert_false(ring_wait_for_room(&pair->producer, 0));
	}
}

/* What the other side writes while we look at a record changes only the body's bytes, never how
 * many we think there are. */
static void test_size_is_read_once(void **state)
{
	struct pair *pair = *state;

	assert_true(put(&pair->producer, 16, 0));
	assert_false(ring_publish(&pair->producer));

	const struct ring_record *record = ring_next(&pair->consumer);

	memset(pair->producer.data, 0xff, 16);
	assert_int_equal(record->byte_count, 16);
	assert_int_equal(record->kind, KIND);
}

static void test_random_garbage_never_reads_outside(void **state)
{
	for (uint64_t seed = 0; seed < 2000; seed++) {
		assert_int_equal(pair_teardown(state), 0);
		assert_int_equal(pair_setup(state), 0);

		struct pair *pair = *state;
		struct random random = random_seeded(seed);
		unsigned sum = 0;

		for (unsigned i = 0; i < DATA_BYTES; i += 8) {
			uint64_t word = random_next(&random) &
					(random_next(&random) & 1 ? 0xff00000001ffu : UINT64_MAX);

			memcpy(pair->memory + sizeof(struct ring_shared) + i, &word, sizeof(word));
		}
		pair->shared->tail = random_below(&random, DATA_BYTES / 16 + 1) * 16;
		for (const struct ring_record *record = ring_next(&pair->consumer); record;
		     record = ring_next(&pair->consumer))
			for (uint32_t i = 0; i < record->byte_count; i++)
				sum += record->body[i];
		assert_true(sum < UINT32_MAX);
		assert_true(pair->consumer.is_corrupt || pair->consumer.head == pair->shared->tail);
	}
}

static uint32_t torture_bytes(uint32_t number)
{
	return (number * 2654435761u >> 7) % 700;
}

static void *torture_producer(void *context)
{
	struct pair *pair = context;

	for (uint32_t number = 0; number < TORTURE_RECORDS;) {
		struct ring_record *record = ring_reserve(&pair->producer, torture_bytes(number));

		if (!record) {
			(void)!ring_publish(&pair->producer);
			if (!ring_wait_for_room(&pair->producer, torture_bytes(number)))
				sched_yield();
			continue;
		}
		record->kind = KIND;
		record->word = number;
		memset(record->body, (int)(number & 255), record->byte_count);
		ring_commit(&pair->producer, record);
		if (number % 5 == 0 || number == TORTURE_RECORDS - 1)
			(void)!ring_publish(&pair->producer);
		number++;
	}
	return NULL;
}

static void test_two_threads_keep_order_and_content(void **state)
{
	struct pair *pair = *state;
	pthread_t thread;
	uint32_t number = 0;

	assert_int_equal(pthread_create(&thread, NULL, torture_producer, pair), 0);
	while (number < TORTURE_RECORDS) {
		const struct ring_record *record = ring_next(&pair->consumer);

		if (!record) {
			assert_false(pair->consumer.is_corrupt);
			if (!ring_sleep(&pair->consumer))
				sched_yield();
			continue;
		}
		assert_int_equal(record->word, number);
		assert_int_equal(record->byte_count, torture_bytes(number));
		for (uint32_t i = 0; i < record->byte_count; i += 97)
			assert_int_equal(record->body[i], number & 255);
		if (number % 3 == 0)
			(void)!ring_release(&pair->consumer);
		number++;
		if (ring_is_empty(&pair->consumer))
			(void)!ring_release(&pair->consumer);
	}
	pthread_join(thread, NULL);
}

static int stamped_setup(void **state)
{
	pair_setup(state);

	struct pair *pair = *state;

	memset(pair->memory, 0, ring_shared_bytes(DATA_BYTES));
	ring_shared_init_stamped(pair->memory, 0x123456789abcdef0);
	ring_producer_init(&pair->producer, pair->memory, DATA_BYTES);
	ring_consumer_init(&pair->consumer, pair->memory, DATA_BYTES);
	return 0;
}

static void test_stamped_record_shows_as_soon_as_it_is_committed(void **state)
{
	struct pair *pair = *state;

	assert_true(ring_is_empty(&pair->consumer));
	assert_true(put(&pair->producer, 33, 0x5a));
	assert_false(ring_is_empty(&pair->consumer));
	assert_true(put(&pair->producer, 0, 0x5b));

	const struct ring_record *record = ring_next(&pair->consumer);

	assert_int_equal(record->byte_count, 33);
	assert_int_equal(record->kind, KIND);
	assert_int_equal(record->port, 0x0102);
	assert_int_equal(record->packet_count, 3);
	assert_int_equal(record->word, 0x5a);
	assert_int_equal(record->body[32], 0x5a);
	assert_int_equal(ring_next(&pair->consumer)->word, 0x5b);
	assert_null(ring_next(&pair->consumer));
	assert_false(pair->consumer.is_corrupt);
}

static void test_small_stamped_record_takes_one_line(void **state)
{
	struct pair *pair = *state;

	assert_true(put(&pair->producer, 40, 1));
	assert_int_equal(pair->producer.tail, RING_CACHE_LINE);
	assert_true(put(&pair->producer, 41, 1));
	assert_int_equal(pair->producer.tail, 3 * RING_CACHE_LINE);
}

/* Bodies full of what stamps look like to a producer that knows no seed: none reads as a record. */
static void test_stale_bodies_never_read_as_records(void **state)
{
	struct pair *pair = *state;

	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t byte_count = i * 37 % 900;
		struct ring_record *record = ring_reserve(&pair->producer, byte_count);

		if (!record) {
			(void)!ring_release(&pair->consumer);
			record = ring_reserve(&pair->producer, byte_count);
		}
		assert_non_null(record);
		record->kind = KIND;
		record->word = i;
		for (uint32_t at = 0; at + 8 <= byte_count; at += 8) {
			uint64_t lie = ring_stamp(1, pair->producer.tail + at);

			memcpy(record->body + at, &lie, sizeof(lie));
		}
		ring_commit(&pair->producer, record);
		record = (struct ring_record *)(uintptr_t)ring_next(&pair->consumer);
		assert_non_null(record);
		assert_int_equal(record->word, i);
		assert_null(ring_next(&pair->consumer));
	}
}

static void test_absurd_stamped_sizes_corrupt_the_consumer(void **state)
{
	static const uint32_t sizes[] = {DATA_BYTES, DATA_BYTES - 1, UINT32_MAX, 1u << 31};
	struct pair *pair = *state;

	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		uint64_t *header = (uint64_t *)(void *)pair->producer.data;

		header[1] = sizes[i] | (uint64_t)KIND << 32;
		header[0] = ring_stamp(pair->producer.stamp_seed, 0);
		ring_consumer_init(&pair->consumer, pair->memory, DATA_BYTES);
		assert_null(ring_next(&pair->consumer));
		assert_true(pair->consumer.is_corrupt);
	}
}

/* One that holds more than was given back to it can't have been written honestly. */
static void test_stamped_record_over_unreleased_ones_corrupts_the_consumer(void **state)
{
	struct pair *pair = *state;

	for (unsigned i = 0; i < DATA_BYTES / RING_CACHE_LINE; i++) {
		assert_true(put(&pair->producer, 8, 1));
		assert_non_null(ring_next(&pair->consumer));
	}
	assert_false(put(&pair->producer, 8, 1));

	uint64_t *header = (uint64_t *)(void *)pair->producer.data;

	header[0] = ring_stamp(pair->producer.stamp_seed, pair->producer.tail);
	assert_null(ring_next(&pair->consumer));
	assert_true(pair->consumer.is_corrupt);
}

static void put_plain(struct pair *pair, uint32_t byte_count, uint16_t kind, uint16_t port,
		      uint32_t packet_count)
{
	uint8_t *body = ring_reserve_stamped(&pair->producer, byte_count);

	assert_non_null(body);
	memset(body, 0x5a, byte_count);
	ring_commit_stamped(&pair->producer, byte_count, kind, port, packet_count);
}

/* The body of the next record, if that is one packet of KIND. */
static const uint8_t *peek(const struct pair *pair, uint64_t expected_sizes)
{
	uint64_t sizes = 0;
	const uint8_t *body = ring_peek_single(&pair->consumer, KIND, &sizes);

	if (body)
		assert_true(sizes == expected_sizes);
	return body;
}

/* A record of another kind or of several packets is not shown, nor one that ring_next would not
 * take. */
static void test_peek_shows_only_single_packets_of_the_kind(void **state)
{
	const uint64_t sizes = ring_sizes(33, KIND, 0x0102);
	struct pair *pair = *state;
	const struct ring_record *record;
	uint64_t found;

	assert_null(peek(pair, sizes));
	put_plain(pair, 33, KIND, 0x0102, 1);
	put_plain(pair, 33, KIND, 0x0102, 1);
	for (unsigned bit = 0; bit < 16; bit++)
		assert_null(
			ring_peek_single(&pair->consumer, (uint16_t)(KIND ^ 1u << bit), &found));
	assert_non_null(peek(pair, sizes));
	record = ring_next_stamped(&pair->consumer);
	assert_true(ring_sizes(record->byte_count, record->kind, record->port) == sizes);

	const uint8_t *body = peek(pair, sizes);

	assert_ptr_equal(body, record->body + RING_CACHE_LINE);
	assert_int_equal(body[32], 0x5a);
	pair->consumer.is_corrupt = true;
	assert_null(peek(pair, sizes));
	pair->consumer.is_corrupt = false;
	ring_take_single(&pair->consumer, sizes);
	assert_null(peek(pair, sizes));
	assert_true(ring_is_empty(&pair->consumer));

	put_plain(pair, 33, KIND, 0x0102, 2);
	assert_null(peek(pair, sizes));
	assert_int_equal(ring_next_stamped(&pair->consumer)->packet_count, 2);
}

static void test_peek_shows_the_sizes_of_each_record(void **state)
{
	static const uint32_t byte_counts[] = {0, 1, 33, 40, 41, 104, 105, 500, 1000};
	struct pair *pair = *state;

	for (unsigned i = 0; i < sizeof(byte_counts) / sizeof(byte_counts[0]); i++) {
		const uint16_t port = (uint16_t)(0x0102 + i * 331);
		const uint64_t sizes = ring_sizes(byte_counts[i], KIND, port);

		put_plain(pair, byte_counts[i], KIND, port, 1);
		assert_non_null(peek(pair, sizes));
		ring_take_single(&pair->consumer, sizes);
		assert_true(ring_is_empty(&pair->consumer));
	}
}

/* A producer of nonsense: the record lies over what was not released, or over the end. */
static void test_peek_shows_nothing_that_can_not_be_there(void **state)
{
	const uint64_t sizes = ring_sizes(8, KIND, 0x0102);
	const uint64_t long_sizes = sizes + 64;
	struct pair *pair = *state;

	for (unsigned i = 1; i < DATA_BYTES / RING_CACHE_LINE; i++) {
		put_plain(pair, 8, KIND, 0x0102, 1);
		assert_non_null(peek(pair, sizes));
		ring_take_single(&pair->consumer, sizes);
	}
	assert_false(ring_release(&pair->consumer));
	(void)ring_room(&pair->producer);
	put_plain(pair, 8, KIND, 0x0102, 1);

	uint64_t *header = (uint64_t *)(uintptr_t)pair->consumer.stamp_at;

	header[1] = long_sizes;
	assert_null(peek(pair, long_sizes));
	header[1] = sizes;
	assert_non_null(peek(pair, sizes));
	pair->consumer.released -= DATA_BYTES - RING_CACHE_LINE;
	assert_non_null(peek(pair, sizes));
	pair->consumer.released -= RING_CACHE_LINE;
	assert_null(peek(pair, sizes));
}

static void test_fencing_consumer_spares_the_producer_the_fence(void **state)
{
	struct pair *pair = *state;

	pair->producer.is_fenced = true;
	pair->shared->consumer_fences = 1;
	assert_true(put(&pair->producer, 8, 1));
	assert_false(ring_publish(&pair->producer));
	assert_non_null(ring_next(&pair->consumer));
	ring_sleep_begin(&pair->consumer);
	assert_false(ring_sleep_end(&pair->consumer));
	assert_true(put(&pair->producer, 8, 2));
	assert_true(ring_publish(&pair->producer));
	assert_false(ring_publish(&pair->producer)); /* said once */
	ring_sleep_begin(&pair->consumer);
	assert_true(ring_sleep_end(&pair->consumer)); /* something is there: no sleep */
	assert_int_equal(pair->shared->consumer_sleeping, 0);
}

/* At every place of the ring, with the end in the way too. */
static void test_record_that_was_put_back_is_the_next_one_again(void **state)
{
	struct pair *pair = *state;

	for (unsigned i = 0; i < 100; i++) {
		assert_true(put(&pair->producer, 900, (uint8_t)i));
		assert_false(ring_publish(&pair->producer));
		assert_non_null(ring_next(&pair->consumer));

		uint64_t position = ring_position(&pair->consumer);

		ring_put_back(&pair->consumer);
		assert_int_equal(pair->consumer.head, position);
		assert_false(ring_is_empty(&pair->consumer));

		const struct ring_record *record = ring_next(&pair->consumer);

		assert_non_null(record);
		assert_int_equal(record->word, i);
		assert_int_equal(record->byte_count, 900);
		assert_int_equal(record->body[899], i);
		assert_null(ring_next(&pair->consumer));
		assert_false(ring_release(&pair->consumer));
	}
	assert_false(pair->consumer.is_corrupt);
}

#define stamped_test(name) cmocka_unit_test_setup_teardown(name, stamped_setup, pair_teardown)
#define ring_test(name)	   cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ring_test(test_record_comes_out_as_it_went_in),
		ring_test(test_committed_record_may_be_shorter_than_reserved),
		ring_test(test_full_ring_refuses_until_room_is_released),
		ring_test(test_every_size_wraps_without_loss),
		ring_test(test_snapshot_stops_the_reader),
		ring_test(test_record_that_was_put_back_is_the_next_one_again),
		ring_test(test_sleeping_consumer_gets_one_doorbell),
		ring_test(test_waiting_producer_gets_one_doorbell),
		ring_test(test_absurd_tails_corrupt_the_consumer),
		ring_test(test_tail_that_goes_back_corrupts_the_consumer),
		ring_test(test_absurd_record_sizes_corrupt_the_consumer),
		ring_test(test_record_across_the_end_corrupts_the_consumer),
		ring_test(test_absurd_heads_corrupt_the_producer),
		ring_test(test_size_is_read_once),
		ring_test(test_random_garbage_never_reads_outside),
		ring_test(test_two_threads_keep_order_and_content),
		stamped_test(test_committed_record_may_be_shorter_than_reserved),
		stamped_test(test_waiting_producer_gets_one_doorbell),
		stamped_test(test_absurd_heads_corrupt_the_producer),
		stamped_test(test_stamped_record_shows_as_soon_as_it_is_committed),
		stamped_test(test_small_stamped_record_takes_one_line),
		stamped_test(test_record_that_was_put_back_is_the_next_one_again),
		stamped_test(test_stale_bodies_never_read_as_records),
		stamped_test(test_absurd_stamped_sizes_corrupt_the_consumer),
		stamped_test(test_stamped_record_over_unreleased_ones_corrupts_the_consumer),
		stamped_test(test_peek_shows_only_single_packets_of_the_kind),
		stamped_test(test_peek_shows_the_sizes_of_each_record),
		stamped_test(test_peek_shows_nothing_that_can_not_be_there),
		stamped_test(test_fencing_consumer_spares_the_producer_the_fence),
		stamped_test(test_two_threads_keep_order_and_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
