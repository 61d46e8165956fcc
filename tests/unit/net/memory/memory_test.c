/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, domains, rights and bounds of memory regions (transport 7.1, 7.2). */
#include "net/memory/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

static struct memory memory;
static struct protection_domain pd, other_pd;
static uint8_t bytes[256];

static int set_up(void **state)
{
	(void)state;
	memory_init(&memory, 100);
	pd = other_pd = (struct protection_domain){0};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	memory_release(&memory);
	return 0;
}

static struct region *registered(uint64_t iova, uint64_t byte_count, uint32_t access)
{
	struct region *region = NULL;

	assert_int_equal(region_register(&memory, &pd, bytes, byte_count, iova, access, &region),
			 0);
	return region;
}

static uint8_t *place(const struct protection_domain *domain, uint32_t key, uint64_t address,
		      uint32_t byte_count, uint32_t access)
{
	return memory_place(&memory, domain, key, address, byte_count, access);
}

/* A cached region must be forgotten when it is deregistered. */
static void test_a_place_is_found_as_long_as_the_region_is_there(void **state)
{
	struct region *region = registered(1000, 100, ACCESS_LOCAL_WRITE);
	uint32_t key = region->key;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_ptr_equal(place(&pd, key, 1000, 100, ACCESS_LOCAL_WRITE), bytes);
		assert_ptr_equal(place(&pd, key, 1099, 1, 0), bytes + 99);
		assert_null(place(&pd, key, 1099, 2, 0));
		assert_null(place(&pd, key, 999, 1, 0));
		assert_null(place(&pd, key, 1000, 1, ACCESS_REMOTE_READ));
		assert_null(place(&other_pd, key, 1000, 1, 0));
		assert_null(place(&pd, key ^ 1, 1000, 1, 0));
		assert_null(place(&pd, 0, 1000, 1, 0));
	}
	assert_int_equal(region_deregister(&memory, region), 0);
	assert_null(place(&pd, key, 1000, 1, 0));
}

/* Many regions, each with its own key. */
static void test_many_regions_do_not_hide_each_other(void **state)
{
	struct region *regions[48];

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(regions); i++)
		regions[i] = registered(1000 * i, 1 + i, ACCESS_LOCAL_WRITE);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < ARRAY_COUNT(regions); i++) {
			assert_ptr_equal(place(&pd, regions[i]->key, 1000 * i + i, 1, 0),
					 bytes + i);
			assert_null(place(&pd, regions[i]->key, 1000 * i + i, 2, 0));
		}
}

static void test_swapped_regions_are_found_where_they_are_now(void **state)
{
	struct region *region = registered(1000, 100, ACCESS_LOCAL_WRITE);
	struct region *other = registered(5000, 10, ACCESS_LOCAL_WRITE);

	(void)state;
	assert_non_null(place(&pd, region->key, 1000, 100, 0));
	assert_non_null(place(&pd, other->key, 5000, 10, 0));
	regions_swap(&memory, region, other);
	assert_null(place(&pd, region->key, 1000, 1, 0));
	assert_ptr_equal(place(&pd, region->key, 5000, 10, 0), bytes);
	assert_ptr_equal(place(&pd, other->key, 1000, 100, 0), bytes);
}

static void test_places_of_unusual_regions_are_not_told(void **state)
{
	uint32_t word = 1;
	const struct region guarded = {
		.bytes = bytes, .byte_count = 8, .guard = &word, .guard_value = 1};
	struct region *region, *null_region;

	(void)state;
	assert_int_equal(region_register_as(&memory, &pd, &guarded, 0x5500, &region), 0);
	assert_int_equal(region_register_null(&memory, &pd, bytes, &null_region), 0);
	assert_null(place(&pd, region->key, 0, 1, 0));
	assert_null(place(&pd, null_region->key, 0, 1, 0));
}

/* Every combination of the four rights, and what else may come with them (transport 7.1). */
static void test_remote_write_and_atomic_need_local_write(void **state)
{
	(void)state;
	for (uint32_t access = 0; access < 16; access++) {
		struct region *region;
		bool needs = access & (ACCESS_REMOTE_WRITE | ACCESS_REMOTE_ATOMIC);
		bool has = access & ACCESS_LOCAL_WRITE;

		assert_int_equal(region_register(&memory, &pd, bytes, 16, 0, access, &region),
				 needs && !has ? -EINVAL : 0);
	}
}

static void test_unknown_rights_are_refused_and_optional_ones_ignored(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 32; bit++) {
		struct region *region;
		uint32_t access = ACCESS_LOCAL_WRITE | ACCESS_ON_DEMAND | 1u << bit;
		bool is_known = bit < 10 || (bit >= 20 && bit < 30);

		assert_int_equal(region_register(&memory, &pd, bytes, 16, 0, access, &region),
				 is_known ? 0 : -EINVAL);
	}
}

