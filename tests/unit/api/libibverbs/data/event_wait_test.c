/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for an event: how long the program polls for it, and when the progress thread must find
 * it. The adapter is the test's own, with a virtual clock. */
#include "api/libibverbs/data/event_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/libibverbs/objects/objects.h"

#define POLL_NS	    MICROSECONDS(1)
#define SOON	    MICROSECONDS(50)
#define LATE	    MILLISECONDS(5)
#define LOOK_MAX_NS MICROSECONDS(200)

enum { ROUNDS_TO_LEARN = 16 };

static struct context_object context;
static struct verbs_channel channel;
static struct list event;
static time_ns now, event_at;
static unsigned poll_count, silence_count;
static bool is_locked;

void adapter_lock(struct adapter *adapter)
{
	(void)adapter;
	assert_false(is_locked);
	is_locked = true;
}

void adapter_unlock(struct adapter *adapter)
{
	(void)adapter;
	assert_true(is_locked);
	is_locked = false;
}

time_ns adapter_now(const struct adapter *adapter)
{
	(void)adapter;
	return now;
}

static void event_comes(void)
{
	event_queue_lock(&channel.events);
	list_append(&channel.events.waiting, &event);
	event_queue_unlock(&channel.events);
	event_at = TIME_NEVER;
}

bool adapter_poll(struct adapter *adapter)
{
	(void)adapter;
	assert_true(is_locked);
	poll_count++;
	now += POLL_NS;
	if (now < event_at)
		return false;
	event_comes();
	return true;
}

/* The progress thread takes over, and finds the event when it comes. */
void adapter_expect_silence(struct adapter *adapter)
{
	(void)adapter;
	assert_true(is_locked);
	silence_count++;
	now = event_at;
	event_comes();
}

static int set_up(void **state)
{
	(void)state;
	context = (struct context_object){0};
	channel = (struct verbs_channel){.channel.context = &context.block.verbs.context};
	assert_int_equal(event_queue_open(&channel.events), 0);
	list_init(&event);
	now = SECONDS(1);
	event_at = TIME_NEVER;
	poll_count = silence_count = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	event_queue_close(&channel.events);
	return 0;
}

/* Waits for an event that comes after this delay. Returns how often this thread polled. */
static unsigned wait_for(time_ns later)
{
	event_at = now + later;
	poll_count = silence_count = 0;
	assert_int_equal(event_wait(&channel), 0);
	assert_ptr_equal(list_pop(&channel.events.waiting), &event);
	event_queue_unlock(&channel.events);
	assert_false(is_locked);
	return poll_count;
}

static void learn(time_ns later)
{
	for (unsigned round = 0; round < ROUNDS_TO_LEARN; round++)
		wait_for(later);
}

static void test_event_that_is_there_is_taken_without_a_look(void **state)
{
	(void)state;
	learn(SOON);
	assert_true(event_wait_will_look(&channel));
	event_comes();
	assert_int_equal(wait_for(0), 0);
	assert_int_equal(silence_count, 0);
	/* A program that found its event at once will not poll next time, so the progress thread
	 * must. */
	assert_false(event_wait_will_look(&channel));
}

static void test_new_channel_sleeps_at_once(void **state)
{
	(void)state;
	assert_false(event_wait_will_look(&channel));
	assert_int_equal(wait_for(LATE), 0);
	assert_int_equal(silence_count, 1);
	assert_false(event_wait_will_look(&channel));
}

static void test_events_that_come_soon_are_found_by_who_waits(void **state)
{
	unsigned sleeps = 0;

	(void)state;
	for (unsigned round = 0; round < ROUNDS_TO_LEARN; round++) {
		wait_for(SOON);
		/* After the first event found by polling, it finds every one. */
		assert_true(silence_count == 1 || event_wait_will_look(&channel));
		assert_true(sleeps == round || silence_count == 0);
		sleeps += silence_count;
	}
	assert_true(sleeps < ROUNDS_TO_LEARN / 2);
	assert_int_equal(wait_for(SOON), SOON / POLL_NS);
}

static void test_looking_ends_for_events_that_come_late(void **state)
{
	unsigned looks_before = UINT32_MAX;

	(void)state;
	learn(SOON);
	for (unsigned round = 0; round < ROUNDS_TO_LEARN; round++) {
		unsigned looks = wait_for(LATE);

		assert_int_equal(silence_count, 1);
		assert_false(event_wait_will_look(&channel));
		assert_true(looks <= looks_before);
		looks_before = looks;
	}
	assert_int_equal(looks_before, 0);
	/* Polling starts again when events come soon again. */
	learn(SOON);
	assert_true(event_wait_will_look(&channel));
}

static void test_nobody_looks_longer_than_a_few_wake_ups_take(void **state)
{
	(void)state;
	learn(LOOK_MAX_NS - POLL_NS);
	assert_true(event_wait_will_look(&channel));
	assert_true(wait_for(LATE) <= LOOK_MAX_NS / POLL_NS);
}

static void test_non_blocking_channel_neither_looks_nor_sleeps(void **state)
{
	(void)state;
	learn(SOON);
	assert_int_equal(fcntl(channel.events.fd, F_SETFL, O_NONBLOCK), 0);
	event_at = now + SOON;
	poll_count = silence_count = 0;
	assert_int_equal(event_wait(&channel), -EAGAIN);
	assert_int_equal(poll_count + silence_count, 0);
	/* A non-blocking program does not poll between its calls, so the progress thread must. */
	assert_false(event_wait_will_look(&channel));
	event_comes();
	assert_int_equal(wait_for(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_event_that_is_there_is_taken_without_a_look,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_new_channel_sleeps_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_events_that_come_soon_are_found_by_who_waits,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_looking_ends_for_events_that_come_late, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_nobody_looks_longer_than_a_few_wake_ups_take,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_non_blocking_channel_neither_looks_nor_sleeps,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
