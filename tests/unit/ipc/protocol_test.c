/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of shared memory: parts that start on pages, do not overlap and fit. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "ipc/protocol.h"

enum { PAGE_BYTES = 4096 };

static void test_process_parts_do_not_overlap(void **state)
{
	struct process_layout layout = process_layout();

	(void)state;
	assert_int_equal(layout.up_offset, 0);
	assert_true(layout.down_offset >= ring_shared_bytes(PROCESS_RING_BYTES));
	assert_true(layout.flows_offset >=
		    layout.down_offset + ring_shared_bytes(PROCESS_RING_BYTES));
	assert_true(layout.total_bytes >=
		    layout.flows_offset + FLOW_SLOTS * sizeof(struct flow_counters));
	assert_int_equal(
		(layout.down_offset | layout.flows_offset | layout.total_bytes) % PAGE_BYTES, 0);
}

static void test_direct_rings_do_not_overlap(void **state)
{
	struct direct_layout layout = direct_layout();

	(void)state;
	assert_int_equal(layout.offset[0], 0);
	assert_true(layout.offset[1] >= ring_shared_bytes(DIRECT_RING_BYTES));
	assert_true(layout.total_bytes >= layout.offset[1] + ring_shared_bytes(DIRECT_RING_BYTES));
	assert_int_equal((layout.offset[1] | layout.total_bytes) % PAGE_BYTES, 0);
}

static void test_rings_take_the_largest_train(void **state)
{
	(void)state;
	assert_true(TRAIN_BYTES_MAX + 256 < ring_body_bytes_max(DIRECT_RING_BYTES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process_parts_do_not_overlap),
		cmocka_unit_test(test_direct_rings_do_not_overlap),
		cmocka_unit_test(test_rings_take_the_largest_train),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
