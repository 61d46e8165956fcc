/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of queue pair numbers: their owners, and when they are reused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "daemon/core/qpn_space.h"
#include "ipc/protocol.h"

static struct client *const alice = (struct client *)0x1000;
static struct client *const bob = (struct client *)0x2000;

static void test_blocks_name_their_owner(void **state)
{
	struct qpn_space space;
	uint32_t first, second;

	(void)state;
	qpn_space_init(&space);
	assert_int_equal(qpn_space_take(&space, alice, 2, &first), 0);
	assert_int_equal(qpn_space_take(&space, bob, 1, &second), 0);
	assert_int_equal(first, 1);
	assert_int_equal(second, 3);
	assert_int_equal(qpn_space_free_count(&space), QPN_BLOCKS_MAX - 3);
	qpn_space_pass_on(&space, 3, NULL);
	assert_int_equal(qpn_space_free_count(&space), QPN_BLOCKS_MAX - 2);
	qpn_space_pass_on(&space, 3, bob);
	assert_int_equal(qpn_space_free_count(&space), QPN_BLOCKS_MAX - 3);
	assert_null(qpn_space_owner(&space, 0));
	assert_null(qpn_space_owner(&space, QPN_BLOCK - 1));
	assert_ptr_equal(qpn_space_owner(&space, QPN_BLOCK), alice);
	assert_ptr_equal(qpn_space_owner(&space, 3 * QPN_BLOCK - 1), alice);
	assert_ptr_equal(qpn_space_owner(&space, 3 * QPN_BLOCK), bob);
	assert_null(qpn_space_owner(&space, 4 * QPN_BLOCK));
	assert_null(qpn_space_owner(&space, 0xffffff));
	assert_null(qpn_space_owner(&space, UINT32_MAX));
	qpn_space_release(&space);
}

/* A packet for a process that died must be dropped, not given to the next process. */
static void test_freed_numbers_come_last(void **state)
{
	struct qpn_space space;
	uint32_t first;

	(void)state;
	qpn_space_init(&space);
	assert_int_equal(qpn_space_take(&space, alice, 1, &first), 0);
	qpn_space_give_back(&space, alice);
	assert_null(qpn_space_owner(&space, QPN_BLOCK));
	for (uint32_t block = 2; block < QPN_SPACE_BLOCKS; block++) {
		assert_int_equal(qpn_space_take(&space, bob, 1, &first), 0);
		assert_int_equal(first, block);
	}
	assert_int_equal(qpn_space_take(&space, bob, 1, &first), 0);
	assert_int_equal(first, 1);
	qpn_space_release(&space);
}

/* One process can own every number except those of the first and the last block. */
static void test_one_process_can_have_all_numbers(void **state)
{
	struct qpn_space space;
	uint32_t first;

	(void)state;
	qpn_space_init(&space);
	assert_int_equal(qpn_space_take(&space, alice, QPN_BLOCKS_MAX, &first), 0);
	assert_int_equal(first, 1);
	assert_ptr_equal(qpn_space_owner(&space, (1 << 24) - QPN_BLOCK - 1), alice);
	assert_null(qpn_space_owner(&space, (1 << 24) - QPN_BLOCK));
	assert_null(qpn_space_owner(&space, 0xffffff));
	assert_int_equal(qpn_space_take(&space, bob, 1, &first), -ENOSPC);
	qpn_space_give_back(&space, alice);
	assert_int_equal(qpn_space_take(&space, bob, 1, &first), 0);
	qpn_space_release(&space);
}

static void test_full_space_refuses_and_changes_nothing(void **state)
{
	struct qpn_space space;
	uint32_t first = 99;

	(void)state;
	qpn_space_init(&space);
	assert_int_equal(qpn_space_take(&space, alice, QPN_SPACE_BLOCKS - 1, &first), 0);
	assert_int_equal(qpn_space_take(&space, bob, 1, &first), -28 /* ENOSPC */);
	assert_int_equal(first, 1);
	qpn_space_give_back(&space, bob);
	assert_ptr_equal(qpn_space_owner(&space, QPN_BLOCK), alice);
	qpn_space_give_back(&space, alice);
	assert_int_equal(qpn_space_take(&space, bob, QPN_SPACE_BLOCKS, &first), -28 /* ENOSPC */);
	qpn_space_release(&space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_name_their_owner),
		cmocka_unit_test(test_freed_numbers_come_last),
		cmocka_unit_test(test_one_process_can_have_all_numbers),
		cmocka_unit_test(test_full_space_refuses_and_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
