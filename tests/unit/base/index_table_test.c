/* SPDX-License-Identifier: Apache-2.0 */
/* The sparse array with 24-bit indexes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "base/index_table.h"

static int things[4];

static void test_entries_are_found_under_their_number_only(void **state)
{
	(void)state;
	struct index_table table;

	index_table_init(&table);
	assert_null(index_table_get(&table, 0));
	assert_int_equal(index_table_put(&table, 0, &things[0]), 0);
	assert_int_equal(index_table_put(&table, 0xffffff, &things[1]), 0);
	assert_int_equal(index_table_put(&table, 1024, &things[2]), 0);
	assert_ptr_equal(index_table_get(&table, 0), &things[0]);
	assert_ptr_equal(index_table_get(&table, 0xffffff), &things[1]);
	assert_ptr_equal(index_table_get(&table, 1024), &things[2]);
	assert_null(index_table_get(&table, 1));
	assert_null(index_table_get(&table, 1023));
	assert_null(index_table_get(&table, 5000000));
	assert_null(index_table_get(&table, 0x1000000));
	assert_null(index_table_get(&table, UINT32_MAX));
	assert_int_equal(table.count, 3);
	index_table_release(&table);
	assert_null(index_table_get(&table, 0));
}

static void test_bad_puts_are_refused_and_change_nothing(void **state)
{
	(void)state;
	struct index_table table;

	index_table_init(&table);
	assert_int_equal(index_table_put(&table, 5, &things[0]), 0);
	assert_int_equal(index_table_put(&table, 5, &things[1]), -EEXIST);
	assert_ptr_equal(index_table_get(&table, 5), &things[0]);
	assert_int_equal(index_table_put(&table, 0x1000000, &things[1]), -EINVAL);
	assert_int_equal(index_table_put(&table, 6, NULL), -EINVAL);
	assert_int_equal(table.count, 1);
	index_table_release(&table);
}

static void test_a_number_is_free_again_after_remove(void **state)
{
	(void)state;
	struct index_table table;

	index_table_init(&table);
	index_table_remove(&table, 9);
	assert_int_equal(index_table_put(&table, 9, &things[0]), 0);
	index_table_remove(&table, 9);
	index_table_remove(&table, 9);
	assert_int_equal(table.count, 0);
	assert_null(index_table_get(&table, 9));
	assert_int_equal(index_table_put(&table, 9, &things[3]), 0);
	assert_ptr_equal(index_table_get(&table, 9), &things[3]);
	index_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries_are_found_under_their_number_only),
		cmocka_unit_test(test_bad_puts_are_refused_and_change_nothing),
		cmocka_unit_test(test_a_number_is_free_again_after_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
