/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of entries with the same hash: order, and removal of the first, a middle and the last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/hash_chain.h"

enum { HASH = 7, OTHER_HASH = 8, LINKS = 3 };

static struct hash_table table;
static struct hash_link links[LINKS], other;

static int begin(void **state)
{
	(void)state;
	hash_table_init(&table);
	for (unsigned i = 0; i < LINKS; i++)
		assert_int_equal(hash_chain_put(&table, HASH, &links[i]), 0);
	assert_int_equal(hash_chain_put(&table, OTHER_HASH, &other), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	hash_table_release(&table);
	return 0;
}

static void test_newest_comes_first(void **state)
{
	(void)state;
	assert_ptr_equal(hash_chain_first(&table, HASH), &links[2]);
	assert_ptr_equal(links[2].next, &links[1]);
	assert_ptr_equal(links[1].next, &links[0]);
	assert_null(links[0].next);
	assert_ptr_equal(hash_chain_first(&table, OTHER_HASH), &other);
	assert_null(other.next);
	assert_null(hash_chain_first(&table, HASH + OTHER_HASH));
}

static void test_each_can_be_removed_and_the_others_stay(void **state)
{
	(void)state;
	for (unsigned removed = 0; removed < LINKS; removed++) {
		unsigned count = 0;

		hash_chain_remove(&table, HASH, &links[removed]);
		for (struct hash_link *link = hash_chain_first(&table, HASH); link;
		     link = link->next) {
			assert_ptr_not_equal(link, &links[removed]);
			count++;
		}
		assert_int_equal(count, LINKS - 1);
		assert_int_equal(hash_chain_put(&table, HASH, &links[removed]), 0);
	}
}

static void test_last_one_frees_the_hash(void **state)
{
	(void)state;
	for (unsigned i = 0; i < LINKS; i++)
		hash_chain_remove(&table, HASH, &links[i]);
	assert_null(hash_chain_first(&table, HASH));
	assert_int_equal(table.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_newest_comes_first, begin, end),
		cmocka_unit_test_setup_teardown(test_each_can_be_removed_and_the_others_stay, begin,
						end),
		cmocka_unit_test_setup_teardown(test_last_one_frees_the_hash, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
