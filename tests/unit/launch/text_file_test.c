/* SPDX-License-Identifier: Apache-2.0 */
/* Files are read whole and written whole, and failures are reported. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "launch/text_file.h"

static char folder[] = "/tmp/softib-text-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/lids", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void test_what_is_written_is_read(void **state)
{
	struct stat status;
	char *text;
	size_t byte_count;

	(void)state;
	assert_int_equal(text_file_write(path, "0x1 0x2 0x2\n"), 0);
	assert_int_equal(text_file_write(path, "0x1 0x3 0x3\n"), 0);
	assert_int_equal(text_file_read(path, 100, &text, &byte_count), 0);
	assert_int_equal(byte_count, 12);
	assert_string_equal(text, "0x1 0x3 0x3\n");
	free(text);
	/* Not readable by others. */
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void test_a_limit_is_kept_to_the_byte(void **state)
{
	char *text = NULL;
	size_t byte_count;

	(void)state;
	assert_int_equal(text_file_write(path, "12345"), 0);
	assert_int_equal(text_file_read(path, 4, &text, &byte_count), -EFBIG);
	assert_null(text);
	assert_int_equal(text_file_read(path, 5, &text, &byte_count), 0);
	assert_int_equal(byte_count, 5);
	free(text);
}

static void test_an_empty_file_is_an_empty_text(void **state)
{
	char *text;
	size_t byte_count;

	(void)state;
	assert_int_equal(text_file_write(path, ""), 0);
	assert_int_equal(text_file_read(path, 10, &text, &byte_count), 0);
	assert_int_equal(byte_count, 0);
	assert_string_equal(text, "");
	free(text);
}

static void test_what_is_not_there_is_said(void **state)
{
	char *text;
	size_t byte_count;

	(void)state;
	assert_int_equal(text_file_read("/nonexistent/lids", 10, &text, &byte_count), -ENOENT);
	assert_int_equal(text_file_read(folder, 10, &text, &byte_count), -EISDIR);
	assert_int_equal(text_file_write("/nonexistent/lids", "x"), -ENOENT);
}

/* The old file stays, and no half-written file is left. */
static void test_a_write_that_fails_leaves_the_old_file(void **state)
{
	char new_path[80];
	char *text;
	size_t byte_count;

	(void)state;
	assert_int_equal(text_file_write(path, "old"), 0);
	snprintf(new_path, sizeof(new_path), "%s.new", path);
	assert_int_equal(mkdir(new_path, 0700), 0);
	assert_int_not_equal(text_file_write(path, "new"), 0);
	assert_int_equal(rmdir(new_path), 0);
	assert_int_equal(text_file_read(path, 10, &text, &byte_count), 0);
	assert_string_equal(text, "old");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_is_read),
		cmocka_unit_test(test_a_limit_is_kept_to_the_byte),
		cmocka_unit_test(test_an_empty_file_is_an_empty_text),
		cmocka_unit_test(test_what_is_not_there_is_said),
		cmocka_unit_test(test_a_write_that_fails_leaves_the_old_file),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
