/* SPDX-License-Identifier: Apache-2.0 */
/* The timer heap, against a plain list of the same timers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/random.h"
#include "base/timer_queue.h"

enum { TIMER_COUNT = 50 };

static void test_timers_come_out_in_order_and_only_when_due(void **state)
{
	(void)state;
	struct timer_queue queue;
	struct timer timers[3] = {0};

	timer_queue_init(&queue);
	assert_int_equal(timer_queue_deadline(&queue), TIME_NEVER);
	assert_null(timer_queue_pop(&queue, TIME_NEVER));
	assert_int_equal(timer_queue_reserve(&queue, 3), 0);
	timer_queue_arm(&queue, &timers[0], 30);
	timer_queue_arm(&queue, &timers[1], 10);
	timer_queue_arm(&queue, &timers[2], 20);
	assert_int_equal(timer_queue_deadline(&queue), 10);
	assert_null(timer_queue_pop(&queue, 9));
	assert_ptr_equal(timer_queue_pop(&queue, 20), &timers[1]);
	assert_false(timer_is_armed(&timers[1]));
	assert_ptr_equal(timer_queue_pop(&queue, 20), &timers[2]);
	assert_null(timer_queue_pop(&queue, 20));
	assert_ptr_equal(timer_queue_pop(&queue, 30), &timers[0]);
	timer_queue_release(&queue);
}

static void test_arming_again_moves_and_cancel_twice_is_harmless(void **state)
{
	(void)state;
	struct timer_queue queue;
	struct timer timers[2] = {0};

	timer_queue_init(&queue);
	assert_int_equal(timer_queue_reserve(&queue, 2), 0);
	timer_queue_arm(&queue, &timers[0], 30);
	timer_queue_arm(&queue, &timers[1], 20);
	timer_queue_arm(&queue, &timers[0], 10);
	assert_int_equal(timer_queue_deadline(&queue), 10);
	timer_queue_arm(&queue, &timers[0], 40);
	assert_int_equal(timer_queue_deadline(&queue), 20);
	assert_int_equal(queue.count, 2);
	timer_queue_cancel(&queue, &timers[1]);
	timer_queue_cancel(&queue, &timers[1]);
	assert_int_equal(timer_queue_deadline(&queue), 40);
	timer_queue_cancel(&queue, &timers[0]);
	assert_int_equal(queue.count, 0);
	timer_queue_release(&queue);
}

static time_ns earliest(const struct timer *timers)
{
	time_ns deadline = TIME_NEVER;

	for (unsigned i = 0; i < TIMER_COUNT; i++)
		if (timer_is_armed(&timers[i]))
			deadline = time_earlier(deadline, timers[i].deadline);
	return deadline;
}

static void test_any_mix_of_arm_cancel_and_pop_keeps_the_order(void **state)
{
	(void)state;
	struct random random = random_seeded(40);
	struct timer_queue queue;
	struct timer timers[TIMER_COUNT] = {0};

	timer_queue_init(&queue);
	for (uint32_t count = 1; count <= TIMER_COUNT; count++)
		assert_int_equal(timer_queue_reserve(&queue, count), 0);
	for (unsigned step = 0; step < 20000; step++) {
		struct timer *timer = &timers[random_below(&random, TIMER_COUNT)];
		time_ns now = random_below(&random, 1000);

		if (random_below(&random, 3)) {
			timer_queue_arm(&queue, timer, random_below(&random, 1000));
		} else if (random_below(&random, 2)) {
			timer_queue_cancel(&queue, timer);
			assert_false(timer_is_armed(timer));
		} else {
			time_ns due = earliest(timers);
			struct timer *popped = timer_queue_pop(&queue, now);

			assert_int_equal(popped != NULL, due <= now);
			if (popped)
				assert_int_equal(popped->deadline, due);
		}
		assert_int_equal(timer_queue_deadline(&queue), earliest(timers));
	}
	timer_queue_release(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timers_come_out_in_order_and_only_when_due),
		cmocka_unit_test(test_arming_again_moves_and_cancel_twice_is_harmless),
		cmocka_unit_test(test_any_mix_of_arm_cancel_and_pop_keeps_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
