/* SPDX-License-Identifier: Apache-2.0 */
/* The log: lines arrive whole, long ones are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "daemon/core/log.h"
#include "unit/daemon/daemon_fixture.h"

static char path[96];

static int set_up(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s/log", fixture_directory());
	return 0;
}

static void test_lines_are_appended_with_their_time(void **state)
{
	char line[1024];

	(void)state;
	assert_int_equal(log_open(path), 0);
	log_line("first %d", 1);
	log_close();
	assert_int_equal(log_open(path), 0);
	log_line("second");
	log_close();

	FILE *file = fopen(path, "re");

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line + strlen("2000-01-01 00:00:00 "), "first 1\n");
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line + strlen("2000-01-01 00:00:00 "), "second\n");
	assert_null(fgets(line, sizeof(line), file));
	fclose(file);
}

static void test_a_long_line_is_cut_and_still_ends(void **state)
{
	char text[4096], line[8192];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(log_open(path), 0);
	log_line("%s", text);
	log_close();

	FILE *file = fopen(path, "re");

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_int_equal(line[strlen(line) - 1], '\n');
	assert_true(strlen(line) < 600);
	fclose(file);
}

static void test_a_place_that_can_not_be_written_is_an_error(void **state)
{
	(void)state;
	assert_true(log_open("/no/such/folder/log") < 0);
}

static unsigned lines_with(const char *part)
{
	FILE *file = fopen(path, "re");
	unsigned count = 0;
	char line[1024];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		count += strstr(line, part) != NULL;
	fclose(file);
	return count;
}

static void test_a_flood_of_lines_is_cut_and_counted(void **state)
{
	enum { FLOOD = 20000, LINES_MAX = 1 << 30 };
	unsigned count = 0;

	(void)state;
	assert_int_equal(log_open(path), 0);
	while (count < FLOOD)
		log_line("flood %u", count++);
	assert_true(lines_with("flood") < FLOOD);
	/* In the next second there are lines again, and the first says how many are missing. */
	while (!lines_with("lines were left out") && count < LINES_MAX)
		for (unsigned more = 0; more < FLOOD; more++)
			log_line("flood %u", count++);
	assert_true(lines_with("lines were left out") > 0);
	log_close();
}

static void test_a_text_can_not_begin_a_line_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(log_open(path), 0);
	log_line("name %s", "x\n2000-01-01 00:00:00 forged\033[2J");
	log_close();
	assert_int_equal(lines_with("name x?2000-01-01 00:00:00 forged?[2J"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines_are_appended_with_their_time, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_long_line_is_cut_and_still_ends, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_text_can_not_begin_a_line_of_its_own, set_up,
						fixture_tear_down),
		cmocka_unit_test(test_a_place_that_can_not_be_written_is_an_error),
		cmocka_unit_test_setup_teardown(test_a_flood_of_lines_is_cut_and_counted, set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
