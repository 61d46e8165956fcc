/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the general service classes (management 1.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cli/class_names.h"

static void test_names_and_numbers(void **state)
{
	static const struct {
		const char *text;
		uint8_t class;
	} rows[] = {{"sa", 3},	 {"perf", 4},	       {"baseboard", 5}, {"device", 6}, {"cm", 7},
		    {"snmp", 8}, {"congestion", 0x21}, {"0x32", 0x32},	 {"255", 255},	{"9", 9}};
	uint8_t class;

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(class_name_parse(rows[i].text, &class));
		assert_int_equal(class, rows[i].class);
	}
	assert_string_equal(class_name_of(4), "perf");
	assert_null(class_name_of(0x32));
}

static void test_other_words_are_none(void **state)
{
	static const char *const texts[] = {"",	  "0",	"256",	"-1", "performance",
					    "4x", "0x", "perf "};
	uint8_t class = 77;

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(class_name_parse(texts[i], &class));
	assert_int_equal(class, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_numbers),
		cmocka_unit_test(test_other_words_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
