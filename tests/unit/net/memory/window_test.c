/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on binding and invalidating memory windows, one by one (transport 7.3). */
#include "net/memory/window.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { QPN = 7, OTHER_QPN = 8, REGION_ACCESS = ACCESS_LOCAL_WRITE | ACCESS_WINDOW_BIND };

static struct memory memory;
static struct protection_domain pd, other_pd;
static uint8_t bytes[1000];
static struct region *region;

static int set_up(void **state)
{
	(void)state;
	pd = (struct protection_domain){0};
	other_pd = (struct protection_domain){0};
	memory_init(&memory, 10);
	return region_register(&memory, &pd, bytes, sizeof(bytes), 5000, REGION_ACCESS, &region);
}

static int tear_down(void **state)
{
	(void)state;
	memory_release(&memory);
	assert_int_equal(pd.users, 0);
	assert_int_equal(other_pd.users, 0);
	return 0;
}

static struct window *new_window(enum window_type type)
{
	struct window *window;

	assert_int_equal(window_create(&memory, &pd, type, &window), 0);
	return window;
}

/* Bytes 100 to 299 of the region, readable and writable. */
static struct window_binding binding_of(const struct window *window)
{
	return (struct window_binding){
		.key = window->grant.key ^ 1,
		.region_key = region->key,
		.address = 5100,
		.byte_count = 200,
		.access = ACCESS_REMOTE_READ | ACCESS_REMOTE_WRITE,
	};
}

static void bind_as(const struct window_binding *binding)
{
	assert_true(window_bind(&memory, &pd, QPN, binding));
}

static void expect_refused(const struct window_binding *binding)
{
	assert_false(window_bind(&memory, &pd, QPN, binding));
}

static enum memory_verdict reach(uint32_t qpn, uint32_t key, uint64_t address, uint64_t count)
{
	uint8_t *found;

	return memory_resolve_remote(&memory, &pd, qpn, key, address, count, ACCESS_REMOTE_READ,
				     &found);
}

static void test_free_window_gives_no_access(void **state)
{
	const struct window *window = new_window(WINDOW_TYPE_1);

	(void)state;
	assert_int_equal(reach(QPN, window->grant.key, 0, 1), MEMORY_BAD_KEY);
}

static void test_bound_window_gives_its_bytes_and_no_others(void **state)
{
	const struct window_binding binding = binding_of(new_window(WINDOW_TYPE_1));
	uint8_t *found;

	(void)state;
	bind_as(&binding);
	assert_int_equal(memory_resolve_remote(&memory, &pd, QPN, binding.key, 5100, 200,
					       ACCESS_REMOTE_WRITE, &found),
			 MEMORY_OK);
	assert_ptr_equal(found, bytes + 100);
	assert_int_equal(reach(QPN, binding.key, 5099, 1), MEMORY_BAD_BOUNDS);
	assert_int_equal(reach(QPN, binding.key, 5100, 201), MEMORY_BAD_BOUNDS);
	assert_int_equal(memory_resolve_remote(&memory, &pd, QPN, binding.key, 5104, 8,
					       ACCESS_REMOTE_ATOMIC, &found),
			 MEMORY_BAD_RIGHTS);
	assert_int_equal(memory_resolve_remote(&memory, &other_pd, QPN, binding.key, 5104, 8,
					       ACCESS_REMOTE_READ, &found),
			 MEMORY_BAD_PD);
}

static void test_window_key_is_no_local_key(void **state)
{
	const struct window_binding binding = binding_of(new_window(WINDOW_TYPE_1));
	uint8_t *found;

	(void)state;
	bind_as(&binding);
	assert_int_equal(memory_resolve(&memory, &pd, binding.key, 5100, 1, 0, &found),
			 MEMORY_BAD_KEY);
	assert_null(memory_find(&memory, binding.key));
}

static void test_type_1_is_for_every_queue_pair_of_the_domain_and_rebinds(void **state)
{
	struct window_binding binding = binding_of(new_window(WINDOW_TYPE_1));
	uint32_t first_key = binding.key;

	(void)state;
	bind_as(&binding);
	assert_int_equal(reach(OTHER_QPN, binding.key, 5100, 1), MEMORY_OK);
	binding.key ^= 3;
	bind_as(&binding);
	assert_int_equal(reach(QPN, binding.key, 5100, 1), MEMORY_OK);
	assert_int_equal(reach(QPN, first_key, 5100, 1), MEMORY_BAD_KEY);
	assert_int_equal(region->window_count, 1);
}

