/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that a process publishes, as its peers read them. */
#include "net/memory/published_keys.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct published_key keys[PUBLISHED_KEYS];
static struct protection_domain pd;
static uint8_t bytes[4096];

static struct region region_of(uint32_t key)
{
	return (struct region){
		.pd = &pd,
		.bytes = bytes,
		.iova = 0x1000,
		.byte_count = sizeof(bytes),
		.access = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE,
		.key = key,
		.kind = KEY_REGION,
	};
}

static void test_what_was_put_is_read(void **state)
{
	const struct region region = region_of(0x1234 << KEY_TAG_BITS | 7);
	struct published_view view;

	(void)state;
	assert_true(published_keys_put(keys, 2, &region, 99));
	assert_true(published_keys_read(keys, 2, region.key, &view));
	assert_ptr_equal(view.region.bytes, bytes);
	assert_ptr_equal(view.region.pd, &pd);
	assert_int_equal(view.region.iova, 0x1000);
	assert_int_equal(view.region.byte_count, sizeof(bytes));
	assert_int_equal(view.region.access, region.access);
	assert_int_equal(view.shared_place, 99);
	/* Another tag, and another adapter, are other keys. */
	assert_false(published_keys_read(keys, 2, region.key ^ 1, &view));
	assert_false(published_keys_read(keys, 1, region.key, &view));
	assert_false(published_keys_read(keys, 2, 0, &view));
	assert_true(published_keys_remove(keys, 2, region.key));
}

static void test_a_removed_key_is_seen_to_be_gone(void **state)
{
	const struct region region = region_of(0x77 << KEY_TAG_BITS);
	struct published_view view;

	(void)state;
	assert_true(published_keys_put(keys, 0, &region, 0));
	assert_true(published_keys_read(keys, 0, region.key, &view));
	assert_true(published_view_is_current(&view));
	assert_true(published_keys_remove(keys, 0, region.key));
	assert_false(published_view_is_current(&view));
	assert_false(published_keys_read(keys, 0, region.key, &view));
	assert_false(published_keys_remove(keys, 0, region.key));
	/* The key published again has another id than before. */
	assert_true(published_keys_put(keys, 0, &region, 0));
	assert_false(published_view_is_current(&view));
	assert_true(published_keys_remove(keys, 0, region.key));
}

static void test_a_key_whose_place_is_taken_is_not_published(void **state)
{
	const struct region first = region_of(5 << KEY_TAG_BITS);
	const struct region second = region_of((5 + PUBLISHED_KEYS) << KEY_TAG_BITS);
	struct published_view view;

	(void)state;
	assert_true(published_keys_put(keys, 0, &first, 0));
	assert_false(published_keys_put(keys, 0, &second, 0));
	assert_false(published_keys_read(keys, 0, second.key, &view));
	assert_false(published_keys_remove(keys, 0, second.key));
	assert_true(published_keys_read(keys, 0, first.key, &view));
	assert_true(published_keys_remove(keys, 0, first.key));
}

/* The rule is the same: a peer's view allows exactly what the owner's table allows. */
static void test_views_decide_as_the_owner_does(void **state)
{
	struct protection_domain other_pd = {0};
	struct memory memory;
	struct region *region;

	(void)state;
	memory_init(&memory, 10);
	assert_int_equal(region_register(&memory, &pd, bytes, 100, 0x5000,
					 ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE, &region),
			 0);
	assert_true(published_keys_put(keys, 0, region, 0));
	for (unsigned which = 0; which < 2 * 2 * 5 * 4; which++) {
		const struct protection_domain *domain = which % 2 ? &pd : &other_pd;
		uint32_t access = which / 2 % 2 ? ACCESS_REMOTE_WRITE : ACCESS_REMOTE_READ;
		uint64_t address = 0x4fff + (which / 4 % 5) * 25;
		uint64_t byte_count = (which / 20) * 33 + 1;
		struct published_view view;
		uint8_t *there = NULL, *here = NULL;

		assert_true(published_keys_read(keys, 0, region->key, &view));
		assert_int_equal(region_resolve_remote(&view.region, domain, 9, address, byte_count,
						       access, &there),
				 memory_resolve_remote(&memory, domain, 9, region->key, address,
						       byte_count, access, &here));
		assert_ptr_equal(there, here);
	}
	assert_true(published_keys_remove(keys, 0, region->key));
	memory_release(&memory);
}

struct told {
	unsigned granted, revoked;
	uint32_t key;
};

static void count_granted(void *context, const struct region *region)
{
	struct told *told = context;

	told->granted++;
	told->key = region->key;
}

static void count_revoked(void *context, const struct region *region)
{
	struct told *told = context;

	told->revoked++;
	told->key = region->key;
}

static void test_observers_hear_of_every_change(void **state)
{
	struct told told = {0};
	const struct memory_observer observer = {count_granted, count_revoked, &told};
	struct region *a, *b;
	struct memory memory;

	(void)state;
	memory_init(&memory, 10);
	memory.observer = &observer;
	assert_int_equal(region_register(&memory, &pd, bytes, 100, 0, ACCESS_LOCAL_WRITE, &a), 0);
	assert_int_equal(region_register(&memory, &pd, bytes, 50, 0, ACCESS_LOCAL_WRITE, &b), 0);
	assert_int_equal(told.granted, 2);
	assert_int_equal(told.key, b->key);
	regions_swap(&memory, a, b);
	assert_int_equal(a->byte_count, 50);
	assert_int_equal(told.revoked, 2);
	assert_int_equal(told.granted, 4);

	uint32_t key = a->key;

	assert_int_equal(region_deregister(&memory, a), 0);
	assert_int_equal(told.revoked, 3);
	assert_int_equal(told.key, key);
	memory_release(&memory);
	assert_int_equal(told.revoked, 4);
}

enum { ROUNDS = 20000 };

/* A reader never sees values of two regions mixed. */
static void *write_two_regions(void *context)
{
	(void)context;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct region region = region_of(3 << KEY_TAG_BITS);

		region.iova = i;
		region.byte_count = i;
		published_keys_put(keys, 0, &region, i);
	}
	return NULL;
}

static void test_readers_never_see_half_of_a_change(void **state)
{
	struct region region = region_of(3 << KEY_TAG_BITS);
	struct published_view view;
	pthread_t writer;

	(void)state;
	region.iova = region.byte_count = 0;
	assert_true(published_keys_put(keys, 0, &region, 0));
	assert_int_equal(pthread_create(&writer, NULL, write_two_regions, NULL), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (!published_keys_read(keys, 0, region.key, &view))
			continue;
		assert_int_equal(view.region.iova, view.region.byte_count);
		assert_int_equal(view.region.iova, view.shared_place);
	}
	pthread_join(writer, NULL);
	assert_true(published_keys_remove(keys, 0, region.key));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_put_is_read),
		cmocka_unit_test(test_a_removed_key_is_seen_to_be_gone),
		cmocka_unit_test(test_a_key_whose_place_is_taken_is_not_published),
		cmocka_unit_test(test_views_decide_as_the_owner_does),
		cmocka_unit_test(test_observers_hear_of_every_change),
		cmocka_unit_test(test_readers_never_see_half_of_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
