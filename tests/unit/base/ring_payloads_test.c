/* SPDX-License-Identifier: Apache-2.0 */
/* Payload records in stamped rings: content, order and room among records, and a producer of
 * nonsense. Covers: base/ring_consumer.c */
#include "base/ring_payloads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"

enum {
	DATA_BYTES = 4096,
	KIND = 7,
	SHORT = 8,
	LONG = 24,
	LINES = 100, /* two of them */
	SEEDS = 20,
	STEPS = 3000, /* some dozens of laps */
	WAITING_MAX = DATA_BYTES / 16,
};

struct pair {
	uint8_t *memory;
	uint8_t *data;
	struct ring_producer producer;
	struct ring_consumer consumer;
};

static int pair_setup(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	/* Exactly as large as it is, so that the address sanitizer sees a step outside. */
	pair->memory = aligned_alloc(RING_CACHE_LINE, ring_shared_bytes(DATA_BYTES));
	memset(pair->memory, 0, ring_shared_bytes(DATA_BYTES));
	pair->data = pair->memory + sizeof(struct ring_shared);
	ring_shared_init_stamped(pair->memory, 0x123456789abcdef0);
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

static bool put_record(struct pair *pair, uint32_t byte_count, uint8_t fill)
{
	struct ring_record *record = ring_reserve(&pair->producer, byte_count);

	if (!record)
		return false;
	record->kind = KIND;
	memset(record->body, fill, byte_count);
	ring_commit(&pair->producer, record);
	return true;
}

/* A run of one. */
static const uint8_t *peek_payload(const struct ring_consumer *consumer, uint32_t byte_count)
{
	const struct ring_payloads payloads = ring_payloads_begin(consumer, byte_count);

	return ring_payloads_peek(&payloads);
}

static void take_payload(struct ring_consumer *consumer, uint32_t byte_count)
{
	struct ring_payloads payloads = ring_payloads_begin(consumer, byte_count);

	ring_payloads_take(&payloads);
	ring_payloads_end(&payloads, consumer);
}

static uint8_t *reserve_payload(const struct ring_producer *producer, uint32_t byte_count)
{
	return ring_fits_payload(producer, byte_count) ? ring_payload_place(producer, byte_count)
						       : NULL;
}

static bool put_payload(struct pair *pair, uint32_t byte_count, uint8_t fill)
{
	uint8_t *bytes = reserve_payload(&pair->producer, byte_count);

	if (!bytes)
		return false;
	memset(bytes, fill, byte_count);
	ring_commit_payload(&pair->producer, byte_count);
	return true;
}

static void expect_bytes(const uint8_t *bytes, uint32_t byte_count, uint8_t fill)
{
	for (uint32_t i = 0; i < byte_count; i++)
		assert_int_equal(bytes[i], fill);
}

static void expect_next(struct pair *pair, uint16_t kind, uint32_t byte_count, uint8_t fill)
{
	const struct ring_record *record = ring_next(&pair->consumer);

	assert_non_null(record);
	assert_int_equal(record->kind, kind);
	assert_int_equal(record->byte_count, byte_count);
	expect_bytes(record->body, byte_count, fill);
}

/* As a producer that is not one of ours would. */
static void write_stamp(struct pair *pair, uint64_t position, uint64_t form)
{
	uint64_t *at = (uint64_t *)(pair->data + position % DATA_BYTES);

	*at = ring_stamp(pair->producer.stamp_seed, position) ^ form;
}

static void test_payloads_come_out_behind_their_record(void **state)
{
	struct pair *pair = *state;

	assert_true(put_record(pair, 40, 1));
	assert_true(put_payload(pair, SHORT, 2));
	assert_true(put_payload(pair, LONG, 3));
	assert_true(put_payload(pair, SHORT, 4));
	/* A line of the record, and one of payload records. */
	assert_int_equal(pair->producer.tail, 2 * RING_CACHE_LINE);
	expect_next(pair, KIND, 40, 1);
	expect_next(pair, RING_RECORD_PAYLOAD, SHORT, 2);
	expect_next(pair, RING_RECORD_PAYLOAD, LONG, 3);
	expect_next(pair, RING_RECORD_PAYLOAD, SHORT, 4);
	assert_null(ring_next(&pair->consumer));
	assert_false(pair->consumer.is_corrupt);
}

/* Whole lines are begun on one, and do not wrap: short payload records up to there. */
static void go_to_line(struct pair *pair, uint64_t room)
{
	while (pair->producer.tail % RING_CACHE_LINE ||
	       DATA_BYTES - pair->producer.tail % DATA_BYTES < room) {
		assert_true(put_payload(pair, SHORT, 0));
		expect_next(pair, RING_RECORD_PAYLOAD, SHORT, 0);
		(void)!ring_release(&pair->consumer);
		(void)ring_room(&pair->producer);
	}
}

static void test_every_size_takes_the_smaller_form_that_holds_it(void **state)
{
	struct pair *pair = *state;

	for (uint32_t byte_count = 1; byte_count <= RING_PAYLOAD_BYTES_MAX; byte_count++) {
		const uint32_t lines_bytes = (16 + byte_count + 63) / 64 * 64;
		uint64_t before = pair->producer.tail;

		assert_true(put_payload(pair, byte_count, (uint8_t)byte_count));
		assert_int_equal(pair->producer.tail - before, byte_count <= SHORT  ? 16
							       : byte_count <= LONG ? 32
										    : lines_bytes);

		const struct ring_record *record = ring_next(&pair->consumer);

		assert_int_equal(record->byte_count, byte_count <= SHORT  ? SHORT
						     : byte_count <= LONG ? LONG
									  : lines_bytes - 16);
		expect_bytes(record->body, byte_count, (uint8_t)byte_count);
		assert_int_equal(ring_position(&pair->consumer), before);
		(void)!ring_release(&pair->consumer);
		(void)ring_room(&pair->producer);
		go_to_line(pair, RING_PAYLOAD_BYTES_MAX + 16);
	}
}

static void test_peek_shows_only_what_is_asked_for(void **state)
{
	struct pair *pair = *state;

	assert_null(peek_payload(&pair->consumer, SHORT));
	assert_true(put_record(pair, 8, 1));
	assert_null(peek_payload(&pair->consumer, SHORT));
	assert_true(put_payload(pair, SHORT, 2));
	assert_true(put_payload(pair, LONG, 3));
	assert_true(put_record(pair, 8, 4));
	expect_next(pair, KIND, 8, 1);
	assert_null(peek_payload(&pair->consumer, LONG));
	expect_bytes(peek_payload(&pair->consumer, SHORT), SHORT, 2);
	/* It is not taken by that. */
	expect_bytes(peek_payload(&pair->consumer, SHORT), SHORT, 2);
	take_payload(&pair->consumer, SHORT);
	assert_null(peek_payload(&pair->consumer, SHORT));
	expect_bytes(peek_payload(&pair->consumer, LONG), LONG, 3);
	take_payload(&pair->consumer, LONG);
	/* The rest of the line is empty. */
	assert_null(peek_payload(&pair->consumer, SHORT));
	expect_next(pair, KIND, 8, 4);
}

static void test_peek_shows_lines_only_of_the_size_that_is_asked_for(void **state)
{
	struct pair *pair = *state;

	assert_true(put_payload(pair, LINES, 1));
	assert_null(peek_payload(&pair->consumer, SHORT));
	assert_null(peek_payload(&pair->consumer, LONG));
	assert_null(peek_payload(&pair->consumer, 48));	 /* a line */
	assert_null(peek_payload(&pair->consumer, 113)); /* three */
	expect_bytes(peek_payload(&pair->consumer, LINES), LINES, 1);
	expect_bytes(peek_payload(&pair->consumer, 49), LINES, 1); /* as many lines */
	take_payload(&pair->consumer, LINES);
	assert_int_equal(pair->consumer.head, 2 * RING_CACHE_LINE);
	assert_null(peek_payload(&pair->consumer, LINES));
}

static void test_lines_begin_with_one(void **state)
{
	struct pair *pair = *state;

	for (unsigned i = 0; i < 4; i++) {
		assert_true(put_payload(pair, SHORT, 1));
		assert_int_equal(put_payload(pair, LINES, 2), i == 3);
	}
	for (unsigned i = 0; i < 4; i++)
		expect_next(pair, RING_RECORD_PAYLOAD, SHORT, 1);
	assert_int_equal(ring_next(&pair->consumer)->byte_count, 2 * RING_CACHE_LINE - 16);
	ring_put_back(&pair->consumer);
	expect_bytes(peek_payload(&pair->consumer, LINES), LINES, 2);
}

static void test_payload_that_was_put_back_is_the_next_one(void **state)
{
	struct pair *pair = *state;

	assert_true(put_record(pair, 8, 1));
	assert_true(put_payload(pair, SHORT, 2));
	assert_true(put_payload(pair, LONG, 3));
	expect_next(pair, KIND, 8, 1);
	for (unsigned i = 0; i < 2; i++) {
		expect_next(pair, RING_RECORD_PAYLOAD, SHORT, 2);
		assert_int_equal(ring_position(&pair->consumer), RING_CACHE_LINE);
		ring_put_back(&pair->consumer);
	}
	expect_next(pair, RING_RECORD_PAYLOAD, SHORT, 2);
	for (unsigned i = 0; i < 2; i++) {
		expect_next(pair, RING_RECORD_PAYLOAD, LONG, 3);
		assert_int_equal(ring_position(&pair->consumer), RING_CACHE_LINE + 16);
		ring_put_back(&pair->consumer);
	}
	expect_bytes(peek_payload(&pair->consumer, LONG), LONG, 3);
}

static void test_sleeper_sees_a_payload(void **state)
{
	struct pair *pair = *state;

	assert_true(put_record(pair, 8, 1));
	expect_next(pair, KIND, 8, 1);
	assert_true(ring_is_empty(&pair->consumer));
	assert_false(ring_sleep(&pair->consumer));
	static const uint32_t sizes[] = {2 * RING_CACHE_LINE - 16, SHORT, LONG};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint32_t byte_count = sizes[i];

		assert_true(put_payload(pair, byte_count, 2));
		assert_false(ring_is_empty(&pair->consumer));
		assert_true(ring_announce(&pair->producer));
		assert_false(ring_announce(&pair->producer));
		assert_true(ring_sleep(&pair->consumer));
		expect_next(pair, RING_RECORD_PAYLOAD, byte_count, 2);
		assert_true(ring_is_empty(&pair->consumer));
		assert_false(ring_sleep(&pair->consumer));
	}
}