static void test_checks_come_in_order(void **state)
{
	struct region *region = registered(1000, 100, ACCESS_LOCAL_WRITE | ACCESS_REMOTE_READ);
	uint8_t *found = NULL;

	(void)state;
	assert_int_equal(memory_resolve(&memory, &other_pd, region->key ^ 1, 0, 1,
					ACCESS_REMOTE_WRITE, &found),
			 MEMORY_BAD_KEY);
	assert_int_equal(
		memory_resolve(&memory, &other_pd, region->key, 0, 1, ACCESS_REMOTE_WRITE, &found),
		MEMORY_BAD_PD);
	assert_int_equal(
		memory_resolve(&memory, &pd, region->key, 0, 1, ACCESS_REMOTE_WRITE, &found),
		MEMORY_BAD_RIGHTS);
	assert_int_equal(
		memory_resolve(&memory, &pd, region->key, 0, 1, ACCESS_REMOTE_READ, &found),
		MEMORY_BAD_BOUNDS);
	assert_null(found);
	assert_int_equal(
		memory_resolve(&memory, &pd, region->key, 1007, 1, ACCESS_REMOTE_READ, &found),
		MEMORY_OK);
	assert_ptr_equal(found, bytes + 7);
}

static void test_bounds_are_exact_and_do_not_wrap(void **state)
{
	static const struct {
		uint64_t address, byte_count;
		bool is_inside;
	} cases[] = {
		{1000, 100, true},	   {1000, 101, false},
		{999, 1, false},	   {999, 0, false},
		{1099, 1, true},	   {1099, 2, false},
		{1100, 0, true},	   {1101, 0, false},
		{1000, UINT64_MAX, false}, {1050, UINT64_MAX - 40, false},
		{0, UINT64_MAX, false},	   {UINT64_MAX, 2, false},
	};
	struct region *region = registered(1000, 100, 0);

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		uint8_t *found;

		assert_int_equal(memory_resolve(&memory, &pd, region->key, cases[i].address,
						cases[i].byte_count, 0, &found) == MEMORY_OK,
				 cases[i].is_inside);
	}
}

static void test_region_at_the_end_of_the_address_space(void **state)
{
	struct region *region = registered(UINT64_MAX - 99, 100, 0);
	uint8_t *found;

	(void)state;
	assert_int_equal(memory_resolve(&memory, &pd, region->key, UINT64_MAX - 9, 10, 0, &found),
			 MEMORY_OK);
	assert_int_equal(memory_resolve(&memory, &pd, region->key, UINT64_MAX - 9, 11, 0, &found),
			 MEMORY_BAD_BOUNDS);
	assert_int_equal(memory_resolve(&memory, &pd, region->key, 0, 1, 0, &found),
			 MEMORY_BAD_BOUNDS);
}

static void test_zero_based_regions_count_from_0(void **state)
{
	struct region *region = registered(1000, 100, ACCESS_ZERO_BASED);
	uint8_t *found;

	(void)state;
	assert_int_equal(memory_resolve(&memory, &pd, region->key, 0, 100, 0, &found), MEMORY_OK);
	assert_ptr_equal(found, bytes);
	assert_int_equal(memory_resolve(&memory, &pd, region->key, 1000, 1, 0, &found),
			 MEMORY_BAD_BOUNDS);
}

static void test_all_of_memory_is_one_region(void **state)
{
	struct region *region = NULL;
	uint8_t *found;

	(void)state;
	assert_int_equal(
		region_register(&memory, &pd, NULL, UINT64_MAX, 0, ACCESS_ON_DEMAND, &region), 0);
	assert_int_equal(
		memory_resolve(&memory, &pd, region->key, (uintptr_t)bytes, 100, 0, &found),
		MEMORY_OK);
	assert_ptr_equal(found, bytes);
	assert_int_equal(memory_resolve(&memory, &pd, region->key, UINT64_MAX, 2, 0, &found),
			 MEMORY_BAD_BOUNDS);
}

static void test_dead_keys_stay_dead(void **state)
{
	struct region *region = registered(0, 16, 0);
	uint32_t key = region->key;
	uint8_t *found;

	(void)state;
	assert_int_equal(pd.users, 1);
	assert_int_equal(region_deregister(&memory, region), 0);
	assert_int_equal(pd.users, 0);
	assert_null(memory_find(&memory, key));
	for (int i = 0; i < 1000; i++) {
		region = registered(0, 16, 0);
		assert_int_not_equal(region->key, key);
		assert_int_equal(memory_resolve(&memory, &pd, key, 0, 1, 0, &found),
				 MEMORY_BAD_KEY);
		assert_int_equal(region_deregister(&memory, region), 0);
	}
}

static void test_bound_windows_keep_a_region(void **state)
{
	struct region *region = registered(0, 16, 0);

	(void)state;
	region->window_count = 1;
	assert_int_equal(region_deregister(&memory, region), -EBUSY);
	assert_ptr_equal(memory_find(&memory, region->key), region);
	region->window_count = 0;
	assert_int_equal(region_deregister(&memory, region), 0);
}

