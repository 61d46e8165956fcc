/* SPDX-License-Identifier: Apache-2.0 */
/* The fields that only SMPs have (management 2.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "wire/pkey.h"
#include "wire/smp.h"

static void test_a_directed_smp_starts_permissive(void **state)
{
	(void)state;
	struct mad_header header = {
		.base_version = 1, .management_class = MAD_CLASS_SUBNET_DIRECTED, .hop_count = 2};
	const uint8_t route[] = {1, 7};
	uint8_t smp[MAD_BYTES];

	memset(smp, 0xee, sizeof(smp));
	smp_start(&header, smp);
	smp_set_route(route, 2, smp);
	assert_int_equal(smp_dr_slid(smp), LID_PERMISSIVE);
	assert_int_equal(smp_dr_dlid(smp), LID_PERMISSIVE);
	assert_int_equal(smp[128], 0);
	assert_int_equal(smp[129], 1);
	assert_int_equal(smp[130], 7);
	for (unsigned i = 131; i < MAD_BYTES; i++)
		assert_int_equal(smp[i], 0);
}

static void test_a_lid_routed_smp_leaves_those_fields_zero(void **state)
{
	(void)state;
	struct mad_header header = {.base_version = 1, .management_class = MAD_CLASS_SUBNET_LID};
	uint8_t smp[MAD_BYTES];

	memset(smp, 0xee, sizeof(smp));
	smp_start(&header, smp);
	for (unsigned i = MAD_HEADER_BYTES; i < MAD_BYTES; i++)
		assert_int_equal(smp[i], 0);
}

static void test_each_field_lies_in_its_place(void **state)
{
	(void)state;
	uint8_t smp[MAD_BYTES] = {0};

	smp_set_mkey(0x0102030405060708, smp);
	smp_set_dr_slid(0x1112, smp);
	smp_set_dr_dlid(0x2122, smp);
	assert_int_equal(smp[24], 0x01);
	assert_int_equal(smp[31], 0x08);
	assert_int_equal(smp[32], 0x11);
	assert_int_equal(smp[35], 0x22);
	assert_int_equal(smp_mkey(smp), 0x0102030405060708);
	assert_int_equal(smp_dr_slid(smp), 0x1112);
	assert_int_equal(smp_dr_dlid(smp), 0x2122);
	assert_ptr_equal(smp_data(smp), smp + 64);
	assert_ptr_equal(smp_initial_path(smp), smp + 128);
	assert_ptr_equal(smp_return_path(smp), smp + 192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_directed_smp_starts_permissive),
		cmocka_unit_test(test_a_lid_routed_smp_leaves_those_fields_zero),
		cmocka_unit_test(test_each_field_lies_in_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
