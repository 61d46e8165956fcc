/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps in registered memory, and which bytes belong to a region. */
#include "net/memory/gaps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "net/memory/memory.h"

enum { BYTES = 3 * 4096 };

static uint8_t bytes[BYTES];

static void test_memory_with_a_gap_has_no_pages_there(void **state)
{
	const uintptr_t begin = (uintptr_t)bytes;
	struct memory_gaps gaps = {0};
	struct memory memory;

	(void)state;
	memory_init(&memory, 10);
	memory_gaps_add(&gaps, begin + 4096, begin + 4097);
	/* No gap was recorded. */
	assert_true(memory_has_pages(&memory, bytes, BYTES));
	memory.gaps = &gaps;
	assert_false(memory_has_pages(&memory, bytes, BYTES));
	assert_false(memory_has_pages(&memory, bytes + 4096, 1));
	assert_true(memory_has_pages(&memory, bytes, 4096));
	assert_true(memory_has_pages(&memory, bytes + 4097, 4000));
	assert_true(memory_has_pages(&memory, bytes + 4096, 0));
	assert_true(memory_has_pages(&memory, NULL, 8));
	memory_release(&memory);
}

static void test_neighbours_are_one_gap_and_too_many_are_joined(void **state)
{
	struct memory_gaps gaps = {0};

	(void)state;
	memory_gaps_add(&gaps, 0x1000, 0x2000);
	memory_gaps_add(&gaps, 0x2000, 0x3000);
	assert_int_equal(gaps.count, 1);
	assert_true(memory_gaps_overlap(&gaps, 0x2fff, 0x3000));
	assert_false(memory_gaps_overlap(&gaps, 0x3000, 0x4000));
	for (uintptr_t i = 1; i <= 2 * MEMORY_GAPS_MAX; i++)
		memory_gaps_add(&gaps, i * 0x10000, i * 0x10000 + 1);
	assert_int_equal(gaps.count, MEMORY_GAPS_MAX);
	assert_true(memory_gaps_overlap(&gaps, 0x10000, 0x10001));
	assert_true(memory_gaps_overlap(&gaps, 2 * MEMORY_GAPS_MAX * 0x10000ul,
					2 * MEMORY_GAPS_MAX * 0x10000ul + 1));
}

static void test_bytes_of_regions_are_registered(void **state)
{
	const uintptr_t begin = (uintptr_t)bytes;
	struct protection_domain pd = {0};
	struct region *regions[2];
	struct memory memory;
	uintptr_t end = 0;

	(void)state;
	memory_init(&memory, 10);
	assert_false(memory_is_registered(&memory, begin, &end));
	assert_int_equal(region_register(&memory, &pd, bytes + 10, 100, 0, 0, &regions[0]), 0);
	assert_int_equal(region_register(&memory, &pd, bytes + 50, 100, 0, 0, &regions[1]), 0);
	assert_false(memory_is_registered(&memory, begin + 9, &end));
	assert_true(memory_is_registered(&memory, begin + 10, &end));
	assert_int_equal(end, begin + 110);
	assert_true(memory_is_registered(&memory, begin + 50, &end));
	assert_int_equal(end, begin + 150);
	assert_false(memory_is_registered(&memory, begin + 150, &end));
	assert_int_equal(region_deregister(&memory, regions[1]), 0);
	assert_false(memory_is_registered(&memory, begin + 110, &end));
	memory_release(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_with_a_gap_has_no_pages_there),
		cmocka_unit_test(test_neighbours_are_one_gap_and_too_many_are_joined),
		cmocka_unit_test(test_bytes_of_regions_are_registered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
