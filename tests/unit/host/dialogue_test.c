/* SPDX-License-Identifier: Apache-2.0 */
/* Two programs that take turns: who waits for an ACK looks at nothing else, but not for long. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "host/dialogue.h"

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
		cmocka_unit_test(test_now_and_then_it_looks_at_both),
		cmocka_unit_test(test_a_message_before_its_ack_ends_it),
		cmocka_unit_test(test_messages_without_an_answer_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