static void test_full_ring_refuses_payloads_until_room_is_known(void **state)
{
	struct pair *pair = *state;
	unsigned count = 0;

	while (put_payload(pair, SHORT, (uint8_t)count))
		count++;
	assert_int_equal(count, DATA_BYTES / 16);
	assert_int_equal(ring_room(&pair->producer), 0);
	assert_false(put_record(pair, 8, 0));
	for (unsigned i = 0; i < 4; i++)
		expect_next(pair, RING_RECORD_PAYLOAD, SHORT, (uint8_t)i);
	assert_false(put_payload(pair, SHORT, 0)); /* read, but not released */
	assert_false(ring_release(&pair->consumer));
	assert_false(put_payload(pair, SHORT, 0)); /* it does not look at the consumer's line */
	assert_true(ring_has_room_for_payload(&pair->producer, SHORT)); /* this does */
	assert_true(ring_fits_payload(&pair->producer, SHORT));
	assert_int_equal(ring_room(&pair->producer), RING_CACHE_LINE);
	for (unsigned i = 0; i < 4; i++)
		assert_true(put_payload(pair, SHORT, (uint8_t)count++));
	assert_false(ring_has_room_for_payload(&pair->producer, SHORT));
	assert_false(put_payload(pair, SHORT, 0));
	for (unsigned i = 4; i < count; i++)
		expect_next(pair, RING_RECORD_PAYLOAD, SHORT, (uint8_t)i);
	assert_null(ring_next(&pair->consumer));
}

