/* SPDX-License-Identifier: Apache-2.0 */
/* GUIDInfo, P_Key, SLtoVL and arbitration tables through the agent (management 2.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"

static int get(struct node *node, uint16_t attribute_id, uint32_t modifier)
{
	return fixture_ask(node, MAD_GET, attribute_id, modifier, NULL);
}

static int set(struct node *node, uint16_t attribute_id, uint32_t modifier, const uint8_t *data)
{
	return fixture_ask(node, MAD_SET, attribute_id, modifier, data);
}

static void test_first_guid_is_the_ports_own_and_stays(void **state)
{
	(void)state;
	uint8_t data[SMP_DATA_BYTES] = {0};

	put_be64(data, 0xbad);
	put_be64(data + 8, 0x777);
	assert_int_equal(set(&fixture.adapter, ATTRIBUTE_GUID_INFO, 0, data), 0);
	assert_int_equal(get_be64(fixture_data()), 0x101);
	assert_int_equal(get_be64(fixture_data() + 8), 0x777);
	assert_int_equal(fixture.adapter.ports[1].guids[1], 0x777);
	assert_int_equal(fixture.port_changed_count, 1);
	assert_int_equal(get(&fixture.adapter, ATTRIBUTE_GUID_INFO, 1), MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(&fixture.adapter, ATTRIBUTE_GUID_INFO, 0x20000000),
			 MAD_STATUS_BAD_FIELD);
}

static void test_pkey_block_is_replaced_and_told(void **state)
{
	(void)state;
	uint8_t data[SMP_DATA_BYTES] = {0xff, 0xff, 0x80, 0x01};

	assert_int_equal(set(&fixture.adapter, ATTRIBUTE_PKEY_TABLE, 0, data), 0);
	assert_int_equal(fixture.adapter.ports[1].pkeys[1], 0x8001);
	assert_int_equal(fixture.adapter.ports[2].pkeys[1], 0);
	assert_int_equal(fixture.port_changed_count, 1);
	assert_int_equal(fixture.paths_changed_count, 1);
	assert_int_equal(set(&fixture.adapter, ATTRIBUTE_PKEY_TABLE, 0, data), 0);
	assert_int_equal(fixture.port_changed_count, 1);
	assert_int_equal(get(&fixture.adapter, ATTRIBUTE_PKEY_TABLE, 1), MAD_STATUS_BAD_FIELD);
}

static void test_pkey_table_of_a_switch_is_chosen_by_port(void **state)
{
	(void)state;
	uint8_t data[SMP_DATA_BYTES] = {0x80, 0x05};

	assert_int_equal(set(&fixture.hub, ATTRIBUTE_PKEY_TABLE, 3 << 16, data), 0);
	assert_int_equal(fixture.hub.ports[3].pkeys[0], 0x8005);
	assert_int_equal(fixture.hub.ports[0].pkeys[0], 0xffff);
	assert_int_equal(get(&fixture.hub, ATTRIBUTE_PKEY_TABLE, 5 << 16), MAD_STATUS_BAD_FIELD);
}

static void test_sl_to_vl_row_is_input_by_output(void **state)
{
	(void)state;
	uint8_t data[SMP_DATA_BYTES] = {0x10, 0x32, 0x54, 0x76, 0x01, 0x23, 0x45, 0x67};

	assert_int_equal(set(&fixture.hub, ATTRIBUTE_SL_TO_VL, 2 << 8 | 3, data), 0);
	assert_memory_equal(fixture_data(), data, sizeof(data));
	assert_int_equal(fixture.hub.ports[3].sl_to_vl[2][0], 1);
	assert_int_equal(fixture.hub.ports[3].sl_to_vl[2][15], 7);
	assert_int_equal(fixture.hub.ports[3].sl_to_vl[1][0], 0);
	assert_int_equal(fixture.paths_changed_count, 1);
	assert_int_equal(get(&fixture.hub, ATTRIBUTE_SL_TO_VL, 5 << 8 | 1), MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(&fixture.hub, ATTRIBUTE_SL_TO_VL, 1 << 8 | 5), MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(&fixture.hub, ATTRIBUTE_SL_TO_VL, 1 << 8), MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(&fixture.hub, ATTRIBUTE_SL_TO_VL, 1 << 16 | 1 << 8 | 1),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(set(&fixture.adapter, ATTRIBUTE_SL_TO_VL, 0, data), 0);
	assert_int_equal(fixture.adapter.ports[1].sl_to_vl[0][0], 1);
}

/* Bit 16 means all outputs, bit 17 all inputs (management 2.4). */
static void test_one_set_writes_the_maps_of_many_ports(void **state)
{
	uint8_t data[SMP_DATA_BYTES] = {0x10, 0x32, 0x54, 0x76, 0x01, 0x23, 0x45, 0x67};
	struct node *hub = &fixture.hub;

	(void)state;
	assert_int_equal(set(hub, ATTRIBUTE_SL_TO_VL, SL_TO_VL_ALL_INPUTS | 3, data), 0);
	assert_memory_equal(fixture_data(), data, sizeof(data));
	assert_int_equal(fixture.paths_changed_count, 1);
	for (unsigned input = 0; input <= hub->port_count; input++) {
		assert_int_equal(hub->ports[3].sl_to_vl[input][15], 7);
		assert_int_equal(hub->ports[2].sl_to_vl[input][15], 0);
	}
	assert_int_equal(set(hub, ATTRIBUTE_SL_TO_VL, SL_TO_VL_ALL_OUTPUTS | 2 << 8, data), 0);
	for (unsigned output = 1; output <= hub->port_count; output++)
		assert_int_equal(hub->ports[output].sl_to_vl[2][15], 7);
	assert_int_equal(hub->ports[1].sl_to_vl[1][15], 0);
	assert_int_equal(
		set(hub, ATTRIBUTE_SL_TO_VL, SL_TO_VL_ALL_OUTPUTS | SL_TO_VL_ALL_INPUTS, data), 0);
	for (unsigned output = 1; output <= hub->port_count; output++)
		for (unsigned input = 0; input <= hub->port_count; input++)
			assert_int_equal(hub->ports[output].sl_to_vl[input][15], 7);
	assert_int_equal(fixture.paths_changed_count, 3);
	assert_int_equal(set(hub, ATTRIBUTE_SL_TO_VL, SL_TO_VL_ALL_INPUTS | 5, data),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(set(hub, ATTRIBUTE_SL_TO_VL, SL_TO_VL_ALL_INPUTS, data),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(set(hub, ATTRIBUTE_SL_TO_VL, SL_TO_VL_ALL_OUTPUTS | 5 << 8, data),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(set(hub, ATTRIBUTE_SL_TO_VL, 1 << 18 | 1 << 8 | 1, data),
			 MAD_STATUS_BAD_FIELD);
	hub->switch_info.optimized_sl_to_vl = 0;
	assert_int_equal(set(hub, ATTRIBUTE_SL_TO_VL, SL_TO_VL_ALL_INPUTS | 3, data),
			 MAD_STATUS_BAD_FIELD);
}

static void test_arbitration_has_four_parts_bounded_by_the_caps(void **state)
{
	(void)state;
	uint8_t data[SMP_DATA_BYTES] = {3, 99, 2, 98};
	struct port *port = &fixture.hub.ports[2];

	port->info.vl_arbitration_high_cap = 34;
	port->info.vl_arbitration_low_cap = 1;
	assert_int_equal(set(&fixture.hub, ATTRIBUTE_VL_ARBITRATION, 1 << 16 | 2, data), 0);
	assert_int_equal(port->vl_arbitration[0][0][0], 3);
	assert_int_equal(port->vl_arbitration[0][0][1], 99);
	assert_int_not_equal(port->vl_arbitration[0][1][1], 98);
	assert_int_equal(set(&fixture.hub, ATTRIBUTE_VL_ARBITRATION, 4 << 16 | 2, data), 0);
	assert_int_equal(port->vl_arbitration[1][32][0], 3);
	assert_int_equal(port->vl_arbitration[1][33][1], 98);
	assert_int_equal(get(&fixture.hub, ATTRIBUTE_VL_ARBITRATION, 2 << 16 | 2),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(&fixture.hub, ATTRIBUTE_VL_ARBITRATION, 2), MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(&fixture.hub, ATTRIBUTE_VL_ARBITRATION, 5 << 16 | 2),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(&fixture.hub, ATTRIBUTE_VL_ARBITRATION, 1 << 16 | 5),
			 MAD_STATUS_BAD_FIELD);
	/* Port 0 has no VLs. */
	assert_int_equal(get(&fixture.hub, ATTRIBUTE_VL_ARBITRATION, 1 << 16),
			 MAD_STATUS_BAD_FIELD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_first_guid_is_the_ports_own_and_stays),
		TEST(test_pkey_block_is_replaced_and_told),
		TEST(test_pkey_table_of_a_switch_is_chosen_by_port),
		TEST(test_sl_to_vl_row_is_input_by_output),
		TEST(test_one_set_writes_the_maps_of_many_ports),
		TEST(test_arbitration_has_four_parts_bounded_by_the_caps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
