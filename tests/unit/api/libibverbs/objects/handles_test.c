/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses are live objects. */
#include "api/libibverbs/objects/handles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static char objects[10000];

static void test_nothing_is_live_before_it_is_given(void **state)
{
	(void)state;
	assert_false(handle_is_live(HANDLE_QP, NULL));
	assert_false(handle_is_live(HANDLE_QP, &objects[0]));
	handle_remove(&objects[0]);
	assert_false(handle_is_live(HANDLE_QP, &objects[0]));
}

static void test_an_object_is_of_its_own_kind_only(void **state)
{
	(void)state;
	handle_add(HANDLE_CQ, &objects[0]);
	for (enum handle_kind kind = HANDLE_CONTEXT; kind <= HANDLE_AH; kind++)
		assert_int_equal(handle_is_live(kind, &objects[0]), kind == HANDLE_CQ);
	assert_false(handle_is_live(HANDLE_CQ, &objects[1]));
	handle_remove(&objects[0]);
	assert_false(handle_is_live(HANDLE_CQ, &objects[0]));
}

/* A freed address may become another object's. */
static void test_an_address_may_be_another_kind_later(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		enum handle_kind kind = i % 2 ? HANDLE_MR : HANDLE_AH;

		handle_add(kind, &objects[0]);
		assert_true(handle_is_live(kind, &objects[0]));
		handle_remove(&objects[0]);
		assert_false(handle_is_live(kind, &objects[0]));
	}
}

static void test_many_are_told_apart(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(objects); i++)
		handle_add(HANDLE_PD, &objects[i]);
	for (unsigned i = 0; i < sizeof(objects); i += 3)
		handle_remove(&objects[i]);
	for (unsigned i = 0; i < sizeof(objects); i++)
		assert_int_equal(handle_is_live(HANDLE_PD, &objects[i]), i % 3 != 0);
	for (unsigned i = 0; i < sizeof(objects); i++)
		handle_remove(&objects[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_live_before_it_is_given),
		cmocka_unit_test(test_an_object_is_of_its_own_kind_only),
		cmocka_unit_test(test_an_address_may_be_another_kind_later),
		cmocka_unit_test(test_many_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
