/* SPDX-License-Identifier: Apache-2.0 */
/* Asking for a line ahead of its use. */
#include "base/cache_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void test_asking_for_a_line_leaves_it_alone(void **state)
{
	uint8_t line[64], before[64];

	(void)state;
	memset(line, 0x5a, sizeof(line));
	memcpy(before, line, sizeof(line));
	for (unsigned i = 0; i < sizeof(line); i++)
		cache_line_want(line + i);
	assert_memory_equal(line, before, sizeof(line));
}

/* The memory may be gone: a prefetch of an address that is not mapped does no harm. */
static void test_asking_for_what_is_not_there_does_no_harm(void **state)
{
	(void)state;
	cache_line_want((const uint8_t *)(uintptr_t)0xdead0000);
	cache_line_want(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asking_for_a_line_leaves_it_alone),
		cmocka_unit_test(test_asking_for_what_is_not_there_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
