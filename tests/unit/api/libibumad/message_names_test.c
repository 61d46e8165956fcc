/* SPDX-License-Identifier: Apache-2.0 */
/* Names of classes, methods, attributes and statuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>

#include <infiniband/umad.h>
#include <infiniband/umad_str.h>

static void test_classes_have_names_and_ranges(void **state)
{
	(void)state;
	assert_string_equal(umad_class_str(0x01), "Subn");
	assert_string_equal(umad_class_str(0x81), "Subn");
	assert_string_equal(umad_class_str(0x09), "Vendor");
	assert_string_equal(umad_class_str(0x4f), "Vendor");
	assert_string_equal(umad_class_str(0x2f), "Application");
	assert_string_equal(umad_class_str(0x50), "<unknown>");
	assert_string_equal(umad_class_str(0x02), "<unknown>");
}

static void test_methods_and_attributes_depend_on_the_class(void **state)
{
	(void)state;
	assert_string_equal(umad_method_str(0x01, 0x81), "GetResp");
	assert_string_equal(umad_method_str(0x03, 0x12), "GetTable");
	assert_string_equal(umad_method_str(0x01, 0x12), "<unknown>");
	assert_string_equal(umad_attribute_str(0x81, htobe16(0x11)), "NodeInfo");
	assert_string_equal(umad_attribute_str(0x03, htobe16(0x11)), "NodeRecord");
	assert_string_equal(umad_attribute_str(0x07, htobe16(0x11)), "MsgRcptAck");
	assert_string_equal(umad_attribute_str(0x04, htobe16(0x01)), "Class Port Info");
	assert_string_equal(umad_attribute_str(0x04, htobe16(0x11)), "<unknown>");
}

static void test_statuses_are_read_by_field(void **state)
{
	(void)state;
	assert_string_equal(umad_common_mad_status_str(htobe16(0x0000)), "Success");
	assert_string_equal(umad_common_mad_status_str(htobe16(0x0001)), "Busy");
	assert_string_equal(umad_common_mad_status_str(htobe16(0x000c)),
			    "Method/Attribute combo not supported");
	assert_string_equal(umad_common_mad_status_str(htobe16(0x001c)),
			    "Invalid attribute/modifier field");
	assert_string_equal(umad_sa_mad_status_str(htobe16(0x0300)), "No Records");
	assert_string_equal(umad_sa_mad_status_str(htobe16(0x0900)), "Undefined Error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes_have_names_and_ranges),
		cmocka_unit_test(test_methods_and_attributes_depend_on_the_class),
		cmocka_unit_test(test_statuses_are_read_by_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
