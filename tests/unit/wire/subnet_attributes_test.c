/* SPDX-License-Identifier: Apache-2.0 */
/* Subnet management attributes: literal bytes, and the properties of every field table (management
 * 2.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "vectors/attribute_checks.h"
#include "vectors/hex.h"
#include "wire/subnet_attributes.h"

static void test_node_info_bytes(void **state)
{
	(void)state;
	struct node_info info = {
		.base_version = 1,
		.class_version = 1,
		.node_type = NODE_SWITCH,
		.port_count = 36,
		.system_image_guid = 0x025f1b0200010000,
		.node_guid = 0x025f1b0200010000,
		.port_guid = 0x025f1b0200010000,
		.partition_cap = 32,
		.device_id = 2,
		.revision = 1,
		.local_port_number = 7,
		.vendor_id = 0x025f1b,
	};
	uint8_t expected[NODE_INFO_BYTES];
	uint8_t bytes[NODE_INFO_BYTES];

	assert_int_equal(hex_bytes("01 01 02 24 025f1b0200010000 025f1b0200010000 025f1b0200010000"
				   "0020 0002 00000001 07 025f1b",
				   sizeof(expected), expected),
			 NODE_INFO_BYTES);
	node_info_encode(&info, bytes);
	assert_memory_equal(bytes, expected, sizeof(bytes));
}

static void test_port_info_bytes(void **state)
{
	(void)state;
	struct port_info info = {
		.gid_prefix = 0xfe80000000000000,
		.lid = 3,
		.master_sm_lid = 1,
		.capability_mask = CAPABILITY_IS_SM | CAPABILITY_TRAP,
		.local_port_number = 1,
		.link_width_enabled = 3,
		.link_width_supported = 3,
		.link_width_active = 2,
		.link_speed_supported = 7,
		.port_state = PORT_ACTIVE,
		.physical_state = PHYSICAL_LINK_UP,
		.link_down_default_state = 2,
		.mkey_protect_bits = 2,
		.lmc = 5,
		.link_speed_active = 4,
		.link_speed_enabled = 7,
		.neighbor_mtu = 5,
		.master_sm_sl = 9,
		.vl_cap = 4,
		.mtu_cap = 5,
		.vl_stall_count = 7,
		.hoq_life = 0x12,
		.operational_vls = 4,
		.filter_raw_outbound = 1,
		.guid_cap = 8,
		.client_reregister = 1,
		.subnet_timeout = 0x12,
		.resp_time_value = 0x10,
		.link_round_trip_latency = 0xffffff,
		.link_speed_ext_active = 2,
		.link_speed_ext_supported = 3,
		.link_speed_ext_enabled = 3,
	};
	uint8_t expected[PORT_INFO_BYTES];
	uint8_t bytes[PORT_INFO_BYTES];

	assert_int_equal(
		hex_bytes(
			"0000000000000000 fe80000000000000 0003 0001 0000000a 0000 0000 01 03 03 02"
			"74 52 85 47 59 40 00 00 00 05 f2 41 0000 0000 0000 08 92 10 00 0000 00 "
			"ffffff 0000 23 03",
			sizeof(expected), expected),
		PORT_INFO_BYTES);
	port_info_encode(&info, bytes);
	assert_memory_equal(bytes, expected, sizeof(bytes));
}

static void test_switch_info_and_sm_info_bytes(void **state)
{
	(void)state;
	struct switch_info switch_info = {.linear_fdb_cap = 0xc000,
					  .multicast_fdb_cap = 0x400,
					  .linear_fdb_top = 5,
					  .life_time_value = 0x12,
					  .port_state_change = 1,
					  .partition_enforcement_cap = 8,
					  .enhanced_port_0 = 1};
	struct sm_info sm_info = {
		.guid = 1, .sm_key = 2, .act_count = 3, .priority = 15, .sm_state = SM_MASTER};
	uint8_t expected[24];
	uint8_t bytes[24];

	assert_int_equal(hex_bytes("c000 0000 0400 0005 00 00 00 94 0000 0008 08 00 0000",
				   sizeof(expected), expected),
			 SWITCH_INFO_BYTES);
	switch_info_encode(&switch_info, bytes);
	assert_memory_equal(bytes, expected, SWITCH_INFO_BYTES);
	assert_int_equal(hex_bytes("0000000000000001 0000000000000002 00000003 f3000000",
				   sizeof(expected), expected),
			 SM_INFO_BYTES);
	sm_info_encode(&sm_info, bytes);
	assert_memory_equal(bytes, expected, SM_INFO_BYTES);
}

static void test_any_bytes_round_trip(void **state)
{
	(void)state;
	const struct attribute_layout *const layouts[] = {&node_info_layout, &switch_info_layout,
							  &port_info_layout, &sm_info_layout};

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		expect_fields_apart(layouts[i]);
		expect_round_trips(layouts[i], 3 + i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node_info_bytes),
		cmocka_unit_test(test_port_info_bytes),
		cmocka_unit_test(test_switch_info_and_sm_info_bytes),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
