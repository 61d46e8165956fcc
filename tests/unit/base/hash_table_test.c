/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table, against a plain array of the same keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include "base/hash_table.h"
#include "base/random.h"

enum { KEY_COUNT = 400 };

static void test_a_key_is_put_once_and_found(void **state)
{
	(void)state;
	struct hash_table table;
	int things[2];

	hash_table_init(&table);
	assert_null(hash_table_get(&table, 0));
	hash_table_remove(&table, 0);
	assert_int_equal(hash_table_put(&table, 0, &things[0]), 0);
	assert_int_equal(hash_table_put(&table, UINT64_MAX, &things[1]), 0);
	assert_int_equal(hash_table_put(&table, 0, &things[1]), -EEXIST);
	assert_ptr_equal(hash_table_get(&table, 0), &things[0]);
	assert_ptr_equal(hash_table_get(&table, UINT64_MAX), &things[1]);
	assert_null(hash_table_get(&table, 1));
	assert_int_equal(table.count, 2);
	hash_table_release(&table);
	assert_null(hash_table_get(&table, 0));
}

/* Removing from the middle of a run of neighbours must not hide the ones behind it, also where the
 * run wraps. */
static void test_any_mix_of_put_and_remove_loses_no_key(void **state)
{
	(void)state;
	static char things[KEY_COUNT];
	bool is_in[KEY_COUNT] = {false};
	struct random random = random_seeded(41);
	struct hash_table table;
	uint32_t count = 0;

	hash_table_init(&table);
	for (unsigned step = 0; step < 20000; step++) {
		unsigned i = (unsigned)random_below(&random, KEY_COUNT);
		uint64_t key = 0x025f1b0100000001 + ((uint64_t)i << 16);

		if (random_below(&random, 2)) {
			assert_int_equal(hash_table_put(&table, key, &things[i]),
					 is_in[i] ? -EEXIST : 0);
			count += !is_in[i];
			is_in[i] = true;
		} else {
			hash_table_remove(&table, key);
			count -= is_in[i];
			is_in[i] = false;
		}
		assert_int_equal(table.count, count);
		if (step % 50)
			continue;
		for (unsigned j = 0; j < KEY_COUNT; j++)
			assert_ptr_equal(
				hash_table_get(&table, 0x025f1b0100000001 + ((uint64_t)j << 16)),
				is_in[j] ? &things[j] : NULL);
	}
	hash_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_is_put_once_and_found),
		cmocka_unit_test(test_any_mix_of_put_and_remove_loses_no_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
