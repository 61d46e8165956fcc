/* SPDX-License-Identifier: Apache-2.0 */
/* SwitchInfo and forwarding tables: a Set writes the tables that forwarding reads (management 2.5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"

static void test_switch_info_writes_its_writable_fields(void **state)
{
	(void)state;
	struct switch_info *info = &fixture.hub.switch_info;
	struct switch_info written = *info;
	uint8_t data[SMP_DATA_BYTES] = {0};

	written.linear_fdb_top = 0x1234;
	written.linear_fdb_cap = 7;
	written.life_time_value = 3;
	switch_info_encode(&written, data);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
	assert_int_equal(info->linear_fdb_top, 0x1234);
	assert_int_equal(info->life_time_value, 3);
	assert_int_equal(info->linear_fdb_cap, LFT_ENTRIES);
	assert_int_equal(fixture.paths_changed_count, 1);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
	assert_int_equal(fixture.paths_changed_count, 1);

	written.linear_fdb_top = LFT_ENTRIES;
	switch_info_encode(&written, data);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_SWITCH_INFO, 0, data),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(info->linear_fdb_top, 0x1234);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_SWITCH_INFO, 1, NULL),
			 MAD_STATUS_BAD_FIELD);
}

static void test_multicast_top_lies_in_the_table(void **state)
{
	(void)state;
	static const struct {
		uint16_t top;
		int status;
	} cases[] = {{0, 0},	   {0xbfff, 0},	 {0xc000, 0}, {0xc3ff, 0},
		     {0xc400, 28}, {0xbffe, 28}, {1, 28}};
	uint8_t data[SMP_DATA_BYTES];

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct switch_info info = fixture.hub.switch_info;

		info.multicast_fdb_top = cases[i].top;
		memset(data, 0, sizeof(data));
		switch_info_encode(&info, data);
		assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_SWITCH_INFO, 0, data),
				 cases[i].status);
	}
	assert_int_equal(fixture.hub.switch_info.multicast_fdb_top, 0xc3ff);
}

static void test_port_state_change_is_cleared_by_one_and_left_by_zero(void **state)
{
	(void)state;
	struct switch_info written = fixture.hub.switch_info;
	uint8_t data[SMP_DATA_BYTES] = {0};

	fixture.hub.switch_info.port_state_change = 1;
	switch_info_encode(&written, data);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
	assert_int_equal(fixture.hub.switch_info.port_state_change, 1);
	written.port_state_change = 1;
	switch_info_encode(&written, data);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_SWITCH_INFO, 0, data), 0);
	assert_int_equal(fixture.hub.switch_info.port_state_change, 0);
	assert_int_equal(fixture.paths_changed_count, 0);
}

static void test_forwarding_block_goes_straight_into_the_table(void **state)
{
	(void)state;
	uint8_t data[SMP_DATA_BYTES];

	for (unsigned i = 0; i < SMP_DATA_BYTES; i++)
		data[i] = (uint8_t)(i % 5);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_LINEAR_FORWARDING, 2, data),
			 0);
	assert_memory_equal(fixture.hub.lft + 128, data, sizeof(data));
	assert_int_equal(fixture.hub.lft[127], LFT_NO_PORT);
	assert_int_equal(fixture.hub.lft[192], LFT_NO_PORT);
	assert_int_equal(fixture.paths_changed_count, 1);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_LINEAR_FORWARDING, 2, data),
			 0);
	assert_int_equal(fixture.paths_changed_count, 1);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_LINEAR_FORWARDING, 2, NULL),
			 0);
	assert_memory_equal(fixture_data(), data, sizeof(data));
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_LINEAR_FORWARDING, 767, NULL),
			 0);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_LINEAR_FORWARDING, 768, NULL),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(
		fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_LINEAR_FORWARDING, 0xffffffff, data),
		MAD_STATUS_BAD_FIELD);
}

static void test_multicast_block_has_a_position_and_ends_at_the_cap(void **state)
{
	(void)state;
	uint8_t data[SMP_DATA_BYTES] = {0x00, 0x1e};
	static const uint8_t zeros[SMP_DATA_BYTES];

	assert_int_equal(
		fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_MULTICAST_FORWARDING, 1, data), 0);
	assert_int_equal(fixture.hub.mft[32][0], 0x1e);
	assert_memory_equal(fixture_data(), data, sizeof(data));
	/* A switch with four ports has one position; the cap is 1024 MLIDs. */
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_MULTICAST_FORWARDING,
				     0x10000001, data),
			 0);
	assert_memory_equal(fixture_data(), zeros, sizeof(zeros));
	assert_int_equal(
		fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_MULTICAST_FORWARDING, 32, data), 0);
	assert_memory_equal(fixture_data(), zeros, sizeof(zeros));
	assert_int_equal(fixture.paths_changed_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_switch_info_writes_its_writable_fields),
		TEST(test_multicast_top_lies_in_the_table),
		TEST(test_port_state_change_is_cleared_by_one_and_left_by_zero),
		TEST(test_forwarding_block_goes_straight_into_the_table),
		TEST(test_multicast_block_has_a_position_and_ends_at_the_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
