/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of partitions.conf, with the line of each error (management 9.2). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/subnet/policy_text.h"

static struct policy_error error;

static struct policy_text text_of(const char *text)
{
	memset(&error, 0, sizeof(error));
	return (struct policy_text){
		.next = text, .end = text + strlen(text), .line = 1, .error = &error};
}

static void test_names_and_values_lose_their_blanks(void **state)
{
	struct policy_text text = text_of("  a b = c d\t, e ;rest");
	struct policy_token token;

	(void)state;
	assert_int_equal(policy_text_read(&text, ",;", &token), 0);
	assert_string_equal(token.name, "a b");
	assert_string_equal(token.value, "c d");
	assert_true(token.has_value);
	assert_int_equal(token.delimiter, ',');
	assert_int_equal(policy_text_read(&text, ",;", &token), 0);
	assert_string_equal(token.name, "e");
	assert_false(token.has_value);
	assert_int_equal(token.delimiter, ';');
	assert_int_equal(policy_text_read(&text, ",;", &token), 0);
	assert_string_equal(token.name, "rest");
	assert_int_equal(token.delimiter, 0);
}

static void test_comments_end_with_their_line_and_lines_are_counted(void **state)
{
	struct policy_text text = text_of("# one\n\n  a, # two;\n b;");
	struct policy_token token;

	(void)state;
	assert_int_equal(policy_text_read(&text, ",;", &token), 0);
	assert_string_equal(token.name, "a");
	assert_int_equal(text.line, 3);
	assert_true(policy_text_line_is_over(&text));
	assert_int_equal(policy_text_read(&text, ",;", &token), 0);
	assert_string_equal(token.name, "b");
	assert_int_equal(text.line, 4);
}

static void test_a_token_without_end_is_refused(void **state)
{
	char long_one[POLICY_TOKEN_BYTES + 2];
	struct policy_text text;
	struct policy_token token;

	(void)state;
	memset(long_one, 'x', sizeof(long_one) - 1);
	long_one[sizeof(long_one) - 1] = '\0';
	text = text_of(long_one);
	assert_int_equal(policy_text_read(&text, ";", &token), -EINVAL);
	assert_int_equal(error.line, 1);
	assert_non_null(strstr(error.reason, "without a delimiter"));
}

static void test_numbers_are_whole_and_in_range(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t number;
	} cases[] = {
		{"a=0x10;", 0, 16},
		{"a=15;", 0, 15},
		{"a=16;", 0, 16},
		{"a=17;", -EINVAL, 0},
		{"a=-1;", -EINVAL, 0},
		{"a=1x;", -EINVAL, 0},
		{"a=;", -EINVAL, 0},
		{"a;", -EINVAL, 0},
		{"a=99999999999999999999;", -EINVAL, 0},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct policy_text text = text_of(cases[i].text);
		struct policy_token token;
		uint64_t number = 0;

		assert_int_equal(policy_text_read(&text, ";", &token), 0);
		assert_int_equal(policy_text_number(&text, &token, 16, &number), cases[i].result);
		assert_int_equal(number, cases[i].number);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_values_lose_their_blanks),
		cmocka_unit_test(test_comments_end_with_their_line_and_lines_are_counted),
		cmocka_unit_test(test_a_token_without_end_is_refused),
		cmocka_unit_test(test_numbers_are_whole_and_in_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