/* Room is counted from where a record could begin, so that what is promised is there. */
static void test_record_behind_payloads_costs_the_rest_of_their_line(void **state)
{
	struct pair *pair = *state;

	for (unsigned i = 0; i < 4; i++)
		assert_true(put_payload(pair, SHORT, 1));
	assert_int_equal(ring_room(&pair->producer), DATA_BYTES - RING_CACHE_LINE);
	assert_true(put_payload(pair, SHORT, 2));
	assert_int_equal(ring_room(&pair->producer), DATA_BYTES - 2 * RING_CACHE_LINE);
	for (unsigned lines = 2; lines < DATA_BYTES / RING_CACHE_LINE; lines++)
		assert_true(put_record(pair, 40, 3));
	assert_int_equal(ring_room(&pair->producer), 0);
	assert_false(put_record(pair, 1, 3));
	for (unsigned i = 0; i < 5; i++)
		expect_next(pair, RING_RECORD_PAYLOAD, SHORT, i < 4 ? 1 : 2);
	for (unsigned lines = 2; lines < DATA_BYTES / RING_CACHE_LINE; lines++)
		expect_next(pair, KIND, 40, 3);
	assert_null(ring_next(&pair->consumer));
}

/* The last line has a payload record in it: its rest is empty, and the record begins at the ring's
 * start.
 */
