/* SPDX-License-Identifier: Apache-2.0 */
/* Fork protection: nothing to do, and programs are told so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <infiniband/verbs.h>

#include "api/libibverbs/compat/fork.h"

static void test_fork_needs_no_protection(void **state)
{
	char page[64];

	(void)state;
	assert_int_equal(ibv_fork_init(), 0);
	assert_int_equal(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
	assert_int_equal(ibv_dontfork_range(page, sizeof(page)), 0);
	assert_int_equal(ibv_dofork_range(page, sizeof(page)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork_needs_no_protection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
