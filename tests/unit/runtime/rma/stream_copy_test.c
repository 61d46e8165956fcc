/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that go past the cache copy the same bytes as memcpy. */
#include "runtime/rma/stream_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { BYTES = 1024, EDGE = 64 };

static uint8_t from[BYTES + 2 * EDGE], to[BYTES + 2 * EDGE], expected[BYTES + 2 * EDGE];

/* Every alignment of both sides, and lengths around whole cache lines: the requested bytes and no
 * others. */
static void test_every_alignment_and_length_is_a_plain_copy(void **state)
{
	static const size_t lengths[] = {0, 1, 15, 63, 64, 65, 127, 128, 129, 200, 512, 1000};

	(void)state;
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + i / 251);
	for (size_t source = 0; source < EDGE; source += 3)
		for (size_t target = 0; target < EDGE; target++)
			for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
				memset(to, 0xee, sizeof(to));
				memset(expected, 0xee, sizeof(expected));
				memcpy(expected + target, from + source, lengths[i]);
				stream_copy(from + source, lengths[i], to + target);
				assert_memory_equal(to, expected, sizeof(to));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_alignment_and_length_is_a_plain_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
