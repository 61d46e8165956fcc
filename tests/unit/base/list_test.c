/* SPDX-License-Identifier: Apache-2.0 */
/* The linked list, checked from both ends after each step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/list.h"

enum { ITEM_COUNT = 4 };

struct item {
	int number;
	struct list link;
};

static struct item items[ITEM_COUNT];
static struct list head;
static struct list *const list = &head;

static int set_up(void **state)
{
	(void)state;
	list_init(list);
	for (int i = 0; i < ITEM_COUNT; i++) {
		items[i].number = i;
		list_init(&items[i].link);
	}
	return 0;
}

/* expected: digits in order. */
static void expect_order(const char *expected)
{
	const char *digit = expected;

	list_for_each (cursor, list)
		assert_int_equal(container_of(cursor, struct item, link)->number, *digit++ - '0');
	assert_int_equal(*digit, 0);
	for (struct list *cursor = list->previous; cursor != list; cursor = cursor->previous)
		assert_int_equal(container_of(cursor, struct item, link)->number, *--digit - '0');
	assert_ptr_equal(digit, expected);
	assert_int_equal(list_is_empty(list), *expected == 0);
}

static void test_append_and_prepend_keep_order(void **state)
{
	(void)state;
	expect_order("");
	list_append(list, &items[1].link);
	list_append(list, &items[2].link);
	list_prepend(list, &items[0].link);
	list_append(list, &items[3].link);
	expect_order("0123");
}

static void test_remove_works_anywhere_and_twice(void **state)
{
	(void)state;
	for (int i = 0; i < ITEM_COUNT; i++)
		list_append(list, &items[i].link);
	list_remove(&items[1].link);
	expect_order("023");
	assert_false(list_is_linked(&items[1].link));
	list_remove(&items[1].link);
	expect_order("023");
	list_remove(&items[3].link);
	list_remove(&items[0].link);
	expect_order("2");
	assert_true(list_is_linked(&items[2].link));
	list_remove(&items[2].link);
	expect_order("");
}

static void test_pop_takes_the_first(void **state)
{
	(void)state;
	assert_null(list_first(list));
	assert_null(list_pop(list));
	list_append(list, &items[2].link);
	list_append(list, &items[0].link);
	assert_ptr_equal(list_first(list), &items[2].link);
	assert_ptr_equal(list_pop(list), &items[2].link);
	expect_order("0");
	list_append(list, &items[2].link);
	expect_order("02");
}

static void test_the_body_may_remove_the_cursor(void **state)
{
	(void)state;
	for (int i = 0; i < ITEM_COUNT; i++)
		list_append(list, &items[i].link);
	list_for_each_safe (cursor, list)
		if (container_of(cursor, struct item, link)->number % 2)
			list_remove(cursor);
	expect_order("02");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_append_and_prepend_keep_order, set_up),
		cmocka_unit_test_setup(test_remove_works_anywhere_and_twice, set_up),
		cmocka_unit_test_setup(test_pop_takes_the_first, set_up),
		cmocka_unit_test_setup(test_the_body_may_remove_the_cursor, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
