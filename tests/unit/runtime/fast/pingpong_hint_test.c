/* SPDX-License-Identifier: Apache-2.0 */
/* The ping-pong hint: a program that waits for an ACK first watches for that ACK only, for a
 * limited time. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/fast/pingpong_hint.h"

static void take_turns(struct pingpong *pingpong, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		pingpong_sent(pingpong);
		pingpong_acknowledged(pingpong);
		pingpong_message_came(pingpong);
	}
}

static void test_a_few_turns_make_one(void **state)
{
	struct pingpong pingpong = {0};

	(void)state;
	take_turns(&pingpong, PINGPONG_TURNS - 1);
	pingpong_sent(&pingpong);
	assert_false(pingpong_awaits_ack(&pingpong, 1));
	pingpong_acknowledged(&pingpong);
	pingpong_message_came(&pingpong);
	assert_true(pingpong_is_held(&pingpong));
	pingpong_sent(&pingpong);
	assert_true(pingpong_awaits_ack(&pingpong, 1));
}

static void test_only_who_sent_waits_for_an_ack(void **state)
{
	struct pingpong pingpong = {0};

	(void)state;
	take_turns(&pingpong, 2 * PINGPONG_TURNS);
	assert_false(pingpong_awaits_ack(&pingpong, 1));
	pingpong_sent(&pingpong);
	assert_true(pingpong_awaits_ack(&pingpong, 1));
	pingpong_acknowledged(&pingpong);
	assert_false(pingpong_awaits_ack(&pingpong, 1));
}

static void test_there_is_one_wait_for_each_ack(void **state)
{
	struct pingpong pingpong = {0};

	(void)state;
	assert_false(pingpong_wait(&pingpong));
	pingpong_sent(&pingpong);
	assert_true(pingpong_wait(&pingpong));
	assert_false(pingpong_wait(&pingpong));
	pingpong_acknowledged(&pingpong);
	assert_false(pingpong_wait(&pingpong));
	pingpong_message_came(&pingpong);
	assert_false(pingpong_wait(&pingpong));
	pingpong_sent(&pingpong);
	pingpong_acknowledged(&pingpong); /* somebody else polled the ring */
	assert_false(pingpong_wait(&pingpong));
}

/* ACKs that arrive after 400 to 500: most are found at the first look, not all, and earlier ones
 * are noticed. */
static void test_the_first_look_comes_when_most_are_there(void **state)
{
	enum { ACKS = 1000, EARLIEST = 400, LATEST = 500 };
	struct pingpong pingpong = {0};
	unsigned there = 0;

	(void)state;
	for (unsigned i = 0; i < 2 * ACKS; i++) {
		bool was_there = pingpong.wait >= EARLIEST + i * 37 % (LATEST - EARLIEST);

		there += i >= ACKS && was_there;
		pingpong_learn(&pingpong, was_there);
	}
	assert_in_range(there, ACKS * 7 / 10, ACKS * 9 / 10);
	assert_in_range(pingpong.wait, EARLIEST, LATEST + LATEST / PINGPONG_LATER);
	for (unsigned i = 0; i < ACKS; i++)
		pingpong_learn(&pingpong, true);
	assert_in_range(pingpong.wait, 0, PINGPONG_SOONER);
}

static void test_no_wait_is_long(void **state)
{
	struct pingpong pingpong = {0};

	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		pingpong_learn(&pingpong, false);
	assert_int_equal(pingpong.wait, PINGPONG_WAIT_MAX);
}

static void test_now_and_then_it_looks_at_both(void **state)
{
	struct pingpong pingpong = {0};
	unsigned looks = 0;

	(void)state;
	take_turns(&pingpong, PINGPONG_TURNS);
	pingpong_sent(&pingpong);
	for (unsigned look = 100; look < 100 + 3 * PINGPONG_LOOKS; look++)
		looks += !pingpong_awaits_ack(&pingpong, look);
	assert_int_equal(looks, 3);
}

/* Both sent at once: the peer's message arrived before the ACK of ours. */
static void test_a_message_before_its_ack_ends_it(void **state)
{
	struct pingpong pingpong = {0};

	(void)state;
	take_turns(&pingpong, PINGPONG_TURNS);
	pingpong_sent(&pingpong);
	pingpong_message_came(&pingpong);
	assert_false(pingpong_is_held(&pingpong));
	pingpong_sent(&pingpong);
	assert_false(pingpong_awaits_ack(&pingpong, 1));
}

static void test_messages_without_an_answer_are_none(void **state)
{
	struct pingpong pingpong = {0};

	(void)state;
	take_turns(&pingpong, PINGPONG_TURNS);
	pingpong_message_came(&pingpong);
	pingpong_sent(&pingpong);
	assert_false(pingpong_awaits_ack(&pingpong, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_few_turns_make_one),
		cmocka_unit_test(test_only_who_sent_waits_for_an_ack),
		cmocka_unit_test(test_there_is_one_wait_for_each_ack),
		cmocka_unit_test(test_the_first_look_comes_when_most_are_there),
		cmocka_unit_test(test_no_wait_is_long),
		cmocka_unit_test(test_now_and_then_it_looks_at_both),
		cmocka_unit_test(test_a_message_before_its_ack_ends_it),
		cmocka_unit_test(test_messages_without_an_answer_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