static void test_type_1_is_unbound_by_a_bind_of_nothing(void **state)
{
	struct window_binding binding = binding_of(new_window(WINDOW_TYPE_1));

	(void)state;
	bind_as(&binding);
	binding.byte_count = 0;
	binding.region_key = 0;
	bind_as(&binding);
	assert_int_equal(reach(QPN, binding.key, 5100, 1), MEMORY_BAD_KEY);
	assert_int_equal(region->window_count, 0);
}

static void test_type_1_can_not_be_invalidated_or_zero_based(void **state)
{
	struct window_binding binding = binding_of(new_window(WINDOW_TYPE_1));

	(void)state;
	binding.access |= ACCESS_ZERO_BASED;
	expect_refused(&binding);
	binding.access &= ~(uint32_t)ACCESS_ZERO_BASED;
	bind_as(&binding);
	assert_false(window_invalidate(&memory, &pd, QPN, binding.key));
	assert_int_equal(reach(QPN, binding.key, 5100, 1), MEMORY_OK);
}

static void test_type_2_is_for_its_queue_pair_only(void **state)
{
	const struct window_binding binding = binding_of(new_window(WINDOW_TYPE_2));
	uint8_t *found;

	(void)state;
	bind_as(&binding);
	assert_int_equal(reach(QPN, binding.key, 5100, 1), MEMORY_OK);
	assert_int_equal(reach(OTHER_QPN, binding.key, 5100, 1), MEMORY_BAD_PD);
	assert_int_equal(memory_resolve_remote(&memory, &other_pd, QPN, binding.key, 5100, 1,
					       ACCESS_REMOTE_READ, &found),
			 MEMORY_BAD_PD);
}

static void test_type_2_binds_only_when_free(void **state)
{
	struct window_binding binding = binding_of(new_window(WINDOW_TYPE_2));

	(void)state;
	bind_as(&binding);
	binding.key ^= 3;
	expect_refused(&binding);
	binding.byte_count = 0;
	expect_refused(&binding);
	binding.byte_count = 200;
	assert_true(window_invalidate(&memory, &pd, QPN, binding.key ^ 3));
	bind_as(&binding);
	assert_int_equal(reach(QPN, binding.key, 5100, 1), MEMORY_OK);
}

static void test_type_2_may_count_from_zero(void **state)
{
	struct window_binding binding = binding_of(new_window(WINDOW_TYPE_2));
	uint8_t *found;

	(void)state;
	binding.access |= ACCESS_ZERO_BASED;
	bind_as(&binding);
	assert_int_equal(memory_resolve_remote(&memory, &pd, QPN, binding.key, 10, 190,
					       ACCESS_REMOTE_READ, &found),
			 MEMORY_OK);
	assert_ptr_equal(found, bytes + 110);
	assert_int_equal(reach(QPN, binding.key, 10, 191), MEMORY_BAD_BOUNDS);
}

static void test_invalidate_needs_the_whole_key_the_domain_and_the_queue_pair(void **state)
{
	const struct window_binding binding = binding_of(new_window(WINDOW_TYPE_2));

	(void)state;
	assert_false(window_invalidate(&memory, &pd, QPN, binding.key));
	bind_as(&binding);
	assert_false(window_invalidate(&memory, &pd, QPN, binding.key ^ 1));
	assert_false(window_invalidate(&memory, &pd, OTHER_QPN, binding.key));
	assert_false(window_invalidate(&memory, &other_pd, QPN, binding.key));
	assert_false(window_invalidate(&memory, &pd, QPN, region->key));
	assert_true(window_invalidate(&memory, &pd, QPN, binding.key));
	assert_int_equal(reach(QPN, binding.key, 5100, 1), MEMORY_BAD_KEY);
	assert_false(window_invalidate(&memory, &pd, QPN, binding.key));
}

