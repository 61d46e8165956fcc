/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4 against the vectors that its authors published. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/siphash.h"

/* Key 00 01 .. 0f, messages of 0 to 15 bytes 00 01 ...: the first 16 of the authors' vectors. */
static void test_published_vectors(void **state)
{
	static const uint64_t expected[16] = {
		0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
		0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
		0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
		0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5,
	};
	uint8_t key[SIPHASH_KEY_BYTES], message[16];

	(void)state;
	for (unsigned i = 0; i < 16; i++)
		key[i] = message[i] = (uint8_t)i;
	for (unsigned byte_count = 0; byte_count < 16; byte_count++)
		assert_int_equal(siphash(key, message, byte_count), expected[byte_count]);
}

static void test_another_key_gives_another_hash(void **state)
{
	const uint8_t message[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint8_t key[SIPHASH_KEY_BYTES] = {0};
	uint64_t before = siphash(key, message, sizeof(message));

	(void)state;
	for (unsigned bit = 0; bit < 8 * SIPHASH_KEY_BYTES; bit++) {
		key[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_not_equal(siphash(key, message, sizeof(message)), before);
		key[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_vectors),
		cmocka_unit_test(test_another_key_gives_another_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
