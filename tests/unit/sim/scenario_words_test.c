/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a scenario: numbers, times, sizes, rates, and malformed ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "sim/scenario_words.h"

static void test_lines_are_cut_at_blanks_and_comments(void **state)
{
	char line[] = "  flow a\tfrom h1 # to h2";
	struct words words;

	(void)state;
	assert_true(words_split(line, &words));
	assert_int_equal(words.count, 4);
	assert_string_equal(words.words[3], "h1");
	assert_string_equal(words.words[4], "");
}

static void test_times(void **state)
{
	static const struct {
		const char *word;
		time_ns time;
	} good[] = {{"0", 0},		{"7ns", 7},	    {"1.5us", 1500},
		    {"10ms", 10000000}, {"2s", 2000000000}, {"0.000001s", 1000}};
	static const char *const bad[] = {"",	  "5",	  "ms", "1.ms.",
					  "-1ms", "1 ms", "1h", "99999999999999s"};
	time_ns time;

	(void)state;
	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(word_time(good[i].word, &time));
		assert_int_equal(time, good[i].time);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(word_time(bad[i], &time));
}

static void test_sizes_rates_and_numbers(void **state)
{
	uint64_t number;
	uint32_t bytes;

	(void)state;
	assert_true(word_bytes("4K", 1 << 20, &bytes));
	assert_int_equal(bytes, 4096);
	assert_true(word_bytes("0.5M", 1 << 20, &bytes));
	assert_int_equal(bytes, 1 << 19);
	assert_false(word_bytes("2M", 1 << 20, &bytes));
	assert_false(word_bytes("4k", 1 << 20, &bytes));
	assert_true(word_rate("2.5Gbit", &number));
	assert_int_equal(number, UINT64_C(2500000000));
	assert_false(word_rate("0Gbit", &number));
	assert_false(word_rate("2.5", &number));
	assert_true(word_number("18000000000000000000", UINT64_MAX, &number));
	assert_int_equal(number, UINT64_C(18000000000000000000));
	assert_false(word_number("184467440737095516160", UINT64_MAX, &number));
	assert_false(word_number("16", 15, &number));
	assert_false(word_number("0x10", 255, &number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_cut_at_blanks_and_comments),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_sizes_rates_and_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
