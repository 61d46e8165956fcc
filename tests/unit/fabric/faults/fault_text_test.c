/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of faults: accepted and refused texts, and that writing and reading agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/attributes.h"
#include "fabric/faults/fault_text.h"

static void expect(const char *text, const char *written)
{
	struct fault_settings settings = {0};
	char result[FAULT_TEXT_BYTES];

	assert_null(fault_text_parse(text, &settings));
	fault_text_write(&settings, result);
	assert_string_equal(result, written);
}

static void test_settings_are_understood(void **state)
{
	(void)state;
	expect("drop=0.5", "drop=0.5");
	expect("drop=25%", "drop=0.25");
	expect("drop=1", "drop=1");
	expect("drop=0", "");
	expect("drop=0.02", "drop=0.02");
	expect("drop=1e-12", "drop=2e-10");
	expect("corrupt=0.125", "corrupt=0.125");
	expect("corrupt-inside=0.125", "corrupt-inside=0.125");
	expect("duplicate=0.125", "duplicate=0.125");
	expect("reorder=0.125", "reorder=0.125");
	expect("credit-loss=0.125", "credit-loss=0.125");
	expect("delay=1ms", "delay=1ms");
	expect("delay=1.5us", "delay=1500ns");
	expect("delay=0", "");
	expect("jitter=20us", "jitter=20us");
	expect("rate=2.5Gbit", "rate=2500Mbit");
	expect("rate=1gbit", "rate=1Gbit");
	expect("flap=1s/200ms", "flap=1s/200ms");
	expect("flap=0", "");
	expect("blackhole", "drop=1");
	expect("mads", "mads");
}

static void test_nonsense_is_refused_and_changes_nothing(void **state)
{
	static const char *const texts[] = {
		"",	     "drop",	      "drop=",	     "drop=2",	 "drop=-1",
		"drop=nan",  "drop=101%",     "drop=0.5x",   "drop=inf", "dro=0.5",
		"drops=0.5", "delay=1",	      "delay=-1ms",  "delay=1h", "delay=2e20s",
		"rate=5",    "rate=1bit",     "rate=-1Gbit", "flap=1s",	 "flap=1s/0ms",
		"flap=/1s",  "flap=1s/2s/3s", "blackhole=1", "=0.5",
	};
	static const struct fault_settings before = {.drop = 5, .delay = 7, .bits_per_second = 9};

	(void)state;
	for (unsigned index = 0; index < ARRAY_COUNT(texts); index++) {
		struct fault_settings settings = before;

		if (!fault_text_parse(texts[index], &settings))
			fail_msg("%s was taken", texts[index]);
		assert_memory_equal(&settings, &before, sizeof(settings));
	}
}

static void test_settings_add_up(void **state)
{
	struct fault_settings settings = {0};
	char result[FAULT_TEXT_BYTES];

	(void)state;
	assert_null(fault_text_parse("drop=0.5", &settings));
	assert_null(fault_text_parse("delay=1ms", &settings));
	assert_null(fault_text_parse("drop=0.25", &settings));
	fault_text_write(&settings, result);
	assert_string_equal(result, "drop=0.25 delay=1ms");
}

static void test_a_decision_is_read_as_it_was_written(void **state)
{
	(void)state;
	for (unsigned actions = 0; actions < 128; actions++) {
		struct fault_decision decision = {.actions = actions};
		struct fault_decision again = {0};
		char text[FAULT_TEXT_BYTES];
		char *rest = NULL;

		if (actions & FAULT_DELAY)
			decision.jitter = 12345;
		if (actions & FAULT_CORRUPT)
			decision.bit = UINT64_MAX - actions;
		fault_text_write_decision(&decision, text);
		for (char *word = strtok_r(text, " ", &rest); word;
		     word = strtok_r(NULL, " ", &rest))
			assert_true(fault_text_parse_decision(word, &again));
		assert_memory_equal(&again, &decision, sizeof(again));
	}
}

static void test_words_that_are_no_decision_are_refused(void **state)
{
	static const char *const words[] = {
		"", "dropped", "bit", "bit=", "bit=x", "delay=5", "delay=xns"};
	struct fault_decision decision = {0};

	(void)state;
	for (unsigned index = 0; index < ARRAY_COUNT(words); index++)
		assert_false(fault_text_parse_decision(words[index], &decision));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings_are_understood),
		cmocka_unit_test(test_nonsense_is_refused_and_changes_nothing),
		cmocka_unit_test(test_settings_add_up),
		cmocka_unit_test(test_a_decision_is_read_as_it_was_written),
		cmocka_unit_test(test_words_that_are_no_decision_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
