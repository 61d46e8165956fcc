/* SPDX-License-Identifier: Apache-2.0 */
/* Where a ClassPortInfo sends its reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/mad/redirect.h"
#include "wire/class_port_info.h"

static void test_data_offsets_are_those_of_the_classes(void **state)
{
	(void)state;
	assert_int_equal(mad_data_offset(MAD_CLASS_SUBNET_ADMINISTRATION), 56);
	assert_int_equal(mad_data_offset(MAD_CLASS_PERFORMANCE), 64);
	assert_int_equal(mad_data_offset(MAD_CLASS_BASEBOARD), 64);
	assert_int_equal(mad_data_offset(MAD_CLASS_DEVICE), 64);
	assert_int_equal(mad_data_offset(MAD_CLASS_COMMUNICATION), 24);
	assert_int_equal(mad_data_offset(0x0a), 24);
	assert_int_equal(mad_data_offset(0x30), 40);
	assert_int_equal(mad_data_offset(MAD_CLASS_CONGESTION_CONTROL), 64);
}

static void test_subnet_management_is_never_redirected(void **state)
{
	(void)state;
	struct mad_message answer = {.bytes = {1, MAD_CLASS_SUBNET_LID, 1, 0x81, 0, 2}};

	assert_false(mad_is_redirected(&answer));
	answer.bytes[1] = MAD_CLASS_SUBNET_DIRECTED;
	assert_false(mad_is_redirected(&answer));
	answer.bytes[1] = MAD_CLASS_SUBNET_ADMINISTRATION;
	assert_true(mad_is_redirected(&answer));
	answer.bytes[5] = 1;
	assert_false(mad_is_redirected(&answer));
}

static void test_a_place_needs_a_lid_and_a_qp(void **state)
{
	(void)state;
	struct mad_address address = {
		.lid = 5, .qpn = 1, .qkey = 7, .pkey = 0xffff, .has_grh = true};
	struct class_port_info info = {.redirect_qpn = 1};

	assert_false(mad_redirect_apply(&info, &address));
	info = (struct class_port_info){.redirect_lid = 0xc001, .redirect_qpn = 1};
	assert_false(mad_redirect_apply(&info, &address));
	info = (struct class_port_info){.redirect_lid = 9};
	assert_false(mad_redirect_apply(&info, &address));
	assert_int_equal(address.lid, 5);
	info.redirect_qpn = 2;
	assert_true(mad_redirect_apply(&info, &address));
	assert_int_equal(address.lid, 9);
	assert_int_equal(address.qpn, 2);
	/* What it does not say stays. */
	assert_int_equal(address.qkey, 7);
	assert_int_equal(address.pkey, 0xffff);
	assert_false(address.has_grh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_offsets_are_those_of_the_classes),
		cmocka_unit_test(test_subnet_management_is_never_redirected),
		cmocka_unit_test(test_a_place_needs_a_lid_and_a_qp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