/* Each row breaks one of the rules on binding (transport 7.3). */
static void test_bind_that_breaks_a_rule_changes_nothing(void **state)
{
	static const struct {
		uint32_t region_access;
		uint64_t address, byte_count;
		uint32_t access;
	} cases[] = {
		{ACCESS_LOCAL_WRITE, 5000, 10, ACCESS_REMOTE_READ},
		{ACCESS_WINDOW_BIND, 5000, 10, ACCESS_REMOTE_WRITE},
		{ACCESS_WINDOW_BIND, 5000, 10, ACCESS_REMOTE_ATOMIC},
		{REGION_ACCESS | ACCESS_ZERO_BASED, 0, 10, ACCESS_REMOTE_READ},
		{REGION_ACCESS, 4999, 10, ACCESS_REMOTE_READ},
		{REGION_ACCESS, 5991, 10, ACCESS_REMOTE_READ},
		{REGION_ACCESS, UINT64_MAX, 10, ACCESS_REMOTE_READ},
		{REGION_ACCESS, 5000, 10, ACCESS_WINDOW_BIND},
		{REGION_ACCESS, 5000, 10, ACCESS_ON_DEMAND},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct window *window = new_window(i % 2 ? WINDOW_TYPE_1 : WINDOW_TYPE_2);
		struct window_binding binding = binding_of(window);
		struct region *target;

		assert_int_equal(region_register(&memory, &pd, bytes, sizeof(bytes), 5000,
						 cases[i].region_access, &target),
				 0);
		binding.region_key = target->key;
		binding.address = cases[i].address;
		binding.byte_count = cases[i].byte_count;
		binding.access = cases[i].access;
		expect_refused(&binding);
		assert_int_equal(target->window_count, 0);
		assert_int_equal(reach(QPN, binding.key, 5000, 1), MEMORY_BAD_KEY);
	}
}

static void test_bind_needs_window_region_and_queue_pair_in_one_domain(void **state)
{
	struct window_binding binding = binding_of(new_window(WINDOW_TYPE_2));
	struct region *foreign;

	(void)state;
	assert_false(window_bind(&memory, &other_pd, QPN, &binding));
	assert_int_equal(region_register(&memory, &other_pd, bytes, sizeof(bytes), 5000,
					 REGION_ACCESS, &foreign),
			 0);
	binding.region_key = foreign->key;
	expect_refused(&binding);
	binding.region_key = region->key;
	binding.key = region->key;
	expect_refused(&binding);
	assert_int_equal(region_deregister(&memory, foreign), 0);
}

static void test_region_with_bound_window_can_not_go(void **state)
{
	struct window *window = new_window(WINDOW_TYPE_1);
	const struct window_binding binding = binding_of(window);

	(void)state;
	bind_as(&binding);
	assert_int_equal(region_deregister(&memory, region), -EBUSY);
	window_destroy(&memory, window);
	assert_int_equal(reach(QPN, binding.key, 5100, 1), MEMORY_BAD_KEY);
	assert_int_equal(region_deregister(&memory, region), 0);
}

static void test_windows_of_a_queue_pair_that_is_gone_are_free(void **state)
{
	const struct window_binding first = binding_of(new_window(WINDOW_TYPE_2));
	const struct window_binding second = binding_of(new_window(WINDOW_TYPE_2));
	const struct window_binding other = binding_of(new_window(WINDOW_TYPE_2));

	(void)state;
	bind_as(&first);
	bind_as(&second);
	assert_true(window_bind(&memory, &pd, OTHER_QPN, &other));
	windows_forget_qp(&memory, QPN);
	assert_int_equal(reach(QPN, first.key, 5100, 1), MEMORY_BAD_KEY);
	assert_int_equal(reach(QPN, second.key, 5100, 1), MEMORY_BAD_KEY);
	assert_int_equal(reach(OTHER_QPN, other.key, 5100, 1), MEMORY_OK);
	assert_int_equal(region->window_count, 1);
}

static void test_windows_have_their_own_limit(void **state)
{
	struct window *window;

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		new_window(WINDOW_TYPE_1);
	assert_int_equal(window_create(&memory, &pd, WINDOW_TYPE_1, &window), -ENOMEM);
	for (unsigned i = 1; i < 10; i++)
		assert_int_equal(region_register(&memory, &pd, bytes, 1, 0, 0, &region), 0);
	assert_int_equal(region_register(&memory, &pd, bytes, 1, 0, 0, &region), -ENOMEM);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_free_window_gives_no_access),
		TEST(test_bound_window_gives_its_bytes_and_no_others),
		TEST(test_window_key_is_no_local_key),
		TEST(test_type_1_is_for_every_queue_pair_of_the_domain_and_rebinds),
		TEST(test_type_1_is_unbound_by_a_bind_of_nothing),
		TEST(test_type_1_can_not_be_invalidated_or_zero_based),
		TEST(test_type_2_is_for_its_queue_pair_only),
		TEST(test_type_2_binds_only_when_free),
		TEST(test_type_2_may_count_from_zero),
		TEST(test_invalidate_needs_the_whole_key_the_domain_and_the_queue_pair),
		TEST(test_bind_that_breaks_a_rule_changes_nothing),
		TEST(test_bind_needs_window_region_and_queue_pair_in_one_domain),
		TEST(test_region_with_bound_window_can_not_go),
		TEST(test_windows_of_a_queue_pair_that_is_gone_are_free),
		TEST(test_windows_have_their_own_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