static void test_record_behind_payloads_at_the_end_of_the_ring(void **state)
{
	for (uint32_t byte_count = 40; byte_count <= 41; byte_count++) {
		struct pair *pair = *state;

		for (unsigned i = 0; i < DATA_BYTES / 16 - 3; i++) {
			assert_true(put_payload(pair, SHORT, (uint8_t)i));
			expect_next(pair, RING_RECORD_PAYLOAD, SHORT, (uint8_t)i);
		}
		assert_false(ring_release(&pair->consumer));
		assert_int_equal(ring_room(&pair->producer), DATA_BYTES - 48);
		assert_true(put_record(pair, byte_count, 9));
		assert_int_equal(pair->producer.tail % DATA_BYTES, ring_stamped_bytes(byte_count));
		expect_next(pair, KIND, byte_count, 9);
		/* To the start of a lap again. */
		pair_teardown(state);
		assert_int_equal(pair_setup(state), 0);
	}
}

static void test_long_payload_does_not_fit_before_the_end_of_the_ring(void **state)
{
	struct pair *pair = *state;

	for (unsigned i = 0; i < DATA_BYTES / 16 - 1; i++) {
		assert_true(put_payload(pair, SHORT, (uint8_t)i));
		expect_next(pair, RING_RECORD_PAYLOAD, SHORT, (uint8_t)i);
	}
	assert_false(ring_release(&pair->consumer));
	assert_int_equal(ring_room(&pair->producer), DATA_BYTES - 16);
	assert_false(put_payload(pair, LONG, 1));
	assert_true(put_payload(pair, SHORT, 2));
	assert_true(put_payload(pair, LONG, 3));
	expect_next(pair, RING_RECORD_PAYLOAD, SHORT, 2);
	expect_next(pair, RING_RECORD_PAYLOAD, LONG, 3);
}

/* What the ring should hold: oldest first. */
struct model {
	struct waiting {
		uint16_t kind;
		uint32_t byte_count;
		uint8_t bytes[DATA_BYTES / 2];
	} waiting[WAITING_MAX];
	unsigned head, tail;
};

