/* SPDX-License-Identifier: Apache-2.0 */
/* Near and far events, compared with a plain list of the armed ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/event_wheel.h"
#include "base/random.h"

enum { EVENTS = 200 };

/* The next event that is due; NULL: none. */
static struct wheel_event *take_one(struct event_wheel *wheel, time_ns now)
{
	struct wheel_due due;

	return event_wheel_take(wheel, now, 1, &due)
		       ? container_of(due.timer, struct wheel_event, timer)
		       : NULL;
}

static void test_events_come_in_order_of_time_and_of_arming(void **state)
{
	static const time_ns times[] = {500, 3, 1000000, 3, 0, 8191, 8192, 500, 1000001, 16384};
	static const unsigned order[] = {4, 1, 3, 0, 7, 5, 6, 9, 2, 8};
	struct wheel_event events[ARRAY_COUNT(times)];
	struct event_wheel wheel;

	(void)state;
	assert_int_equal(event_wheel_init(&wheel), 0);
	assert_int_equal(event_wheel_reserve(&wheel, EVENTS), 0);
	assert_int_equal(event_wheel_deadline(&wheel), TIME_NEVER);
	for (unsigned i = 0; i < ARRAY_COUNT(times); i++) {
		wheel_event_init(&events[i], 0);
		assert_false(wheel_event_is_armed(&events[i]));
		event_wheel_arm(&wheel, &events[i], times[i]);
		assert_true(wheel_event_is_armed(&events[i]));
	}
	for (unsigned i = 0; i < ARRAY_COUNT(order); i++) {
		time_ns due = times[order[i]];

		assert_int_equal(event_wheel_deadline(&wheel), due);
		if (due)
			assert_null(take_one(&wheel, due - 1));
		assert_ptr_equal(take_one(&wheel, due), &events[order[i]]);
		assert_false(wheel_event_is_armed(&events[order[i]]));
	}
	assert_null(take_one(&wheel, TIME_NEVER));
	event_wheel_release(&wheel);
}

static void test_what_is_past_is_due_at_once(void **state)
{
	struct event_wheel wheel;
	struct wheel_event first, second;

	(void)state;
	assert_int_equal(event_wheel_init(&wheel), 0);
	assert_int_equal(event_wheel_reserve(&wheel, EVENTS), 0);
	wheel_event_init(&first, 0);
	wheel_event_init(&second, 0);
	event_wheel_arm(&wheel, &first, 70000);
	assert_ptr_equal(take_one(&wheel, 80000), &first);
	event_wheel_arm(&wheel, &second, 10);
	assert_int_equal(event_wheel_deadline(&wheel), 70000);
	assert_ptr_equal(take_one(&wheel, 80000), &second);
	event_wheel_release(&wheel);
}

/* Events armed, moved, cancelled and taken at random: the same as a search through all of them. */
static void test_agrees_with_a_plain_search(void **state)
{
	static const time_ns spans[] = {1, 50, 8191, 8192, 8193, 100000};

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct random random = random_seeded(seed);
		struct wheel_event events[EVENTS];
		time_ns due[EVENTS];
		struct event_wheel wheel;
		time_ns now = 0;

		assert_int_equal(event_wheel_init(&wheel), 0);
		assert_int_equal(event_wheel_reserve(&wheel, EVENTS), 0);
		for (unsigned i = 0; i < EVENTS; i++) {
			wheel_event_init(&events[i], 0);
			due[i] = TIME_NEVER;
		}
		for (unsigned step = 0; step < 3000; step++) {
			unsigned i = (unsigned)random_below(&random, EVENTS);

			if (random_below(&random, 4) == 0) {
				event_wheel_cancel(&wheel, &events[i]);
				due[i] = TIME_NEVER;
			} else {
				due[i] = now +
					 random_below(&random, spans[random_below(&random, 6)]);
				event_wheel_arm(&wheel, &events[i], due[i]);
			}
			if (random_below(&random, 8))
				continue;

			time_ns earliest = TIME_NEVER;

			for (unsigned j = 0; j < EVENTS; j++)
				earliest = time_earlier(earliest, due[j]);
			assert_int_equal(event_wheel_deadline(&wheel), earliest);
			if (earliest == TIME_NEVER)
				continue;
			now = earliest;

			struct wheel_event *event = take_one(&wheel, now);

			assert_non_null(event);
			assert_int_equal(due[event - events], now);
			due[event - events] = TIME_NEVER;
		}
		event_wheel_release(&wheel);
	}
}

static bool is_the_one(const struct timer *timer, const void *context)
{
	return timer == context;
}

static bool is_any(const struct timer *timer, const void *context)
{
	(void)timer;
	(void)context;
	return true;
}

/* Launched and armed events come in one order, with their kinds, near and far. */
static void test_launched_events_come_in_order_with_the_others(void **state)
{
	enum { ROUNDS = 40 };
	struct wheel_event armed[ROUNDS];
	struct timer launched[ROUNDS];
	struct event_wheel wheel;
	struct wheel_due due[2];

	(void)state;
	assert_int_equal(event_wheel_init(&wheel), 0);
	assert_int_equal(event_wheel_reserve(&wheel, ROUNDS), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		wheel_event_init(&armed[i], 1);
		event_wheel_arm(&wheel, &armed[i], 700 * i);
		assert_true(event_wheel_launch(&wheel, &launched[i], 2, 700 * i));
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		assert_int_equal(event_wheel_take(&wheel, 700 * i, 2, due), 2);
		for (unsigned j = 0; j < 2; j++)
			assert_ptr_equal(due[j].timer,
					 due[j].kind == 1 ? &armed[i].timer : &launched[i]);
		assert_int_equal(due[0].kind + due[1].kind, 3);
	}
	assert_int_equal(event_wheel_deadline(&wheel), TIME_NEVER);
	event_wheel_release(&wheel);
}

