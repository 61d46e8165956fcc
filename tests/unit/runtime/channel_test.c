/* SPDX-License-Identifier: Apache-2.0 */
/* A pair of rings: doorbells ring only for a reader that sleeps, and a reader may stop reading. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>
#include <unistd.h>
#include "ipc/doorbell.h"
#include "runtime/channel.h"

enum { DATA_BYTES = 8192, KIND = 1, BODY_BYTES = 1000 };

static void *memory[2];
static struct channel here, there;

static int setup(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		memory[i] = aligned_alloc(RING_CACHE_LINE, ring_shared_bytes(DATA_BYTES));
		ring_shared_init(memory[i]);
	}
	channel_init(&here, 1);
	channel_init(&there, 1);
	channel_open(&here, memory[0], DATA_BYTES, memory[1], DATA_BYTES, doorbell_make());
	channel_open(&there, memory[1], DATA_BYTES, memory[0], DATA_BYTES, doorbell_make());
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	list_init(&here.waiting);
	channel_close(&here);
	channel_close(&there);
	free(memory[0]);
	free(memory[1]);
	return 0;
}

static bool put(struct channel *channel)
{
	struct ring_record *record = ring_reserve(&channel->out, BODY_BYTES);

	if (!record)
		return false;
	record->kind = KIND;
	ring_commit(&channel->out, record);
	return true;
}

static bool has_rung(int doorbell)
{
	uint64_t count;

	return read(doorbell, &count, sizeof(count)) > 0;
}

static void test_doorbell_rings_only_for_a_sleeper(void **state)
{
	(void)state;
	assert_true(put(&here));
	channel_publish(&here);
	assert_false(has_rung(here.doorbell));
	assert_non_null(ring_next(&there.in));
	assert_false(ring_sleep(&there.in));
	assert_true(put(&here));
	channel_publish(&here);
	assert_true(has_rung(here.doorbell));
}

/* The reader polls, so the sender's doorbell would wake it in vain. */
static void test_what_is_held_back_keeps_no_sleeper_awake(void **state)
{
	(void)state;
	assert_true(put(&here));
	channel_publish(&here);
	assert_true(channel_sleep_end(&there));
	assert_true(rnr_hold_waits(&there.rnr_hold, 0, SECONDS(1)));
	assert_true(channel_holds_back(&there));
	assert_false(channel_sleep_end(&there));
	channel_close(&there);
	assert_false(channel_holds_back(&there));
}

static void test_released_room_rings_only_for_one_who_waits(void **state)
{
	(void)state;
	while (put(&here))
		;
	channel_publish(&here);
	assert_non_null(ring_next(&there.in));
	channel_release(&there);
	assert_false(has_rung(there.doorbell));
	while (put(&here))
		;
	channel_publish(&here);
	assert_false(ring_wait_for_room(&here.out, BODY_BYTES));
	assert_non_null(ring_next(&there.in));
	channel_release(&there);
	assert_true(has_rung(there.doorbell));
}

/* There is room for one record, but the writer needs two: it must hear of the second. */
static void test_half_of_the_room_that_is_needed_still_rings_for_the_rest(void **state)
{
	const uint32_t needed = 2 * (BODY_BYTES + 24);

	(void)state;
	while (put(&here))
		;
	channel_publish(&here);
	assert_non_null(ring_next(&there.in));
	channel_release(&there);
	assert_true(ring_room(&here.out) >= BODY_BYTES + 24);
	assert_false(channel_wait_for_room(&here, needed));
	assert_non_null(ring_next(&there.in));
	channel_release(&there);
	assert_true(has_rung(there.doorbell));
	assert_true(channel_wait_for_room(&here, needed));
}

static void test_reader_that_stopped_counts_as_stalled_after_a_while(void **state)
{
	struct list waiter;
	time_ns start = SECONDS(1);

	(void)state;
	list_init(&waiter);
	assert_true(channel_deadline(&here) == TIME_NEVER);
	while (put(&here))
		;
	channel_publish(&here);
	channel_is_full(&here, start);
	list_append(&here.waiting, &waiter);
	assert_true(channel_deadline(&here) == start + CHANNEL_STALL_NS);
	assert_false(channel_should_retry(&here, start + CHANNEL_STALL_NS - 1, BODY_BYTES + 16));
	assert_true(channel_should_retry(&here, start + CHANNEL_STALL_NS, BODY_BYTES + 16));
	assert_true(here.is_stalled);

	/* The reader reads on, so packets are kept again. */
	while (ring_next(&there.in))
		;
	channel_release(&there);
	assert_true(channel_should_retry(&here, start + 2 * CHANNEL_STALL_NS, BODY_BYTES + 16));
	assert_false(here.is_stalled);
	assert_true(here.full_since == TIME_NEVER);
}

static void test_slow_reader_is_not_a_stalled_one(void **state)
{
	time_ns start = SECONDS(1);

	(void)state;
	while (put(&here))
		;
	channel_publish(&here);
	channel_is_full(&here, start);
	assert_non_null(ring_next(&there.in));
	channel_release(&there);
	/* The reader moved, though not far enough: the clock starts anew. */
	assert_false(channel_should_retry(&here, start + CHANNEL_STALL_NS, DATA_BYTES));
	assert_false(channel_should_retry(&here, start + 2 * CHANNEL_STALL_NS - 1, DATA_BYTES));
	assert_true(channel_should_retry(&here, start + 2 * CHANNEL_STALL_NS, DATA_BYTES));
}

#define channel_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void test_record_is_underway_until_a_living_reader_has_taken_it(void **state)
{
	(void)state;
	assert_true(put(&here));
	assert_true(put(&here));
	channel_publish(&here);

	uint64_t end = here.out.tail;

	assert_true(channel_is_underway(&here, end, MILLISECONDS(1)));
	/* The reader moves: the clock starts anew. */
	assert_non_null(ring_next(&there.in));
	channel_release(&there);
	const time_ns moved_at = MILLISECONDS(300);

	assert_true(channel_is_underway(&here, end, moved_at));
	assert_true(channel_is_underway(&here, end, moved_at + CHANNEL_UNREAD_NS - 1));
	/* The reader has stopped: the silence counts from here on. */
	assert_false(channel_is_underway(&here, end, moved_at + CHANNEL_UNREAD_NS));
	assert_non_null(ring_next(&there.in));
	channel_release(&there);
	assert_false(channel_is_underway(&here, end, moved_at + CHANNEL_UNREAD_NS + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		channel_test(test_doorbell_rings_only_for_a_sleeper),
		channel_test(test_what_is_held_back_keeps_no_sleeper_awake),
		channel_test(test_released_room_rings_only_for_one_who_waits),
		cmocka_unit_test_setup_teardown(
			test_half_of_the_room_that_is_needed_still_rings_for_the_rest, setup,
			teardown),
		channel_test(test_reader_that_stopped_counts_as_stalled_after_a_while),
		channel_test(test_slow_reader_is_not_a_stalled_one),
		cmocka_unit_test_setup_teardown(
			test_record_is_underway_until_a_living_reader_has_taken_it, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
