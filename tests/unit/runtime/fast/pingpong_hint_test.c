/* SPDX-License-Identifier: Apache-2.0 */
/* Two programs that take turns: who waits for an ACK looks at nothing else, but not for long. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/fast/pingpong_hint.h"

static void take_turns(struct dialogue *dialogue, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		dialogue_sent(dialogue);
		dialogue_acknowledged(dialogue);
		dialogue_message_came(dialogue);
	}
}

static void test_a_few_turns_make_one(void **state)
{
	struct dialogue dialogue = {0};

	(void)state;
	take_turns(&dialogue, DIALOGUE_TURNS - 1);
	dialogue_sent(&dialogue);
	assert_false(dialogue_awaits_ack(&dialogue, 1));
	dialogue_acknowledged(&dialogue);
	dialogue_message_came(&dialogue);
	assert_true(dialogue_is_held(&dialogue));
	dialogue_sent(&dialogue);
	assert_true(dialogue_awaits_ack(&dialogue, 1));
}

static void test_only_who_sent_waits_for_an_ack(void **state)
{
	struct dialogue dialogue = {0};

	(void)state;
	take_turns(&dialogue, 2 * DIALOGUE_TURNS);
	assert_false(dialogue_awaits_ack(&dialogue, 1));
	dialogue_sent(&dialogue);
	assert_true(dialogue_awaits_ack(&dialogue, 1));
	dialogue_acknowledged(&dialogue);
	assert_false(dialogue_awaits_ack(&dialogue, 1));
}

static void test_there_is_one_wait_for_each_ack(void **state)
{
	struct dialogue dialogue = {0};

	(void)state;
	assert_false(dialogue_wait(&dialogue));
	dialogue_sent(&dialogue);
	assert_true(dialogue_wait(&dialogue));
	assert_false(dialogue_wait(&dialogue));
	dialogue_acknowledged(&dialogue);
	assert_false(dialogue_wait(&dialogue));
	dialogue_message_came(&dialogue);
	assert_false(dialogue_wait(&dialogue));
	dialogue_sent(&dialogue);
	dialogue_acknowledged(&dialogue); /* somebody else looked */
	assert_false(dialogue_wait(&dialogue));
}

/* ACKs that come after between 400 and 500: most of them are there at the first look, not all, and who
 * comes earlier is noticed. */
static void test_the_first_look_comes_when_most_are_there(void **state)
{
	enum { ACKS = 1000, EARLIEST = 400, LATEST = 500 };
	struct dialogue dialogue = {0};
	unsigned there = 0;

	(void)state;
	for (unsigned i = 0; i < 2 * ACKS; i++) {
		bool was_there = dialogue.wait >= EARLIEST + i * 37 % (LATEST - EARLIEST);

		there += i >= ACKS && was_there;
		dialogue_learn(&dialogue, was_there);
	}
	assert_in_range(there, ACKS * 7 / 10, ACKS * 9 / 10);
	assert_in_range(dialogue.wait, EARLIEST, LATEST + LATEST / DIALOGUE_LATER);
	for (unsigned i = 0; i < ACKS; i++)
		dialogue_learn(&dialogue, true);
	assert_in_range(dialogue.wait, 0, DIALOGUE_SOONER);
}

static void test_no_wait_is_long(void **state)
{
	struct dialogue dialogue = {0};

	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		dialogue_learn(&dialogue, false);
	assert_int_equal(dialogue.wait, DIALOGUE_WAIT_MAX);
}

static void test_now_and_then_it_looks_at_both(void **state)
{
	struct dialogue dialogue = {0};
	unsigned looks = 0;

	(void)state;
	take_turns(&dialogue, DIALOGUE_TURNS);
	dialogue_sent(&dialogue);
	for (unsigned look = 100; look < 100 + 3 * DIALOGUE_LOOKS; look++)
		looks += !dialogue_awaits_ack(&dialogue, look);
	assert_int_equal(looks, 3);
}

/* Both sent at once: the peer's message was there before the ACK of ours. */
static void test_a_message_before_its_ack_ends_it(void **state)
{
	struct dialogue dialogue = {0};

	(void)state;
	take_turns(&dialogue, DIALOGUE_TURNS);
	dialogue_sent(&dialogue);
	dialogue_message_came(&dialogue);
	assert_false(dialogue_is_held(&dialogue));
	dialogue_sent(&dialogue);
	assert_false(dialogue_awaits_ack(&dialogue, 1));
}

static void test_messages_without_an_answer_are_none(void **state)
{
	struct dialogue dialogue = {0};

	(void)state;
	take_turns(&dialogue, DIALOGUE_TURNS);
	dialogue_message_came(&dialogue);
	dialogue_sent(&dialogue);
	assert_false(dialogue_awaits_ack(&dialogue, 1));
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
