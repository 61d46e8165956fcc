/* SPDX-License-Identifier: Apache-2.0 */
/* VPD memories: first contents, bounds, protection, write time (management 6.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "mgmt/agents/baseboard_vpd.h"

static void test_first_contents_describe_the_node(void **state)
{
	struct vpd vpd;

	(void)state;
	vpd_init_module(&vpd, &fixture.adapter);
	assert_non_null(strstr(vpd.bytes, "NAME=adapter\n"));
	assert_non_null(strstr(vpd.bytes, "SERIAL=0000000000000100\n"));
	assert_non_null(strstr(vpd.bytes, "PART=SOFTIB-CA\n"));
	vpd_init_module(&vpd, &fixture.hub);
	assert_non_null(strstr(vpd.bytes, "PART=SOFTIB-SWITCH\n"));
	vpd_init_chassis(&vpd, &fixture.hub);
	assert_non_null(strstr(vpd.bytes, "SYSTEM_IMAGE_GUID=0x0000000000000200\n"));
}

static void test_bounds_of_a_memory(void **state)
{
	uint8_t bytes[64] = {0};
	struct vpd vpd;

	(void)state;
	vpd_init_module(&vpd, &fixture.adapter);
	assert_int_equal(vpd_read(&vpd, 0, 511, 1, 39, bytes), BASEBOARD_OK);
	assert_int_equal(vpd_read(&vpd, 0, 512, 1, 39, bytes), BASEBOARD_ILLEGAL_OFFSET);
	assert_int_equal(vpd_read(&vpd, 0, 65535, 1, 39, bytes), BASEBOARD_ILLEGAL_OFFSET);
	assert_int_equal(vpd_read(&vpd, 0, 0, 0, 39, bytes), BASEBOARD_ILLEGAL_BYTE_COUNT);
	assert_int_equal(vpd_read(&vpd, 0, 0, 40, 39, bytes), BASEBOARD_ILLEGAL_BYTE_COUNT);
	assert_int_equal(vpd_read(&vpd, 0, 511, 2, 39, bytes), BASEBOARD_ILLEGAL_BYTE_COUNT);
	assert_int_equal(vpd_write(&vpd, 0, 511, 2, 35, bytes), BASEBOARD_ILLEGAL_BYTE_COUNT);
}

static void test_write_takes_time_and_protection_refuses_it(void **state)
{
	uint8_t bytes[4] = "abc";
	struct vpd vpd;

	(void)state;
	vpd_init_module(&vpd, &fixture.adapter);
	assert_int_equal(vpd_write(&vpd, 100, 500, 3, 35, bytes), BASEBOARD_OK);
	assert_int_equal(vpd_read(&vpd, 100 + VPD_WRITE_TIME - 1, 500, 3, 39, bytes),
			 BASEBOARD_BUSY);
	assert_int_equal(vpd_read(&vpd, 100 + VPD_WRITE_TIME, 500, 3, 39, bytes), BASEBOARD_OK);
	assert_memory_equal(bytes, "abc", 3);
	vpd.is_protected = true;
	assert_int_equal(vpd_write(&vpd, SECONDS(1), 500, 3, 35, bytes), BASEBOARD_WRITE_PROTECTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_first_contents_describe_the_node),
		TEST(test_bounds_of_a_memory),
		TEST(test_write_takes_time_and_protection_refuses_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