/* All of what one to some lines have room for, as a reader that asks for the next record sees it.
 */
static uint32_t lines_of(struct random *random)
{
	return (uint32_t)(1 + random_below(random, 5)) * RING_CACHE_LINE - 16;
}

static void produce(struct pair *pair, struct model *model, struct random *random)
{
	struct waiting *waiting = &model->waiting[model->tail % WAITING_MAX];
	uint64_t choice = random_below(random, 10);
	uint32_t byte_count = choice < 4   ? SHORT
			      : choice < 6 ? LONG
			      : choice < 8 ? lines_of(random)
					   : (uint32_t)random_below(random, choice < 9 ? 64 : 1000);
	struct ring_record *record = NULL;
	uint8_t *bytes;

	waiting->byte_count = byte_count;
	waiting->kind = choice < 8 ? RING_RECORD_PAYLOAD : KIND;
	for (uint32_t i = 0; i < byte_count; i++)
		waiting->bytes[i] = (uint8_t)random_next(random);
	if (choice < 8)
		bytes = reserve_payload(&pair->producer, byte_count);
	else
		bytes = (record = ring_reserve(&pair->producer, byte_count)) ? record->body : NULL;
	if (!bytes) {
		(void)ring_room(&pair->producer);
		return;
	}
	memcpy(bytes, waiting->bytes, byte_count);
	if (record) {
		record->kind = KIND;
		ring_commit(&pair->producer, record);
	} else {
		ring_commit_payload(&pair->producer, byte_count);
	}
	model->tail++;
}

enum reader { READS_BY_NEXT, READS_IN_LINE, READS_BY_PEEK };

/* Returns how many were peeked at. */
static unsigned consume(struct pair *pair, struct model *model, enum reader reader)
{
	const struct waiting *waiting = &model->waiting[model->head % WAITING_MAX];
	bool is_payload = waiting->kind == RING_RECORD_PAYLOAD;
	const uint8_t *bytes = NULL;

	assert_int_equal(ring_is_empty(&pair->consumer), model->head == model->tail);
	if (model->head == model->tail) {
		assert_null(peek_payload(&pair->consumer, SHORT));
		assert_null(ring_next(&pair->consumer));
		return 0;
	}
	if (reader == READS_BY_PEEK && is_payload)
		bytes = peek_payload(&pair->consumer, waiting->byte_count);
	model->head++;
	if (bytes) {
		assert_memory_equal(bytes, waiting->bytes, waiting->byte_count);
		take_payload(&pair->consumer, waiting->byte_count);
		return 1;
	}

	const struct ring_record *record = reader == READS_IN_LINE
						   ? ring_next_stamped(&pair->consumer)
						   : ring_next(&pair->consumer);

	assert_non_null(record);
	assert_int_equal(record->kind, waiting->kind);
	assert_int_equal(record->byte_count, waiting->byte_count);
	assert_memory_equal(record->body, waiting->bytes, waiting->byte_count);
	return 0;
}

static void run_mix(void **state, enum reader reader, uint64_t seed, struct model *model)
{
	struct pair *pair = *state;
	struct random random = random_seeded(seed);
	unsigned peeked = 0, payloads = 0;

	model->head = model->tail = 0;
	for (unsigned step = 0; step < STEPS; step++) {
		for (uint64_t count = random_below(&random, 12); count; count--)
			produce(pair, model, &random);
		for (uint64_t count = random_below(&random, 13); count; count--) {
			payloads += model->head != model->tail &&
				    model->waiting[model->head % WAITING_MAX].kind ==
					    RING_RECORD_PAYLOAD;
			peeked += consume(pair, model, reader);
		}
		if (random_below(&random, 3) == 0)
			(void)!ring_release(&pair->consumer);
	}
	while (model->head != model->tail)
		consume(pair, model, reader);
	assert_null(ring_next(&pair->consumer));
	assert_false(pair->consumer.is_corrupt);
	assert_false(pair->producer.is_corrupt);
	assert_true(pair->consumer.head > 20 * DATA_BYTES);
	/* A payload record is next in the ring at once: nothing empty lies before it. */
	assert_int_equal(peeked, reader == READS_BY_PEEK ? payloads : 0);
	pair_teardown(state);
	assert_int_equal(pair_setup(state), 0);
}

