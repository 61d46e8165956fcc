/* SPDX-License-Identifier: Apache-2.0 */
/* The seeded generator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/random.h"

/* The published first outputs of SplitMix64 for seed 1234567. */
static void test_the_sequence_is_that_of_splitmix64(void **state)
{
	(void)state;
	static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
					    9817491932198370423u, 4593380528125082431u,
					    16408922859458223821u};
	struct random random = random_seeded(1234567);

	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(random_next(&random), expected[i]);
}

static void test_below_stays_below_and_reaches_all(void **state)
{
	(void)state;
	struct random random = random_seeded(7);
	unsigned seen = 0;

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t value = random_below(&random, 10);

		assert_true(value < 10);
		seen |= 1u << value;
	}
	assert_int_equal(seen, 0x3ff);
	assert_int_equal(random_below(&random, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_sequence_is_that_of_splitmix64),
		cmocka_unit_test(test_below_stays_below_and_reaches_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