static void test_no_more_regions_than_allowed(void **state)
{
	struct region *regions[101];

	(void)state;
	for (int i = 0; i < 100; i++)
		regions[i] = registered(0, 16, 0);
	assert_int_equal(region_register(&memory, &pd, bytes, 16, 0, 0, &regions[100]), -ENOMEM);
	assert_int_equal(region_deregister(&memory, regions[50]), 0);
	registered(0, 16, 0);
}

static void test_key_indexes_wrap_past_those_in_use(void **state)
{
	struct region *first = registered(0, 16, 0);

	(void)state;
	memory.next_index = 0xfffffe;

	struct region *last = registered(0, 16, 0);
	struct region *next = registered(0, 16, 0);

	assert_int_equal(last->key >> 8, 0xfffffe);
	assert_int_equal(next->key >> 8, (first->key >> 8) + 1);
}

static void test_null_region_is_for_local_use_at_any_address(void **state)
{
	struct region *region;
	uint8_t *found = bytes;

	(void)state;
	assert_int_equal(region_register_null(&memory, &pd, bytes, &region), 0);
	assert_int_equal(memory_resolve(&memory, &pd, region->key, UINT64_MAX - 10, 10, 0, &found),
			 MEMORY_OK);
	assert_ptr_equal(found, bytes);
	assert_int_equal(
		memory_resolve(&memory, &pd, region->key, 77, 10, ACCESS_LOCAL_WRITE, &found),
		MEMORY_OK);
	assert_null(found);
	assert_int_equal(memory_resolve(&memory, &other_pd, region->key, 0, 1, 0, &found),
			 MEMORY_BAD_PD);
	assert_int_equal(memory_resolve_remote(&memory, &pd, 1, region->key, 0, 1,
					       ACCESS_REMOTE_READ, &found),
			 MEMORY_BAD_RIGHTS);
	assert_int_equal(region_deregister(&memory, region), 0);
}

/* A region of another process keeps its key where that is free, and becomes invalid when that
 * process deregisters it. */
static void test_foreign_region_has_its_key_until_its_guard_changes(void **state)
{
	uint32_t word = 7;
	const struct region foreign = {
		.bytes = bytes,
		.iova = 0x5000,
		.byte_count = 64,
		.access = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE,
		.guard = &word,
		.guard_value = 7,
	};
	struct region *first, *second, *own = registered(0, 16, 0);
	uint8_t *found;

	(void)state;
	assert_int_equal(region_register_as(&memory, &pd, &foreign, 0x1234ab, &first), 0);
	assert_int_equal(first->key, 0x1234ab);
	assert_int_equal(region_register_as(&memory, &pd, &foreign, 0x1234ab, &second), 0);
	assert_int_not_equal(second->key, 0x1234ab);
	/* This process's own keys continue where they were. */
	assert_int_equal(second->key >> KEY_TAG_BITS, (own->key >> KEY_TAG_BITS) + 1);
	assert_int_equal(
		memory_resolve(&memory, &pd, first->key, 0x5010, 8, ACCESS_LOCAL_WRITE, &found),
		MEMORY_OK);
	assert_ptr_equal(found, bytes + 0x10);
	word = 0;
	assert_int_equal(memory_resolve(&memory, &pd, first->key, 0x5010, 8, 0, &found),
			 MEMORY_BAD_KEY);
	assert_int_equal(memory_resolve_remote(&memory, &pd, 1, first->key, 0x5010, 8,
					       ACCESS_REMOTE_WRITE, &found),
			 MEMORY_BAD_KEY);
	assert_int_equal(region_deregister(&memory, first), 0);
	assert_int_equal(region_deregister(&memory, second), 0);
}

static void test_keys_begin_where_they_are_told(void **state)
{
	(void)state;
	memory_begin_keys(&memory, 0xffffffff);
	registered(0, 16, 0);
	memory_begin_keys(&memory, 41);
	assert_int_equal(registered(0, 16, 0)->key >> KEY_TAG_BITS, 42);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_place_is_found_as_long_as_the_region_is_there),
		TEST(test_many_regions_do_not_hide_each_other),
		TEST(test_swapped_regions_are_found_where_they_are_now),
		TEST(test_places_of_unusual_regions_are_not_told),
		TEST(test_null_region_is_for_local_use_at_any_address),
		TEST(test_foreign_region_has_its_key_until_its_guard_changes),
		TEST(test_keys_begin_where_they_are_told),
		TEST(test_remote_write_and_atomic_need_local_write),
		TEST(test_unknown_rights_are_refused_and_optional_ones_ignored),
		TEST(test_checks_come_in_order),
		TEST(test_bounds_are_exact_and_do_not_wrap),
		TEST(test_region_at_the_end_of_the_address_space),
		TEST(test_zero_based_regions_count_from_0),
		TEST(test_all_of_memory_is_one_region),
		TEST(test_dead_keys_stay_dead),
		TEST(test_bound_windows_keep_a_region),
		TEST(test_no_more_regions_than_allowed),
		TEST(test_key_indexes_wrap_past_those_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
