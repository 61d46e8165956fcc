/* SPDX-License-Identifier: Apache-2.0 */
/* Fault decisions: from a seed, with the right frequency, and from a record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fabric/faults/fault_judge.h"

enum { PACKETS = 20000 };

static struct fault_judge judge_with(struct fault_settings settings, uint64_t seed, uint64_t guid,
				     unsigned port_number)
{
	struct fault_judge judge = {.settings = settings};

	fault_judge_seed(&judge, seed, guid, port_number);
	return judge;
}

static unsigned count_of(struct fault_judge judge, unsigned action)
{
	unsigned count = 0;

	for (unsigned packet = 0; packet < PACKETS; packet++)
		count += (fault_judge_next(&judge).actions & action) != 0;
	return count;
}

static bool decisions_agree(struct fault_judge a, struct fault_judge b)
{
	for (unsigned packet = 0; packet < 1000; packet++) {
		struct fault_decision first = fault_judge_next(&a), second = fault_judge_next(&b);

		if (first.actions != second.actions || first.bit != second.bit ||
		    first.jitter != second.jitter || first.sequence != second.sequence)
			return false;
	}
	return true;
}

static const struct fault_settings mixed = {.drop = FAULT_CERTAIN / 10,
					    .corrupt = FAULT_CERTAIN / 10,
					    .duplicate = FAULT_CERTAIN / 10,
					    .reorder = FAULT_CERTAIN / 10,
					    .jitter = 1000};

static void test_no_chance_never_happens_and_certainty_always(void **state)
{
	(void)state;
	assert_int_equal(count_of(judge_with((struct fault_settings){0}, 1, 2, 3), ~0u), 0);
	assert_int_equal(
		count_of(judge_with((struct fault_settings){.drop = FAULT_CERTAIN}, 1, 2, 3),
			 FAULT_DROP),
		PACKETS);
}

static void test_chances_come_true_as_often_as_they_say(void **state)
{
	static const unsigned actions[] = {FAULT_DROP, FAULT_CORRUPT, FAULT_DUPLICATE,
					   FAULT_REORDER};

	(void)state;
	for (unsigned index = 0; index < 4; index++) {
		unsigned count = count_of(judge_with(mixed, 7, 1, 1), actions[index]);

		/* 2000 expected, deviation 42. */
		assert_in_range(count, 1800, 2200);
	}
}

static void test_the_same_seed_gives_the_same_decisions(void **state)
{
	(void)state;
	assert_true(decisions_agree(judge_with(mixed, 7, 1, 1), judge_with(mixed, 7, 1, 1)));
	assert_false(decisions_agree(judge_with(mixed, 7, 1, 1), judge_with(mixed, 8, 1, 1)));
}

static void test_every_link_has_decisions_of_its_own(void **state)
{
	(void)state;
	assert_false(decisions_agree(judge_with(mixed, 7, 1, 1), judge_with(mixed, 7, 1, 2)));
	assert_false(decisions_agree(judge_with(mixed, 7, 1, 1), judge_with(mixed, 7, 2, 1)));
}

static void test_jitter_stays_within_its_bound(void **state)
{
	struct fault_judge judge = judge_with((struct fault_settings){.jitter = 5}, 1, 1, 1);
	unsigned seen = 0;

	(void)state;
	for (unsigned packet = 0; packet < 1000; packet++) {
		struct fault_decision decision = fault_judge_next(&judge);

		assert_in_range(decision.jitter, 0, 5);
		assert_int_equal(decision.actions, decision.jitter ? FAULT_DELAY : 0);
		seen |= 1u << decision.jitter;
	}
	assert_int_equal(seen, 0x3f);
}

static void test_a_script_decides_about_the_packets_it_names(void **state)
{
	static const struct fault_decision script[] = {
		{.sequence = 2, .actions = FAULT_DROP},
		{.sequence = 5, .actions = FAULT_CORRUPT, .bit = 77},
	};
	struct fault_judge judge = {.settings = mixed, .script = script, .script_count = 2};

	(void)state;
	for (unsigned packet = 1; packet <= 10; packet++) {
		struct fault_decision decision = fault_judge_next(&judge);
		unsigned expected = packet == 2 ? FAULT_DROP : packet == 5 ? FAULT_CORRUPT : 0;

		assert_int_equal(decision.sequence, packet);
		assert_int_equal(decision.actions, expected);
		assert_int_equal(decision.bit, packet == 5 ? 77 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_chance_never_happens_and_certainty_always),
		cmocka_unit_test(test_chances_come_true_as_often_as_they_say),
		cmocka_unit_test(test_the_same_seed_gives_the_same_decisions),
		cmocka_unit_test(test_every_link_has_decisions_of_its_own),
		cmocka_unit_test(test_jitter_stays_within_its_bound),
		cmocka_unit_test(test_a_script_decides_about_the_packets_it_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
