/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table, compared with a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "base/hash_table.h"
#include "base/random.h"

static int things[512];

static void test_empty_table_has_nothing(void **state)
{
	(void)state;
	struct hash_table table;

	hash_table_init(&table);
	assert_null(hash_table_get(&table, 0));
	hash_table_remove(&table, 5);
	hash_table_release(&table);
}

static void test_key_is_taken_once(void **state)
{
	(void)state;
	struct hash_table table;

	hash_table_init(&table);
	assert_int_equal(hash_table_put(&table, 0, &things[0]), 0);
	assert_int_equal(hash_table_put(&table, 0, &things[1]), -EEXIST);
	assert_ptr_equal(hash_table_get(&table, 0), &things[0]);
	assert_int_equal(table.count, 1);
	hash_table_release(&table);
}

/* Keys that differ in few bits, put and removed at random: removal must not hide the entries behind
 * it. */
static void test_agrees_with_an_array_after_random_puts_and_removals(void **state)
{
	(void)state;
	struct random random = random_seeded(11);
	bool is_there[512] = {0};
	struct hash_table table;

	hash_table_init(&table);
	for (unsigned step = 0; step < 20000; step++) {
		unsigned index = (unsigned)random_below(&random, 512);
		uint64_t key = 0x025f1b0100000000u + ((uint64_t)index << 16);

		if (random_below(&random, 2)) {
			assert_int_equal(hash_table_put(&table, key, &things[index]),
					 is_there[index] ? -EEXIST : 0);
			is_there[index] = true;
		} else {
			hash_table_remove(&table, key);
			is_there[index] = false;
		}
		if (step % 100)
			continue;
		for (unsigned i = 0; i < 512; i++)
			assert_ptr_equal(
				hash_table_get(&table, 0x025f1b0100000000u + ((uint64_t)i << 16)),
				is_there[i] ? &things[i] : NULL);
	}
	hash_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_table_has_nothing),
		cmocka_unit_test(test_key_is_taken_once),
		cmocka_unit_test(test_agrees_with_an_array_after_random_puts_and_removals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
