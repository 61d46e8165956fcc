/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of congestion control: read back, and stored in the ports that use them (management
 * 6.5). */
#include "congestion_rig.h"

#include "net/link/congestion_state.h"

static int set_switch(const struct switch_congestion_setting *setting)
{
	uint8_t data[DATA_BYTES] = {0};

	switch_congestion_setting_encode(setting, data);
	return congestion_ask(&fixture.hub, 0, MAD_SET, ATTRIBUTE_SWITCH_CONGESTION_SETTING, 0,
			      data);
}

static void test_nothing_is_on_by_default(void **state)
{
	static const uint8_t zeros[DATA_BYTES];

	(void)state;
	assert_int_equal(congestion_ask(&fixture.adapter, 0, MAD_GET,
					ATTRIBUTE_CA_CONGESTION_SETTING, 0, NULL),
			 MAD_STATUS_OK);
	assert_memory_equal(congestion_data(), zeros, DATA_BYTES);
	assert_int_equal(congestion_ask(&fixture.hub, 0, MAD_GET,
					ATTRIBUTE_SWITCH_PORT_CONGESTION_SETTING, 0, NULL),
			 MAD_STATUS_OK);
	assert_memory_equal(congestion_data(), zeros, DATA_BYTES);
	for (unsigned number = 0; number <= 4; number++)
		assert_null(fixture.hub.ports[number].congestion);
	assert_null(fixture.adapter.ports[1].congestion);
}

static void test_switch_takes_what_the_control_map_names(void **state)
{
	struct switch_congestion_setting setting = {
		.control_map = CONTROL_THRESHOLD | CONTROL_VICTIM_MASK,
		.threshold = 9,
		.packet_size = 3,
		.marking_rate = 77,
		.victim_mask_0 = 1 << 2,
		.credit_mask_0 = ~0ull,
		.cs_threshold = 4,
	};
	struct switch_congestion_setting shown;

	(void)state;
	assert_int_equal(set_switch(&setting), MAD_STATUS_OK);
	switch_congestion_setting_decode(congestion_data(), &shown);
	assert_int_equal(shown.threshold, 9);
	assert_int_equal(shown.packet_size, 3);
	assert_int_equal(shown.marking_rate, 0);
	assert_int_equal(shown.victim_mask_0, 1 << 2);
	/* Credit starvation is not supported. */
	assert_int_equal(shown.credit_mask_0, 0);
	assert_int_equal(shown.cs_threshold, 0);
	setting.control_map = CONTROL_MARKING_RATE;
	setting.threshold = 1;
	assert_int_equal(set_switch(&setting), MAD_STATUS_OK);
	for (unsigned number = 1; number <= 4; number++) {
		const struct congestion_marking *marking =
			&fixture.hub.ports[number].congestion->marking;

		assert_int_equal(marking->threshold, 9);
		assert_int_equal(marking->packet_blocks_min, 3);
		assert_int_equal(marking->marking_rate, 77);
		assert_int_equal(marking->marks_victims, number == 2);
	}
	assert_true(fixture.paths_changed_count > 0);
}

