/* SPDX-License-Identifier: Apache-2.0 */
/* The RNR hold: the responder waits for a program that posts late, and not for long for one that
 * never posts. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/channel.h"
#include "runtime/packets/rnr_hold.h"

#define START SECONDS(1000)

static struct rnr_hold rnr_hold;

static int setup(void **state)
{
	(void)state;
	rnr_hold_init(&rnr_hold);
	return 0;
}

static void test_what_lies_at_one_place_waits_so_long_and_no_longer(void **state)
{
	(void)state;
	assert_true(rnr_hold_waits(&rnr_hold, 64, START));
	assert_true(rnr_hold.is_waiting);
	assert_true(rnr_hold_waits(&rnr_hold, 64, START + RNR_HOLD_MAX_NS - 1));
	assert_false(rnr_hold_waits(&rnr_hold, 64, START + RNR_HOLD_MAX_NS));
	assert_false(rnr_hold.is_waiting);
}

/* The peer retries the message after an RNR NAK, and may have a short ACK timeout. */
static void test_what_would_be_repeated_waits_a_millisecond_at_most(void **state)
{
	(void)state;
	assert_true(rnr_hold_waits_reliable(&rnr_hold, 64, START));
	assert_true(rnr_hold_waits_reliable(&rnr_hold, 64, START + RNR_HOLD_RELIABLE_NS - 1));
	assert_false(rnr_hold_waits_reliable(&rnr_hold, 64, START + RNR_HOLD_RELIABLE_NS));
	assert_false(rnr_hold.is_waiting);
	assert_int_equal(rnr_hold.left_ns, RNR_HOLD_MAX_NS - RNR_HOLD_RELIABLE_NS);
}

/* Everything behind it goes at once. The next hold begins only after as much time as this one took.
 */
static void test_who_never_posts_is_waited_for_half_of_the_time_at_most(void **state)
{
	time_ns now = START, waited_ns = 0;
	uint64_t position = 0;

	(void)state;
	for (; now < START + SECONDS(10); now += MICROSECONDS(100)) {
		if (rnr_hold_waits(&rnr_hold, position, now))
			waited_ns += MICROSECONDS(100);
		else
			position += 64;
	}
	assert_true(waited_ns <= SECONDS(5) + RNR_HOLD_MAX_NS);
	assert_true(waited_ns >= SECONDS(4));
}

static void test_waiting_does_not_begin_with_next_to_nothing_left(void **state)
{
	(void)state;
	assert_true(rnr_hold_waits(&rnr_hold, 0, START));
	assert_false(rnr_hold_waits(&rnr_hold, 0, START + RNR_HOLD_MAX_NS));

	time_ns gave_up = START + RNR_HOLD_MAX_NS;

	assert_false(rnr_hold_waits(&rnr_hold, 64, gave_up + RNR_HOLD_MIN_NS - 1));
	assert_true(rnr_hold_waits(&rnr_hold, 128, gave_up + RNR_HOLD_MIN_NS));
	assert_false(rnr_hold_waits(&rnr_hold, 128, gave_up + 2 * RNR_HOLD_MIN_NS));
}

/* One receive request at a time, posted as soon as the one before was used. */
static void test_who_posts_soon_is_waited_for_for_ever(void **state)
{
	time_ns now = START;

	(void)state;
	for (uint64_t position = 0; position < 64 * 100000; position += 64) {
		assert_true(rnr_hold_waits(&rnr_hold, position, now));
		now += RNR_HOLD_FREE_NS;
	}
}

/* The program gets no processor for two thirds of the time. */
static void test_who_posts_late_but_is_often_there_is_waited_for_for_ever(void **state)
{
	time_ns now = START;

	(void)state;
	for (uint64_t position = 0; position < 64 * 10000; position += 64) {
		assert_true(rnr_hold_waits(&rnr_hold, position, now));
		now += MILLISECONDS(20);
		rnr_hold_came_to(&rnr_hold, position + 32, now);
		now += MILLISECONDS(10);
	}
}

/* Other queue pairs share the ring. Holding it for each message of a slow program would starve
 * them. */
static void test_who_always_posts_late_is_not(void **state)
{
	time_ns now = START;
	unsigned waits = 0;

	(void)state;
	for (uint64_t position = 0; waits < 100 && rnr_hold_waits(&rnr_hold, position, now);
	     position += 64, waits++)
		now += MILLISECONDS(50);
	assert_in_range(waits, 3, 20);
}

static void test_nothing_waits_after_it_was_lost(void **state)
{
	(void)state;
	assert_true(rnr_hold_waits(&rnr_hold, 0, START));
	rnr_hold_lose(&rnr_hold, START + 1);
	assert_false(rnr_hold.is_waiting);
	assert_false(rnr_hold_waits(&rnr_hold, 0, START + 1));
	assert_true(rnr_hold_waits(&rnr_hold, 0, START + 1 + RNR_HOLD_MIN_NS));
}

/* Two threads read the clock before they take the lock. */
static void test_time_that_goes_back_a_little_does_no_harm(void **state)
{
	(void)state;
	assert_true(rnr_hold_waits(&rnr_hold, 0, START));
	assert_true(rnr_hold_waits(&rnr_hold, 0, START - 100));
	rnr_hold_came_to(&rnr_hold, 64, START - 100);
	assert_true(rnr_hold_waits(&rnr_hold, 64, START - 200));
}

/* Otherwise the sender would drop packets that it could have kept. */
static void test_no_sender_takes_a_patient_reader_for_a_dead_one(void **state)
{
	(void)state;
	assert_true(RNR_HOLD_MAX_NS + RNR_HOLD_MIN_NS < CHANNEL_STALL_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_what_lies_at_one_place_waits_so_long_and_no_longer,
				       setup),
		cmocka_unit_test_setup(test_what_would_be_repeated_waits_a_millisecond_at_most,
				       setup),
		cmocka_unit_test_setup(test_who_never_posts_is_waited_for_half_of_the_time_at_most,
				       setup),
		cmocka_unit_test_setup(test_waiting_does_not_begin_with_next_to_nothing_left,
				       setup),
		cmocka_unit_test_setup(test_who_posts_soon_is_waited_for_for_ever, setup),
		cmocka_unit_test_setup(
			test_who_posts_late_but_is_often_there_is_waited_for_for_ever, setup),
		cmocka_unit_test_setup(test_who_always_posts_late_is_not, setup),
		cmocka_unit_test_setup(test_nothing_waits_after_it_was_lost, setup),
		cmocka_unit_test_setup(test_time_that_goes_back_a_little_does_no_harm, setup),
		cmocka_unit_test_setup(test_no_sender_takes_a_patient_reader_for_a_dead_one, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