static void test_random_mix_comes_out_as_it_went_in(void **state)
{
	struct model *model = malloc(sizeof(*model));

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		run_mix(state, READS_BY_NEXT, seed, model);
		run_mix(state, READS_IN_LINE, seed, model);
		run_mix(state, READS_BY_PEEK, seed, model);
	}
	free(model);
}

static void expect_corrupt(struct pair *pair)
{
	assert_null(ring_next_stamped(&pair->consumer));
	assert_true(pair->consumer.is_corrupt);
	assert_null(ring_next(&pair->consumer));
	assert_null(peek_payload(&pair->consumer, SHORT));
	assert_null(peek_payload(&pair->consumer, LONG));
	assert_true(ring_is_empty(&pair->consumer));
}

/* It would be an endless way past nothing. */
static void test_empty_line_corrupts_the_consumer(void **state)
{
	struct pair *pair = *state;

	write_stamp(pair, 0, RING_FORM_EMPTY);
	expect_corrupt(pair);
}

static void test_record_that_calls_itself_a_payload_corrupts_the_consumer(void **state)
{
	struct pair *pair = *state;
	struct ring_record *record = ring_reserve(&pair->producer, 8);

	record->kind = RING_RECORD_PAYLOAD;
	ring_commit(&pair->producer, record);
	expect_corrupt(pair);
}

/* To the last 16 bytes of the ring, in which the header of a record has no room. */
static void test_record_within_a_line_corrupts_the_consumer(void **state)
{
	static const unsigned counts[] = {1, 2, 3, 5, DATA_BYTES / 16 - 3, DATA_BYTES / 16 - 1};

	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct pair *pair = *state;

		for (unsigned j = 0; j < counts[i]; j++) {
			assert_true(put_payload(pair, SHORT, (uint8_t)j));
			expect_next(pair, RING_RECORD_PAYLOAD, SHORT, (uint8_t)j);
		}
		/* One that would be fine elsewhere: 8 bytes of kind 7. */
		if (counts[i] < DATA_BYTES / 16 - 3)
			((uint64_t *)(pair->data + counts[i] * 16))[1] = 8 | (uint64_t)KIND << 32;
		write_stamp(pair, counts[i] * 16, 0);
		expect_corrupt(pair);
		pair_teardown(state);
		assert_int_equal(pair_setup(state), 0);
	}
}

static void test_long_payload_over_the_end_corrupts_the_consumer(void **state)
{
	struct pair *pair = *state;

	for (unsigned i = 0; i < DATA_BYTES / 16 - 1; i++) {
		assert_true(put_payload(pair, SHORT, (uint8_t)i));
		expect_next(pair, RING_RECORD_PAYLOAD, SHORT, (uint8_t)i);
	}
	assert_false(ring_release(&pair->consumer));
	write_stamp(pair, DATA_BYTES - 16, RING_FORM_LONG_PAYLOAD);
	assert_null(peek_payload(&pair->consumer, LONG));
	expect_corrupt(pair);
}

/* Neither none, nor more than there are in a payload record, nor parts of lines, nor from within
 * one. */
