/* SPDX-License-Identifier: Apache-2.0 */
/* Free queue pair numbers (transport 10.5). */
#include "net/hca/qpn_blocks.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_numbers_come_from_the_blocks_and_each_once(void **state)
{
	struct list blocks;
	uint32_t qpn;

	(void)state;
	list_init(&blocks);
	assert_int_equal(qpn_blocks_take(&blocks, &qpn), -EAGAIN);
	assert_int_equal(qpn_blocks_add(&blocks, 100, 3), 0);
	for (uint32_t expected = 100; expected < 103; expected++) {
		assert_int_equal(qpn_blocks_take(&blocks, &qpn), 0);
		assert_int_equal(qpn, expected);
	}
	assert_int_equal(qpn_blocks_take(&blocks, &qpn), -EAGAIN);
	assert_int_equal(qpn_blocks_add(&blocks, 200, 1), 0);
	assert_int_equal(qpn_blocks_take(&blocks, &qpn), 0);
	assert_int_equal(qpn, 200);
	qpn_blocks_give_back(&blocks, 101);
	assert_int_equal(qpn_blocks_take(&blocks, &qpn), 0);
	assert_int_equal(qpn, 101);
	assert_int_equal(qpn_blocks_take(&blocks, &qpn), -EAGAIN);
	qpn_blocks_release(&blocks);
}

static void test_a_freed_number_is_reused_last(void **state)
{
	struct list blocks;
	uint32_t first, qpn;

	(void)state;
	list_init(&blocks);
	assert_int_equal(qpn_blocks_add(&blocks, 64, 4), 0);
	assert_int_equal(qpn_blocks_take(&blocks, &first), 0);
	qpn_blocks_give_back(&blocks, first);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(qpn_blocks_take(&blocks, &qpn), 0);
		assert_int_not_equal(qpn, first);
	}
	assert_int_equal(qpn_blocks_take(&blocks, &qpn), 0);
	assert_int_equal(qpn, first);
	qpn_blocks_release(&blocks);
}

/* All numbers of a large block are found, whichever of them are free. */
static void test_free_numbers_among_many_taken_are_found(void **state)
{
	enum { FIRST = 1 << 20, COUNT = 65536 - 5 };
	const uint32_t freed[] = {0, 63, 64, 1000, 32767, COUNT - 1};
	struct list blocks;
	uint32_t qpn;

	(void)state;
	list_init(&blocks);
	assert_int_equal(qpn_blocks_add(&blocks, FIRST, COUNT), 0);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(qpn_blocks_take(&blocks, &qpn), 0);
	assert_int_equal(qpn_blocks_take(&blocks, &qpn), -EAGAIN);
	for (size_t i = 0; i < ARRAY_COUNT(freed); i++)
		qpn_blocks_give_back(&blocks, FIRST + freed[i]);
	for (size_t i = 0; i < ARRAY_COUNT(freed); i++) {
		assert_int_equal(qpn_blocks_take(&blocks, &qpn), 0);
		assert_int_equal(qpn, FIRST + freed[i]);
	}
	assert_int_equal(qpn_blocks_take(&blocks, &qpn), -EAGAIN);
	qpn_blocks_release(&blocks);
}

static void test_reserved_and_overlapping_numbers_are_refused(void **state)
{
	struct list blocks;

	(void)state;
	list_init(&blocks);
	assert_int_equal(qpn_blocks_add(&blocks, 0, 10), -EINVAL);
	assert_int_equal(qpn_blocks_add(&blocks, 1, 1), -EINVAL);
	assert_int_equal(qpn_blocks_add(&blocks, 2, 0), -EINVAL);
	assert_int_equal(qpn_blocks_add(&blocks, 0xfffffe, 2), -EINVAL);
	assert_int_equal(qpn_blocks_add(&blocks, 0x1000000, 1), -EINVAL);
	assert_int_equal(qpn_blocks_add(&blocks, 10, UINT32_MAX), -EINVAL);
	assert_int_equal(qpn_blocks_add(&blocks, 0xfffffe, 1), 0);
	assert_int_equal(qpn_blocks_add(&blocks, 100, 50), 0);
	assert_int_equal(qpn_blocks_add(&blocks, 149, 10), -EINVAL);
	assert_int_equal(qpn_blocks_add(&blocks, 90, 11), -EINVAL);
	assert_int_equal(qpn_blocks_add(&blocks, 150, 10), 0);
	qpn_blocks_release(&blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_come_from_the_blocks_and_each_once),
		cmocka_unit_test(test_a_freed_number_is_reused_last),
		cmocka_unit_test(test_free_numbers_among_many_taken_are_found),
		cmocka_unit_test(test_reserved_and_overlapping_numbers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