static void test_peeking_shows_what_is_taken_next(void **state)
{
	struct timer timers[100];
	struct event_wheel wheel;
	struct wheel_due due[8], next[8];

	(void)state;
	assert_int_equal(event_wheel_init(&wheel), 0);
	for (unsigned i = 0; i < ARRAY_COUNT(timers); i++)
		assert_true(event_wheel_launch(&wheel, &timers[i], 3, 8190 + i / 40));
	for (unsigned left = ARRAY_COUNT(timers); left;) {
		unsigned seen, count;

		/* Peek sees only some way ahead; taking the first events moves the wheel on. */
		seen = event_wheel_peek(&wheel, 8, next);
		count = event_wheel_take(&wheel, 9000, 8, due);
		assert_in_range(count, 1, left);
		for (unsigned i = 0; i < count && i < seen; i++) {
			assert_ptr_equal(next[i].timer, due[i].timer);
			assert_int_equal(next[i].kind, 3);
		}
		if (left < ARRAY_COUNT(timers))
			assert_in_range(seen, count, 8);
		left -= count;
	}
	event_wheel_release(&wheel);
}

static void test_launched_events_are_called_back_the_earliest_first(void **state)
{
	struct timer timers[6];
	struct event_wheel wheel;
	struct wheel_event armed;
	struct wheel_due due;

	(void)state;
	assert_int_equal(event_wheel_init(&wheel), 0);
	assert_int_equal(event_wheel_reserve(&wheel, 1), 0);
	wheel_event_init(&armed, 0);
	event_wheel_arm(&wheel, &armed, 1);
	for (unsigned i = 0; i < ARRAY_COUNT(timers); i++)
		assert_true(event_wheel_launch(&wheel, &timers[i], 2, 5000 * (6 - i)));
	assert_ptr_equal(event_wheel_take_launched(&wheel, is_the_one, &timers[2]), &timers[2]);
	assert_null(event_wheel_take_launched(&wheel, is_the_one, &timers[2]));
	assert_ptr_equal(event_wheel_take_launched(&wheel, is_any, NULL), &timers[5]);
	assert_ptr_equal(event_wheel_take_launched(&wheel, is_any, NULL), &timers[4]);
	assert_int_equal(event_wheel_take(&wheel, TIME_NEVER, 1, &due), 1);
	assert_ptr_equal(due.timer, &armed.timer);
	assert_ptr_equal(event_wheel_take_launched(&wheel, is_any, NULL), &timers[3]);
	assert_ptr_equal(event_wheel_take_launched(&wheel, is_any, NULL), &timers[1]);
	assert_ptr_equal(event_wheel_take_launched(&wheel, is_any, NULL), &timers[0]);
	assert_null(event_wheel_take_launched(&wheel, is_any, NULL));
	assert_int_equal(event_wheel_deadline(&wheel), TIME_NEVER);
	event_wheel_release(&wheel);
}

/* More than one chunk of events, some cancelled before and some while the others are taken. */
static void test_events_of_one_instant_are_taken_in_order_and_in_parts(void **state)
{
	struct wheel_event events[EVENTS];
	struct wheel_due taken[EVENTS];
	struct event_wheel wheel;
	unsigned next = 0;

	(void)state;
	assert_int_equal(event_wheel_init(&wheel), 0);
	assert_int_equal(event_wheel_reserve(&wheel, EVENTS), 0);
	for (unsigned i = 0; i < EVENTS; i++) {
		wheel_event_init(&events[i], 0);
		event_wheel_arm(&wheel, &events[i], 77);
	}
	for (unsigned i = 0; i < EVENTS; i += 3)
		event_wheel_cancel(&wheel, &events[i]);
	event_wheel_cancel(&wheel, &events[EVENTS - 1]);

	unsigned left = EVENTS - (EVENTS + 2) / 3 - 1;

	while (left) {
		unsigned count = event_wheel_take(&wheel, 77, 7, taken);

		assert_int_equal(count, left < 7 ? left : 7);
		for (unsigned i = 0; i < count; i++) {
			while (next % 3 == 0)
				next++;
			assert_ptr_equal(taken[i].timer, &events[next].timer);
			assert_false(wheel_event_is_armed(&events[next++]));
		}
		left -= count;
		/* The last event moves to the end, and is cancelled. */
		event_wheel_arm(&wheel, &events[0], 77);
		event_wheel_cancel(&wheel, &events[0]);
	}
	assert_int_equal(event_wheel_take(&wheel, 77, 7, taken), 0);
	assert_int_equal(event_wheel_deadline(&wheel), TIME_NEVER);
	event_wheel_release(&wheel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_come_in_order_of_time_and_of_arming),
		cmocka_unit_test(test_what_is_past_is_due_at_once),
		cmocka_unit_test(test_agrees_with_a_plain_search),
		cmocka_unit_test(test_launched_events_come_in_order_with_the_others),
		cmocka_unit_test(test_peeking_shows_what_is_taken_next),
		cmocka_unit_test(test_launched_events_are_called_back_the_earliest_first),
		cmocka_unit_test(test_events_of_one_instant_are_taken_in_order_and_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
