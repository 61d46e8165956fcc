/* SPDX-License-Identifier: Apache-2.0 */
/* 24-bit sequence numbers around their wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/attributes.h"
#include "wire/psn.h"

static void test_counting_wraps_at_24_bits(void **state)
{
	(void)state;
	assert_int_equal(psn_add(psn_from(0xffffff), 1).value, 0);
	assert_int_equal(psn_add(psn_from(0xfffffe), 5).value, 3);
	assert_int_equal(psn_previous(psn_from(0)).value, 0xffffff);
	assert_int_equal(psn_from(0x1000005).value, 5);
}

static void test_distance_is_signed_across_the_wrap(void **state)
{
	(void)state;
	static const uint32_t starts[] = {0, 1, 0x7fffff, 0x800000, 0xfffffe, 0xffffff};
	static const int32_t distances[] = {0, 1, 2, 1000, 0x7fffff};

	for (size_t i = 0; i < ARRAY_COUNT(starts); i++)
		for (size_t j = 0; j < ARRAY_COUNT(distances); j++) {
			struct psn a = psn_from(starts[i]);
			struct psn b = psn_add(a, (uint32_t)distances[j]);

			assert_int_equal(psn_distance(a, b), distances[j]);
			assert_int_equal(psn_distance(b, a), -distances[j]);
			assert_int_equal(psn_before(a, b), distances[j] > 0);
			assert_false(psn_before(b, a));
			assert_int_equal(psn_equal(a, b), distances[j] == 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counting_wraps_at_24_bits),
		cmocka_unit_test(test_distance_is_signed_across_the_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
