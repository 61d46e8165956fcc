/* SPDX-License-Identifier: Apache-2.0 */
/* The RMPP header: literal bytes, and which classes have it (management 1.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "wire/rmpp.h"

static void test_header_is_the_twelve_bytes_behind_the_common_one(void **state)
{
	(void)state;
	static const uint8_t expected[RMPP_HEADER_BYTES] = {1, 1, 0xfb, 0, 0, 0,
							    0, 1, 0,	0, 2, 0x6c};
	const struct rmpp_header header = {
		.version = 1,
		.type = RMPP_TYPE_DATA,
		.resp_time = 0x1f,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST,
		.segment_number = 1,
		.length_or_last = 620,
	};
	struct rmpp_header decoded;
	uint8_t mad[MAD_BYTES] = {0};

	rmpp_header_encode(&header, mad);
	assert_memory_equal(mad + 24, expected, sizeof(expected));
	rmpp_header_decode(mad, &decoded);
	assert_int_equal(decoded.version, header.version);
	assert_int_equal(decoded.type, header.type);
	assert_int_equal(decoded.resp_time, header.resp_time);
	assert_int_equal(decoded.flags, header.flags);
	assert_int_equal(decoded.status, header.status);
	assert_int_equal(decoded.segment_number, header.segment_number);
	assert_int_equal(decoded.length_or_last, header.length_or_last);
}

static void test_only_some_classes_have_it(void **state)
{
	(void)state;
	for (unsigned class = 0; class < 256; class ++) {
		bool expected = class == 0x03 || class == 0x10 || class == 0x12 ||
				(class >= 0x30 && class <= 0x4f);

		assert_int_equal(rmpp_class_has_header((uint8_t) class), expected);
	}
}

static void test_a_mad_without_the_active_flag_is_not_rmpp(void **state)
{
	(void)state;
	uint8_t mad[MAD_BYTES] = {1, MAD_CLASS_SUBNET_ADMINISTRATION, 2, 0x92};

	assert_false(rmpp_mad_is_active(mad));
	mad[26] = RMPP_FLAG_ACTIVE;
	assert_true(rmpp_mad_is_active(mad));
	mad[1] = MAD_CLASS_PERFORMANCE;
	assert_false(rmpp_mad_is_active(mad));
}

static void test_data_start_behind_the_header_of_the_class(void **state)
{
	(void)state;
	assert_int_equal(rmpp_data_offset(MAD_CLASS_SUBNET_ADMINISTRATION), 56);
	assert_int_equal(rmpp_data_offset(MAD_CLASS_VENDOR2_FIRST), 40);
	assert_int_equal(rmpp_data_offset(MAD_CLASS_VENDOR2_LAST), 40);
	assert_int_equal(rmpp_data_offset(MAD_CLASS_DEVICE_ADMINISTRATION), 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_is_the_twelve_bytes_behind_the_common_one),
		cmocka_unit_test(test_only_some_classes_have_it),
		cmocka_unit_test(test_a_mad_without_the_active_flag_is_not_rmpp),
		cmocka_unit_test(test_data_start_behind_the_header_of_the_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
