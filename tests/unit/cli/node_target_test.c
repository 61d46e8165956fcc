/* SPDX-License-Identifier: Apache-2.0 */
/* NODE or NODE:PORT: names, ports, and what is neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cli/node_target.h"

static void test_a_port_stands_behind_the_last_colon(void **state)
{
	struct node_target target;

	(void)state;
	assert_true(node_target_parse("h1", &target));
	assert_string_equal(target.node, "h1");
	assert_int_equal(target.port, NODE_TARGET_NO_PORT);
	assert_true(node_target_parse("a:b:254", &target));
	assert_string_equal(target.node, "a:b");
	assert_int_equal(target.port, 254);
	assert_true(node_target_parse("s1:0", &target));
	assert_int_equal(target.port, 0);
}

static void test_what_is_no_target_is_refused(void **state)
{
	static const char *const bad[] = {"", ":1", "h1:", "h1:x", "h1:-1", "h1:255", "h1:1x"};
	struct node_target target;

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(node_target_parse(bad[i], &target));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_port_stands_behind_the_last_colon),
		cmocka_unit_test(test_what_is_no_target_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
