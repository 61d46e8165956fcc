/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of words: order over many laps, room, and an other side that lies. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include "base/word_ring.h"

enum { TORTURE_WORDS = 300000 };

static struct word_ring_shared shared;
static struct word_producer producer;
static struct word_consumer consumer;

static int setup(void **state)
{
	(void)state;
	memset(&shared, 0, sizeof(shared));
	word_producer_init(&producer, &shared);
	word_consumer_init(&consumer, &shared);
	return 0;
}

static void test_numbers_come_out_in_order_for_more_laps_than_a_word_can_count(void **state)
{
	uint64_t number;

	(void)state;
	assert_true(word_ring_is_empty(&consumer));
	assert_false(word_ring_take(&consumer, &number));
	for (uint64_t i = 0; i < (uint64_t)WORD_RING_COUNT * (2 * WORD_RING_LAPS + 3); i++) {
		assert_true(word_ring_has_room(&producer));
		word_ring_put(&producer, i & 0xffffffffffffff);
		assert_false(word_ring_is_empty(&consumer));
		assert_true(word_ring_take(&consumer, &number));
		assert_true(number == i);
		assert_true(word_ring_is_empty(&consumer));
	}
}

static void test_full_ring_has_no_room_until_the_consumer_says_so(void **state)
{
	uint64_t number;

	(void)state;
	for (unsigned i = 0; i < WORD_RING_COUNT; i++) {
		assert_true(word_ring_has_room(&producer));
		word_ring_put(&producer, i);
	}
	assert_false(word_ring_has_room(&producer));
	for (unsigned i = 0; i < WORD_RING_RELEASE; i++)
		assert_true(word_ring_take(&consumer, &number));
	assert_true(word_ring_has_room(&producer));
}

static void test_absurd_heads_make_no_room(void **state)
{
	static const uint64_t absurd[] = {WORD_RING_COUNT + 1, UINT64_MAX, 1ull << 40};

	(void)state;
	for (unsigned i = 0; i < WORD_RING_COUNT; i++)
		word_ring_put(&producer, i);
	for (unsigned i = 0; i < ARRAY_COUNT(absurd); i++) {
		shared.head = absurd[i];
		assert_false(word_ring_has_room(&producer));
	}
}

static void *torture_producer(void *context)
{
	(void)context;
	for (uint64_t i = 0; i < TORTURE_WORDS;) {
		if (!word_ring_has_room(&producer)) {
			sched_yield();
			continue;
		}
		word_ring_put(&producer, i++);
	}
	return NULL;
}

static void test_two_threads_keep_order(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, torture_producer, NULL), 0);
	for (uint64_t i = 0; i < TORTURE_WORDS;) {
		uint64_t number;

		if (!word_ring_take(&consumer, &number)) {
			sched_yield();
			continue;
		}
		assert_true(number == i);
		i++;
	}
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			test_numbers_come_out_in_order_for_more_laps_than_a_word_can_count, setup),
		cmocka_unit_test_setup(test_full_ring_has_no_room_until_the_consumer_says_so,
				       setup),
		cmocka_unit_test_setup(test_absurd_heads_make_no_room, setup),
		cmocka_unit_test_setup(test_two_threads_keep_order, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
