/* SPDX-License-Identifier: Apache-2.0 */
/* The common MAD header in both its forms (management 1.1, 2.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "vectors/hex.h"
#include "wire/mad.h"

static void test_directed_header_has_direction_and_hops(void **state)
{
	(void)state;
	struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_SUBNET_DIRECTED,
		.class_version = 1,
		.method = MAD_GET_RESPONSE,
		.status = 0x801c, /* the top bit is the D bit */
		.is_returning = true,
		.hop_pointer = 2,
		.hop_count = 3,
		.class_specific = 0xffff, /* of other classes only */
		.transaction_id = 0x0102030405060708,
		.attribute_id = ATTRIBUTE_PORT_INFO,
		.attribute_modifier = 0x80000001,
	};
	uint8_t expected[MAD_HEADER_BYTES];
	uint8_t bytes[MAD_HEADER_BYTES];
	struct mad_header again;

	assert_int_equal(hex_bytes("01 81 01 81 801c 02 03 0102030405060708 0015 0000 80000001",
				   sizeof(expected), expected),
			 MAD_HEADER_BYTES);
	mad_header_encode(&header, bytes);
	assert_memory_equal(bytes, expected, sizeof(bytes));
	assert_true(mad_header_decode(bytes, sizeof(bytes), &again));
	assert_int_equal(again.status, 0x001c);
	assert_true(again.is_returning);
	assert_int_equal(again.hop_pointer, 2);
	assert_int_equal(again.hop_count, 3);
	assert_int_equal(again.class_specific, 0);
	assert_int_equal(again.transaction_id, header.transaction_id);
	assert_int_equal(again.attribute_id, ATTRIBUTE_PORT_INFO);
	assert_int_equal(again.attribute_modifier, 0x80000001);
	header.is_returning = false;
	mad_header_encode(&header, bytes);
	assert_int_equal(bytes[4], 0);
}

static void test_other_classes_keep_all_status_bits(void **state)
{
	(void)state;
	struct mad_header header = {
		.management_class = MAD_CLASS_SUBNET_ADMINISTRATION,
		.status = 0x8300,
		.is_returning = true,
		.hop_count = 9,
		.class_specific = 0x1234,
	};
	uint8_t bytes[MAD_HEADER_BYTES];
	struct mad_header again;

	mad_header_encode(&header, bytes);
	assert_true(mad_header_decode(bytes, sizeof(bytes), &again));
	assert_int_equal(again.status, 0x8300);
	assert_int_equal(again.class_specific, 0x1234);
	assert_false(again.is_returning);
	assert_int_equal(again.hop_count, 0);
}

static void test_short_input_is_refused(void **state)
{
	(void)state;
	const uint8_t bytes[MAD_HEADER_BYTES] = {1, 0x81};
	struct mad_header header = {.method = 0x55};

	for (size_t byte_count = 0; byte_count < MAD_HEADER_BYTES; byte_count++)
		assert_false(mad_header_decode(bytes, byte_count, &header));
	assert_int_equal(header.method, 0x55);
}

static void test_answer_of_a_baseboard_is_a_send_with_modifier_1(void **state)
{
	uint8_t mad[MAD_BYTES] = {1, MAD_CLASS_BASEBOARD, 1, MAD_SEND};

	(void)state;
	assert_false(mad_is_baseboard_answer(mad));
	mad[MAD_MODIFIER_OFFSET + 3] = 1;
	assert_true(mad_is_baseboard_answer(mad));
	mad[MAD_METHOD_OFFSET] = MAD_SET;
	assert_false(mad_is_baseboard_answer(mad));
	mad[MAD_METHOD_OFFSET] = MAD_SEND;
	mad[MAD_CLASS_OFFSET] = MAD_CLASS_COMMUNICATION;
	assert_false(mad_is_baseboard_answer(mad));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directed_header_has_direction_and_hops),
		cmocka_unit_test(test_other_classes_keep_all_status_bits),
		cmocka_unit_test(test_short_input_is_refused),
		cmocka_unit_test(test_answer_of_a_baseboard_is_a_send_with_modifier_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