static void test_port_that_has_its_own_setting_goes_by_it(void **state)
{
	const struct switch_congestion_setting setting = {.control_map = CONTROL_THRESHOLD,
							  .threshold = 9};
	const struct switch_port_congestion own = {
		.valid = 1, .threshold = 5, .packet_size = 2, .marking_rate = 300};
	uint8_t data[DATA_BYTES] = {0};

	(void)state;
	assert_int_equal(set_switch(&setting), MAD_STATUS_OK);
	switch_port_congestion_encode(&own, data + 3 * SWITCH_PORT_CONGESTION_BYTES);
	assert_int_equal(congestion_ask(&fixture.hub, 0, MAD_SET,
					ATTRIBUTE_SWITCH_PORT_CONGESTION_SETTING, 0, data),
			 MAD_STATUS_OK);
	assert_memory_equal(congestion_data(), data, DATA_BYTES);
	assert_int_equal(fixture.hub.ports[3].congestion->marking.threshold, 5);
	assert_int_equal(fixture.hub.ports[3].congestion->marking.marking_rate, 300);
	assert_int_equal(fixture.hub.ports[2].congestion->marking.threshold, 9);
	/* Four ports need one block, so there is no second. Credit starvation is not supported. */
	assert_int_equal(congestion_ask(&fixture.hub, 0, MAD_SET,
					ATTRIBUTE_SWITCH_PORT_CONGESTION_SETTING, 1, data),
			 MAD_STATUS_BAD_FIELD);
	data[3 * SWITCH_PORT_CONGESTION_BYTES] = 0xc0;
	assert_int_equal(congestion_ask(&fixture.hub, 0, MAD_SET,
					ATTRIBUTE_SWITCH_PORT_CONGESTION_SETTING, 0, data),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(fixture.hub.ports[3].congestion->marking.threshold, 5);
}

static void test_adapter_takes_the_service_levels_that_are_named(void **state)
{
	const struct ca_congestion_setting setting = {.port_control = CA_CONGESTION_PER_SL,
						      .control_map = 1 << 2 | 1 << 15};
	uint8_t data[DATA_BYTES] = {0};
	const struct congestion_reaction *reaction;

	(void)state;
	ca_congestion_setting_encode(&setting, data);
	for (unsigned sl = 0; sl < 16; sl++) {
		const struct ca_congestion_entry entry = {.ccti_timer = 150,
							  .ccti_increase = (uint8_t)(sl + 1),
							  .trigger_threshold = 2,
							  .ccti_min = 1};

		ca_congestion_entry_encode(&entry, data + 4 + 8 * sl);
	}
	assert_int_equal(congestion_ask(&fixture.adapter, 0, MAD_SET,
					ATTRIBUTE_CA_CONGESTION_SETTING, 0, data),
			 MAD_STATUS_OK);
	reaction = &fixture.adapter.ports[1].congestion->reaction;
	assert_true(reaction->is_per_sl);
	for (unsigned sl = 0; sl < 16; sl++) {
		bool is_named = sl == 2 || sl == 15;

		assert_int_equal(reaction->by_sl[sl].increase, is_named ? sl + 1 : 0);
		assert_int_equal(reaction->by_sl[sl].timer, is_named ? 150 : 0);
		assert_int_equal(reaction->by_sl[sl].trigger, is_named ? 2 : 0);
		assert_int_equal(reaction->by_sl[sl].index_min, is_named ? 1 : 0);
	}
	assert_null(fixture.adapter.ports[2].congestion);
}

static void test_table_comes_in_blocks_with_a_limit(void **state)
{
	uint8_t data[DATA_BYTES] = {0};

	(void)state;
	put_be16(data, 100);
	for (unsigned i = 0; i < CCT_BLOCK_ENTRIES; i++)
		put_be16(data + CCT_ENTRIES_OFFSET + 2 * i, (uint16_t)(0x4000 + i));
	assert_int_equal(congestion_ask(&fixture.adapter, 0, MAD_SET,
					ATTRIBUTE_CONGESTION_CONTROL_TABLE, 1, data),
			 MAD_STATUS_OK);
	assert_memory_equal(congestion_data(), data, DATA_BYTES);
	assert_int_equal(fixture.adapter.ports[1].congestion->reaction.ccti_limit, 100);
	assert_int_equal(fixture.adapter.ports[1].congestion->reaction.table[64 + 5], 0x4005);
	assert_int_equal(fixture.adapter.ports[1].congestion->reaction.table[5], 0);
	assert_int_equal(congestion_ask(&fixture.adapter, 0, MAD_SET,
					ATTRIBUTE_CONGESTION_CONTROL_TABLE, 2, data),
			 MAD_STATUS_BAD_FIELD);
	put_be16(data, 128);
	assert_int_equal(congestion_ask(&fixture.adapter, 0, MAD_SET,
					ATTRIBUTE_CONGESTION_CONTROL_TABLE, 0, data),
			 MAD_STATUS_BAD_FIELD);
}

/* An adapter refuses the settings of switches, and a switch those of adapters. A router has
 * neither. */
static void test_each_kind_of_node_has_its_own_settings(void **state)
{
	static const struct {
		uint16_t attribute;
		bool is_switch;
	} rows[] = {
		{ATTRIBUTE_SWITCH_CONGESTION_SETTING, true},
		{ATTRIBUTE_SWITCH_PORT_CONGESTION_SETTING, true},
		{ATTRIBUTE_CA_CONGESTION_SETTING, false},
		{ATTRIBUTE_CONGESTION_CONTROL_TABLE, false},
	};
	static const uint8_t methods[] = {MAD_GET, MAD_SET};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned method = 0; method < 2; method++) {
			assert_int_equal(congestion_ask(&fixture.hub, 0, methods[method],
							rows[i].attribute, 0, NULL),
					 rows[i].is_switch ? MAD_STATUS_OK
							   : MAD_STATUS_BAD_METHOD_ATTRIBUTE);
			assert_int_equal(congestion_ask(&fixture.adapter, 0, methods[method],
							rows[i].attribute, 0, NULL),
					 rows[i].is_switch ? MAD_STATUS_BAD_METHOD_ATTRIBUTE
							   : MAD_STATUS_OK);
			assert_int_equal(congestion_ask(&fixture.router, 0, methods[method],
							rows[i].attribute, 0, NULL),
					 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
		}
	}
}

static void test_command_turns_it_on_and_off(void **state)
{
	(void)state;
	assert_int_equal(
		agent_control_congestion(&fixture.environment, &fixture.hub, CONGESTION_CONTROL_ON),
		0);
	assert_int_equal(agent_control_congestion(&fixture.environment, &fixture.adapter,
						  CONGESTION_CONTROL_ON),
			 0);
	assert_true(port_controls_congestion(&fixture.hub.ports[4]));
	assert_true(port_controls_congestion(&fixture.adapter.ports[2]));
	assert_int_equal(agent_control_congestion(&fixture.environment, &fixture.hub,
						  CONGESTION_CONTROL_OFF),
			 0);
	assert_int_equal(agent_control_congestion(&fixture.environment, &fixture.adapter,
						  CONGESTION_CONTROL_OFF),
			 0);
	assert_false(port_controls_congestion(&fixture.hub.ports[4]));
	assert_false(port_controls_congestion(&fixture.adapter.ports[2]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_nothing_is_on_by_default),
		TEST(test_switch_takes_what_the_control_map_names),
		TEST(test_port_that_has_its_own_setting_goes_by_it),
		TEST(test_adapter_takes_the_service_levels_that_are_named),
		TEST(test_table_comes_in_blocks_with_a_limit),
		TEST(test_each_kind_of_node_has_its_own_settings),
		TEST(test_command_turns_it_on_and_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
