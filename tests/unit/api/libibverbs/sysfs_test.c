/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one-line files, and where the tree is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/libibverbs/sysfs.h"

static char folder[] = "/tmp/softib-sysfs-test-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_folder(void **state)
{
	(void)state;
	setenv("SOFTIB_TREE", "/run/tree/h1", 1);
	unsetenv("SYSFS_PATH");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char path[256];
	const char *const names[] = {"line", "bare", "long", "empty"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

static void test_the_last_newline_is_not_part_of_the_text(void **state)
{
	char text[32];

	(void)state;
	write_file("line", "softib\n");
	write_file("bare", "softib");
	write_file("empty", "");
	assert_int_equal(ibv_read_sysfs_file(folder, "line", text, sizeof(text)), 6);
	assert_string_equal(text, "softib");
	assert_int_equal(ibv_read_sysfs_file(folder, "bare", text, sizeof(text)), 6);
	assert_string_equal(text, "softib");
	assert_int_equal(ibv_read_sysfs_file(folder, "empty", text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

static void test_no_byte_past_the_buffer_is_written(void **state)
{
	char text[8] = "........";

	(void)state;
	write_file("long", "0123456789\n");
	assert_int_equal(ibv_read_sysfs_file(folder, "long", text, 4), 4);
	assert_memory_equal(text, "0123....", 8);
}

static void test_a_missing_file_is_minus_one_with_errno(void **state)
{
	char text[8];

	(void)state;
	errno = 0;
	assert_int_equal(ibv_read_sysfs_file(folder, "absent", text, sizeof(text)), -1);
	assert_int_equal(errno, ENOENT);
}

static void test_the_rendered_tree_is_the_sysfs_root(void **state)
{
	(void)state;
	assert_string_equal(ibv_get_sysfs_path(), "/run/tree/h1/sys");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_newline_is_not_part_of_the_text),
		cmocka_unit_test(test_no_byte_past_the_buffer_is_written),
		cmocka_unit_test(test_a_missing_file_is_minus_one_with_errno),
		cmocka_unit_test(test_the_rendered_tree_is_the_sysfs_root),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
