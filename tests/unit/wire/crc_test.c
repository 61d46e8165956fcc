/* SPDX-License-Identifier: Apache-2.0 */
/* Both CRCs against published packets and against 43 captured ones (transport 1.7, 1.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "vectors/vector_file.h"
#include "wire/crc.h"

static uint32_t icrc_of(const char *hex)
{
	uint8_t bytes[256];
	size_t byte_count = hex_bytes(hex, sizeof(bytes), bytes);

	return icrc(bytes, byte_count);
}

/* The numbers have the wire bytes of the vector, least significant first. */
static void test_icrc_of_the_specifications_local_sample(void **state)
{
	(void)state;
	assert_int_equal(icrc_of("7012375c000e17d2 0a20248700 87b1b3000dec2a "
				 "01710a1c015d400238f27a050000000e"
				 "bb884d85fd5cfba4728bc0690ed4 0000"),
			 0x5ab72596);
}

static void test_icrc_of_global_samples(void **state)
{
	(void)state;
	assert_int_equal(
		icrc_of("0003 0001 0000 0002 602000000028 1b40 00000000000000000000ffff0f000002"
			"00000000000000000000ffff0f000002 0a70ffff0000010a80a788bc"
			"000055d4c0726000000047b300000005 0000000001000000"),
		0xbb56d8e3);
	assert_int_equal(
		icrc_of("0003 0001 0000 0002 602000000014 1b40 00000000000000000000ffff0f000002"
			"00000000000000000000ffff0f000002 1140ffff0000010900a788c0 00000005"),
		0x38c0f025);
}

static void test_icrc_ignores_what_switches_change(void **state)
{
	(void)state;
	uint32_t before = icrc_of("7012375c000e17d2 0a20248700 87b1b3000dec2a");

	assert_int_equal(icrc_of("2012375c000e17d2 0a20248700 87b1b3000dec2a"), before); /* VL */
	assert_int_equal(icrc_of("7012375c000e17d2 0a202487c0 87b1b3000dec2a"),
			 before); /* FECN, BECN */
	assert_int_not_equal(icrc_of("7022375c000e17d2 0a20248700 87b1b3000dec2a"),
			     before); /* SL */
	assert_int_not_equal(icrc_of("7012375d000e17d2 0a20248700 87b1b3000dec2a"),
			     before); /* DLID */
}

static void test_vcrc_of_the_computed_examples(void **state)
{
	(void)state;
	uint8_t bytes[128];
	size_t byte_count = hex_bytes(
		"7012375c000e17d2 0a20248700 87b1b3000dec2a 01710a1c015d400238f27a050000000e"
		"bb884d85fd5cfba4728bc0690ed4 0000 9625b75a",
		sizeof(bytes), bytes);

	assert_int_equal(vcrc(bytes, byte_count), 0xfa45);
	byte_count = hex_bytes("10000010", sizeof(bytes), bytes);
	assert_int_equal(vcrc(bytes, byte_count), 0x1f59);
}

/* The bitwise reference implementation. */
static uint16_t vcrc_bit_by_bit(const uint8_t *bytes, size_t byte_count)
{
	uint16_t crc = 0xffff;

	for (size_t i = 0; i < byte_count; i++) {
		crc ^= bytes[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc & 1 ? (uint16_t)(crc >> 1 ^ 0xd008) : crc >> 1;
	}
	return crc ^ 0xffff;
}

static void test_vcrc_agrees_with_the_plain_version(void **state)
{
	(void)state;
	struct random random = random_seeded(1);
	uint8_t bytes[300];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)random_next(&random);
	for (size_t byte_count = 0; byte_count <= sizeof(bytes); byte_count++)
		assert_int_equal(vcrc(bytes, byte_count), vcrc_bit_by_bit(bytes, byte_count));
}

/* Below the size of the headers the result has no meaning, but no byte beyond the input may be
 * read. */
static void test_short_input_stays_inside(void **state)
{
	(void)state;
	for (size_t byte_count = 0; byte_count < 64; byte_count++) {
		uint8_t *bytes = malloc(byte_count ? byte_count : 1);

		assert_non_null(bytes);
		memset(bytes, 0x03, byte_count);
		(void)icrc(bytes, byte_count);
		(void)vcrc(bytes, byte_count);
		free(bytes);
	}
}

static void check_captured(struct vector *vector)
{
	size_t icrc_offset = vector->byte_count - 6;
	const uint8_t *tail = vector->bytes + icrc_offset;
	uint32_t sent_icrc = (uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 |
			     (uint32_t)tail[3] << 24;

	assert_int_equal(icrc(vector->bytes, icrc_offset), sent_icrc);
	assert_int_equal(vcrc(vector->bytes, icrc_offset + 4), tail[4] | tail[5] << 8);
}

static void test_captured_packets_have_these_crcs(void **state)
{
	(void)state;
	assert_int_equal(vector_file_each(VECTORS "/captured_packets.txt", check_captured), 43);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_icrc_of_the_specifications_local_sample),
		cmocka_unit_test(test_icrc_of_global_samples),
		cmocka_unit_test(test_icrc_ignores_what_switches_change),
		cmocka_unit_test(test_vcrc_of_the_computed_examples),
		cmocka_unit_test(test_vcrc_agrees_with_the_plain_version),
		cmocka_unit_test(test_short_input_stays_inside),
		cmocka_unit_test(test_captured_packets_have_these_crcs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