static void test_lines_of_nonsense_corrupt_the_consumer(void **state)
{
	static const uint64_t sizes[] = {
		0,	    16,		63,	    65,	       RING_PAYLOAD_BYTES_MAX + 16 + 64,
		DATA_BYTES, 1ull << 32, 1ull << 63, UINT64_MAX};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct pair *pair = *state;

		((uint64_t *)pair->data)[1] = sizes[i];
		write_stamp(pair, 0, RING_FORM_LINES_PAYLOAD);
		assert_null(peek_payload(&pair->consumer, LINES));
		expect_corrupt(pair);
		pair_teardown(state);
		assert_int_equal(pair_setup(state), 0);
	}

	struct pair *pair = *state;

	assert_true(put_payload(pair, SHORT, 1));
	expect_next(pair, RING_RECORD_PAYLOAD, SHORT, 1);
	((uint64_t *)pair->data)[3] = RING_CACHE_LINE;
	write_stamp(pair, 16, RING_FORM_LINES_PAYLOAD);
	expect_corrupt(pair);
}

static void test_lines_over_the_end_corrupt_the_consumer(void **state)
{
	struct pair *pair = *state;

	go_to_line(pair, DATA_BYTES);
	while (pair->producer.tail % DATA_BYTES != DATA_BYTES - RING_CACHE_LINE) {
		assert_true(put_payload(pair, SHORT, 1));
		expect_next(pair, RING_RECORD_PAYLOAD, SHORT, 1);
	}
	assert_false(put_payload(pair, LINES, 1));
	((uint64_t *)(pair->data + DATA_BYTES - RING_CACHE_LINE))[1] = 2 * RING_CACHE_LINE;
	write_stamp(pair, pair->producer.tail, RING_FORM_LINES_PAYLOAD);
	assert_null(peek_payload(&pair->consumer, LINES));
	expect_corrupt(pair);
}

static void test_forms_that_are_nobodys_corrupt_the_consumer(void **state)
{
	static const uint64_t forms[] = {10, 12, 14};

	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct pair *pair = *state;

		write_stamp(pair, 0, forms[i]);
		expect_corrupt(pair);
		pair_teardown(state);
		assert_int_equal(pair_setup(state), 0);
	}
}

/* A lap is what a producer may have written before anything was released. */
static void test_payloads_over_unreleased_ones_corrupt_the_consumer(void **state)
{
	struct pair *pair = *state;

	for (unsigned i = 0; i < DATA_BYTES / 16; i++) {
		assert_true(put_payload(pair, SHORT, (uint8_t)i));
		expect_next(pair, RING_RECORD_PAYLOAD, SHORT, (uint8_t)i);
	}
	write_stamp(pair, DATA_BYTES, RING_FORM_SHORT_PAYLOAD);
	assert_null(peek_payload(&pair->consumer, SHORT));
	expect_corrupt(pair);
}

#define payload_test(name) cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		payload_test(test_payloads_come_out_behind_their_record),
		payload_test(test_every_size_takes_the_smaller_form_that_holds_it),
		payload_test(test_peek_shows_only_what_is_asked_for),
		payload_test(test_peek_shows_lines_only_of_the_size_that_is_asked_for),
		payload_test(test_lines_begin_with_one),
		payload_test(test_payload_that_was_put_back_is_the_next_one),
		payload_test(test_sleeper_sees_a_payload),
		payload_test(test_full_ring_refuses_payloads_until_room_is_known),
		payload_test(test_record_behind_payloads_costs_the_rest_of_their_line),
		payload_test(test_record_behind_payloads_at_the_end_of_the_ring),
		payload_test(test_long_payload_does_not_fit_before_the_end_of_the_ring),
		payload_test(test_random_mix_comes_out_as_it_went_in),
		payload_test(test_empty_line_corrupts_the_consumer),
		payload_test(test_record_that_calls_itself_a_payload_corrupts_the_consumer),
		payload_test(test_record_within_a_line_corrupts_the_consumer),
		payload_test(test_long_payload_over_the_end_corrupts_the_consumer),
		payload_test(test_lines_of_nonsense_corrupt_the_consumer),
		payload_test(test_lines_over_the_end_corrupt_the_consumer),
		payload_test(test_forms_that_are_nobodys_corrupt_the_consumer),
		payload_test(test_payloads_over_unreleased_ones_corrupt_the_consumer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
