/* SPDX-License-Identifier: Apache-2.0 */
/* Large pages change nothing that a program can see: memory is usable, and untouched memory costs
 * nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "launch/large_pages.h"

static long resident_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long total = 0, resident = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld %ld", &total, &resident), 2);
	fclose(file);
	return resident;
}

static void test_blocks_of_all_sizes_are_whole_and_room_is_not_taken(void **state)
{
	enum { BLOCKS = 200, ROOM_PAGES = (1 << 29) / 4096 };
	uint8_t *blocks[BLOCKS];
	long before = resident_pages();

	(void)state;
	large_pages_for_heap();
	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(100 + i * 1000);
		assert_non_null(blocks[i]);
		memset(blocks[i], (int)i, 100 + i * 1000);
	}
	for (unsigned i = 0; i < BLOCKS; i++) {
		assert_int_equal(blocks[i][0], i);
		assert_int_equal(blocks[i][99 + i * 1000], i);
		free(blocks[i]);
	}
	/* The blocks and a large page or two, far less than the heap may grow to. */
	assert_true(resident_pages() - before < ROOM_PAGES / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_of_all_sizes_are_whole_and_room_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
