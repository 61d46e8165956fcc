/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbors of ports: found from both ends, saved and read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "mgmt/subnet/neighbors.h"

static const struct neighbor_end host = {0xa1, 1}, leaf = {0xb0, 3}, other_leaf = {0xb0, 4};

static void test_each_end_of_a_cable_finds_the_other(void **state)
{
	struct neighbors neighbors;

	(void)state;
	neighbors_init(&neighbors);
	assert_int_equal(neighbors_find(&neighbors, &leaf), 0);
	neighbors_remember(&neighbors, &leaf, &host);
	assert_int_equal(neighbors_find(&neighbors, &leaf), 0xa1);
	assert_int_equal(neighbors_find(&neighbors, &host), 0xb0);
	assert_int_equal(neighbors_find(&neighbors, &other_leaf), 0);
	assert_true(neighbors.is_changed);
	neighbors.is_changed = false;
	neighbors_remember(&neighbors, &leaf, &host);
	assert_false(neighbors.is_changed);
	neighbors_release(&neighbors);
}

static void test_text_read_again_says_the_same(void **state)
{
	struct neighbors neighbors, again;
	char *text;

	(void)state;
	neighbors_init(&neighbors);
	neighbors_init(&again);
	neighbors_remember(&neighbors, &leaf, &host);
	text = neighbors_text(&neighbors);
	assert_non_null(text);
	assert_int_equal(neighbors_read(&again, text), 0);
	assert_int_equal(neighbors_find(&again, &leaf), 0xa1);
	assert_int_equal(neighbors_find(&again, &host), 0xb0);
	free(text);
	neighbors_release(&neighbors);
	neighbors_release(&again);
}

static void test_lines_that_make_no_sense_are_counted(void **state)
{
	struct neighbors neighbors;

	(void)state;
	neighbors_init(&neighbors);
	assert_int_equal(neighbors_read(&neighbors, "# a comment\n\n0xb0:3 0xa1:1\n0xb0 0xa1\n"
						    "0xb0:3\n0xb0:300 0xa1:1\nnonsense\n"
						    "0xb0:4\n0xa2:1"),
			 6);
	assert_int_equal(neighbors_find(&neighbors, &leaf), 0xa1);
	assert_int_equal(neighbors_find(&neighbors, &other_leaf), 0);
	neighbors_release(&neighbors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_end_of_a_cable_finds_the_other),
		cmocka_unit_test(test_text_read_again_says_the_same),
		cmocka_unit_test(test_lines_that_make_no_sense_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
