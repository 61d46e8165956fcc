/* SPDX-License-Identifier: Apache-2.0 */
/* The text of "ibsrpdm -c". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "io/srp/target_text.h"

static struct srp_target_text target;
static const char *problem;

#define REST "dgid=fe80000000000000025f1b0100030001,pkey=ffff,service_id=025f1b1100030100"

static void test_text_of_ibsrpdm(void **state)
{
	static const uint8_t dgid[16] = {0xfe, 0x80, [8] = 2, 0x5f, 0x1b, 1, 0, 3, 0, 1};

	(void)state;
	assert_true(srp_target_text_read(
		"id_ext=0000000000000001,ioc_guid=025f1b1100030100," REST "\n", &target, &problem));
	assert_int_equal(target.id_ext, 1);
	assert_int_equal(target.ioc_guid, 0x025f1b1100030100);
	assert_memory_equal(target.dgid, dgid, 16);
	assert_int_equal(target.pkey, 0xffff);
	assert_int_equal(target.service_id, 0x025f1b1100030100);
	assert_int_equal(target.initiator_ext, 0);
}

static void test_keys_in_any_order_and_of_the_kernel(void **state)
{
	(void)state;
	assert_true(srp_target_text_read(
		"max_sect=8192,initiator_ext=0xA,ioc_guid=2,id_ext=1," REST, &target, &problem));
	assert_int_equal(target.id_ext, 1);
	assert_int_equal(target.ioc_guid, 2);
	assert_int_equal(target.initiator_ext, 10);
}

static void test_missing_wrong_and_double_keys_are_named(void **state)
{
	static const struct {
		const char *text;
		const char *problem;
	} bad[] = {
		{"", "id_ext"},
		{"id_ext=1," REST, "ioc_guid"},
		{"id_ext=1,ioc_guid=2,dgid=1,pkey=1", "service_id"},
		{"id_ext=1,id_ext=1,ioc_guid=2," REST, "id_ext"},
		{"id_ext=,ioc_guid=2," REST, "id_ext"},
		{"id_ext=12345678901234567,ioc_guid=2," REST, "id_ext"},
		{"id_ext=1,ioc_guid=2g," REST, "ioc_guid"},
		{"id_ext=1,ioc_guid=-2," REST, "ioc_guid"},
		{"id_ext=1,ioc_guid=2,pkey=12345", "pkey"},
		{"id_ext=1,nonsense", "not a list of key=value"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(srp_target_text_read(bad[i].text, &target, &problem));
		assert_string_equal(problem, bad[i].problem);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_of_ibsrpdm),
		cmocka_unit_test(test_keys_in_any_order_and_of_the_kernel),
		cmocka_unit_test(test_missing_wrong_and_double_keys_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
