/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the rendered tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "api/libibumad/umad_sysfs.h"
#include "unit/api/libibumad/rendered_tree.h"

static int make_tree(void **state)
{
	(void)state;
	tree_make();
	tree_write("infiniband/x/file", "first line\nsecond line");
	tree_write("infiniband/x/long",
		   "0123456789012345678901234567890123456789012345678901234567890123456789");
	return 0;
}

static int remove_tree(void **state)
{
	(void)state;
	tree_remove();
	return 0;
}

static void test_only_the_first_line_is_read(void **state)
{
	char text[UMAD_SYSFS_TEXT_BYTES];

	(void)state;
	assert_int_equal(umad_sysfs_read_text(text, "infiniband/%s/file", "x"), 0);
	assert_string_equal(text, "first line");
	assert_int_equal(umad_sysfs_read_text(text, "infiniband/x/long"), 0);
	assert_int_equal(strlen(text), UMAD_SYSFS_TEXT_BYTES - 1);
	assert_int_equal(umad_sysfs_read_text(text, "infiniband/x/absent"), -ENOENT);
	assert_string_equal(text, "");
}

static void test_a_number_starts_the_line(void **state)
{
	(void)state;
	assert_int_equal(umad_sysfs_number("4: ACTIVE"), 4);
	assert_int_equal(umad_sysfs_number("0x1f"), 31);
	assert_int_equal(umad_sysfs_number("2.5 Gb/sec (1X SDR)"), 2);
	assert_int_equal(umad_sysfs_number(""), 0);
	assert_int_equal(umad_sysfs_number("ACTIVE"), 0);
}

static void test_groups_must_be_all_there_and_nothing_more(void **state)
{
	uint16_t groups[4] = {9, 9, 9, 9};
	const char *const bad[] = {
		"",	  "1:2:3",   "1:2:3:4:5", "1:2:3:10000",
		"1:2::4", "1:2:3:x", "1:2:3:4 ",  "-1:2:3:4",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(umad_sysfs_parse_groups(bad[i], 4, groups), -EINVAL);
	assert_int_equal(groups[0], 9);
	assert_int_equal(umad_sysfs_parse_groups("025f:1b01:0001:ffff", 4, groups), 0);
	assert_int_equal(groups[0], 0x25f);
	assert_int_equal(groups[3], 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_the_first_line_is_read),
		cmocka_unit_test(test_a_number_starts_the_line),
		cmocka_unit_test(test_groups_must_be_all_there_and_nothing_more),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
