/* SPDX-License-Identifier: Apache-2.0 */
/* The list of adapters: InfiniBand ones, in the order of their numbers (abi 8.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include <infiniband/umad.h>

#include "unit/api/libibumad/rendered_tree.h"

static int make_tree(void **state)
{
	(void)state;
	tree_make();
	tree_write_ca("softib10", "025f:1b01:0001:0a00");
	tree_write_ca("softib2", "025f:1b01:0001:0200");
	tree_write_ca("softib1", "025f:1b01:0001:0100");
	tree_write("infiniband/iwarp0/node_type", "4: RNIC");
	tree_write("infiniband/a_name_that_is_too_long/node_type", "1: CA");
	return 0;
}

static int remove_tree(void **state)
{
	(void)state;
	tree_remove();
	return 0;
}

static void test_names_come_in_order_and_only_infiniband(void **state)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];

	(void)state;
	assert_int_equal(umad_get_cas_names(names, UMAD_MAX_DEVICES), 3);
	assert_string_equal(names[0], "softib1");
	assert_string_equal(names[1], "softib2");
	assert_string_equal(names[2], "softib10");
	assert_int_equal(umad_get_cas_names(names, 1), 1);
}

static void test_a_shuffled_list_is_sorted_again(void **state)
{
	struct umad_device_node *list = umad_get_ca_device_list();
	struct umad_device_node *second;

	(void)state;
	assert_non_null(list);
	second = list->next;
	list->next = second->next;
	second->next = list;
	list = second;
	assert_string_equal(list->ca_name, "softib2");
	assert_int_equal(umad_sort_ca_device_list(&list, 2), -EINVAL);
	assert_int_equal(umad_sort_ca_device_list(&list, 0), 0);
	assert_string_equal(list->ca_name, "softib1");
	assert_string_equal(list->next->ca_name, "softib2");
	assert_string_equal(list->next->next->ca_name, "softib10");
	assert_null(list->next->next->next);
	umad_free_ca_device_list(list);
}

static void test_a_missing_tree_has_no_adapters(void **state)
{
	char names[1][UMAD_CA_NAME_LEN];

	(void)state;
	setenv("SOFTIB_TREE", "/nonexistent", 1);
	assert_int_equal(umad_get_cas_names(names, 1), 0);
	assert_null(umad_get_ca_device_list());
	umad_free_ca_device_list(NULL);
	setenv("SOFTIB_TREE", tree_folder, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_come_in_order_and_only_infiniband),
		cmocka_unit_test(test_a_shuffled_list_is_sorted_again),
		cmocka_unit_test(test_a_missing_tree_has_no_adapters),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
