/* SPDX-License-Identifier: Apache-2.0 */
/* The header of an Ethernet frame against literal bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "vectors/hex.h"
#include "wire/ethernet.h"

static void test_header_is_two_addresses_and_a_type(void **state)
{
	const struct ethernet_header header = {.destination = {{1, 2, 3, 4, 5, 6}},
					       .source = {{7, 8, 9, 10, 11, 12}},
					       .ethertype = ETHERTYPE_IPV6};
	uint8_t expected[ETHERNET_HEADER_BYTES], bytes[ETHERNET_HEADER_BYTES];
	struct ethernet_header read;

	(void)state;
	assert_int_equal(hex_bytes("010203040506 0708090a0b0c 86dd", sizeof(expected), expected),
			 ETHERNET_HEADER_BYTES);
	ethernet_header_encode(&header, bytes);
	assert_memory_equal(bytes, expected, sizeof(bytes));
	assert_true(ethernet_header_decode(bytes, sizeof(bytes), &read));
	assert_memory_equal(&read.destination, &header.destination, MAC_BYTES);
	assert_memory_equal(&read.source, &header.source, MAC_BYTES);
	assert_int_equal(read.ethertype, ETHERTYPE_IPV6);
}

static void test_short_frames_and_lengths_are_refused(void **state)
{
	uint8_t bytes[ETHERNET_HEADER_BYTES] = {[12] = 0x06};
	struct ethernet_header read;

	(void)state;
	for (size_t byte_count = 0; byte_count < sizeof(bytes); byte_count++)
		assert_false(ethernet_header_decode(bytes, byte_count, &read));
	assert_true(ethernet_header_decode(bytes, sizeof(bytes), &read));
	bytes[12] = 0x05;
	bytes[13] = 0xff;
	assert_false(ethernet_header_decode(bytes, sizeof(bytes), &read));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_is_two_addresses_and_a_type),
		cmocka_unit_test(test_short_frames_and_lengths_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
