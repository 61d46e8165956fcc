/* SPDX-License-Identifier: Apache-2.0 */
/* A router's tables: prefixes and groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/router/routing.h"

static void test_first_route_to_a_prefix_stays(void **state)
{
	struct router_table *table;

	(void)state;
	assert_int_equal(router_table_create(&table), 0);
	assert_null(router_table_find(table, 7));
	for (uint8_t i = 0; i < 100; i++) {
		struct router_route route = {.prefix = 1 + i % 50, .output_port = i};

		assert_int_equal(router_table_add(table, &route), 0);
	}
	assert_int_equal(table->route_count, 50);
	for (uint8_t i = 0; i < 50; i++)
		assert_int_equal(router_table_find(table, 1 + i)->output_port, i);
	router_table_clear_routes(table);
	assert_null(router_table_find(table, 1));
	router_table_destroy(table);
}

static void test_group_has_an_mlid_per_subnet(void **state)
{
	struct router_table *table;
	struct gid first = {{0xff, 0x15, [15] = 1}}, second = {{0xff, 0x15, [15] = 2}};

	(void)state;
	assert_int_equal(router_table_create(&table), 0);
	assert_int_equal(router_table_set_group(table, &first, 3, 1, 0), 0);
	assert_null(router_table_find_group(table, &first));
	assert_int_equal(router_table_set_group(table, &first, 3, 1, 0xc001), 0);
	assert_int_equal(router_table_set_group(table, &first, 3, 3, 0xc005), 0);
	assert_int_equal(router_table_set_group(table, &second, 3, 2, 0xc009), 0);
	assert_int_equal(router_table_find_group(table, &first)->mlids[1], 0xc001);
	assert_int_equal(router_table_find_group(table, &first)->mlids[2], 0);
	assert_int_equal(router_table_find_group(table, &first)->mlids[3], 0xc005);
	assert_int_equal(router_table_find_group(table, &second)->mlids[2], 0xc009);
	assert_int_equal(router_table_set_group(table, &first, 3, 1, 0), 0);
	assert_int_equal(router_table_find_group(table, &first)->mlids[1], 0);
	assert_int_equal(router_table_set_group(table, &first, 3, 3, 0), 0);
	assert_null(router_table_find_group(table, &first));
	assert_int_equal(router_table_find_group(table, &second)->mlids[2], 0xc009);
	router_table_destroy(table);
	router_table_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_route_to_a_prefix_stays),
		cmocka_unit_test(test_group_has_an_mlid_per_subnet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
