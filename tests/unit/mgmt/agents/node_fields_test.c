/* SPDX-License-Identifier: Apache-2.0 */
/* Fields and counters by name: lookup, limits, setting, and the traps that a change raises. Covers:
 * mgmt/agents/node_field_limits.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "mgmt/agents/node_fields.h"
#include "net/link/congestion_state.h"
#include "wire/notice.h"

static uint64_t maximum;

static enum node_set_result set(struct port *port, const char *name, const char *value)
{
	return node_field_set(&fixture.environment, port, fixture.now, name, value, &maximum);
}

static uint64_t value_of(const char *attribute_name, const char *field_name,
			 const struct port *port)
{
	const struct node_attribute *attribute = node_attribute_find(attribute_name);

	assert_non_null(attribute);
	for (size_t i = 0; i < attribute->layout->field_count; i++) {
		const struct attribute_field *field = &attribute->layout->fields[i];

		if (strcmp(field->name, field_name) == 0)
			return node_field_value(attribute, field, port);
	}
	fail_msg("no field %s", field_name);
	return 0;
}

static struct port *make_able(struct port *port)
{
	port->info.lid = 4;
	port->info.master_sm_lid = 3;
	port->info.port_state = PORT_ACTIVE;
	return port;
}

static uint16_t next_trap(void)
{
	struct agent_trap trap;
	struct notice notice;

	if (agent_take_traps(&fixture.memory, fixture.now, 1, &trap) == 0)
		return 0;
	notice_decode(smp_data(trap.message.bytes), &notice);
	return notice.header.trap_number;
}

static void test_field_is_set_with_or_without_its_attribute(void **state)
{
	(void)state;
	struct port *port = &fixture.adapter.ports[2];

	assert_int_equal(set(port, "lid", "0x17"), NODE_SET_OK);
	assert_int_equal(port->info.lid, 0x17);
	assert_int_equal(set(port, "port_info.lid", "24"), NODE_SET_OK);
	assert_int_equal(value_of("port_info", "lid", port), 24);
	assert_int_equal(set(port, "node_info.revision", "9"), NODE_SET_OK);
	assert_int_equal(fixture.adapter.info.revision, 9);
	assert_int_equal(fixture.port_changed_count, 3);
	assert_int_equal(fixture.paths_changed_count, 3);
}

static void test_counter_is_set_and_shown(void **state)
{
	(void)state;
	struct port *port = &fixture.hub.ports[3];

	assert_int_equal(set(port, "symbol_error", "5"), NODE_SET_OK);
	assert_int_equal(port->counters.symbol_errors, 5);
	assert_int_equal(set(port, "counters.rcv_data", "0x123456789abcdef"), NODE_SET_OK);
	assert_int_equal(value_of("counters", "rcv_data", port), 0x123456789abcdef);
	/* PortSelect selects a port; it is not a counter. */
	assert_int_equal(set(port, "counters.port_select", "1"), NODE_SET_NO_SUCH_FIELD);
}

static void test_unknown_names_and_numbers_are_refused(void **state)
{
	(void)state;
	static const char *const names[] = {"",
					    "nonsense",
					    "port_info.",
					    "port_info.nonsense",
					    "nonsense.lid",
					    "pkeys",
					    "pkeys[",
					    "pkeys[]",
					    "pkeys[32]",
					    "pkeys[-1]",
					    "pkeys[0",
					    "pkeys[0]x",
					    "nonsense[0]",
					    "switch_info.life_time_value"};
	static const char *const values[] = {"", "x", "5x", "-1", "0x", "99999999999999999999"};
	struct port *port = &fixture.adapter.ports[1];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(set(port, names[i], "0"), NODE_SET_NO_SUCH_FIELD);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		assert_int_equal(set(port, "lid", values[i]), NODE_SET_NOT_A_NUMBER);
	assert_int_equal(fixture.port_changed_count, 0);
}

static void test_values_stay_within_what_softib_can_stand(void **state)
{
	(void)state;
	static const struct {
		const char *name, *good, *bad;
		uint64_t maximum;
	} cases[] = {
		{"lid", "0xbfff", "0xc000", 0xbfff},
		{"lmc", "7", "8", 7},
		{"neighbor_mtu", "5", "6", 5},
		{"mtu_cap", "1", "0", 5},
		{"operational_vls", "5", "6", 5},
		{"vl_arbitration_low_cap", "64", "65", 64},
		{"guid_cap", "8", "9", 8},
		{"subnet_timeout", "31", "32", 31},
		{"linear_fdb_cap", "0xc000", "0xc001", 0xc000},
		{"linear_fdb_top", "0xbfff", "0xc000", 0xbfff},
		{"multicast_fdb_cap", "1024", "1025", 1024},
		{"node_info.port_count", "255", "256", 255},
	};
	struct port *port = &fixture.hub.ports[0];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(set(port, cases[i].name, cases[i].bad), NODE_SET_OUT_OF_RANGE);
		assert_int_equal(maximum, cases[i].maximum);
		assert_int_equal(set(port, cases[i].name, cases[i].good), NODE_SET_OK);
	}
	assert_int_equal(set(port, "node_type", "1"), NODE_SET_FIXED);
	assert_int_equal(set(port, "link_width_active", "1"), NODE_SET_FIXED);
}

static void test_states_are_reached_through_the_link(void **state)
{
	(void)state;
	struct port *port = &fixture.adapter.ports[1];

	assert_int_equal(set(port, "port_state", "4"), NODE_SET_LINK_IS_DOWN);
	assert_int_equal(set(port, "physical_state", "3"), NODE_SET_OK);
	assert_ptr_equal(fixture.link_set, port);
	assert_int_equal(fixture.link_set_to, PHYSICAL_DISABLED);
	assert_int_equal(set(port, "port_state", "1"), NODE_SET_OK);
	assert_int_equal(fixture.link_set_to, PHYSICAL_POLLING);
	port->info.physical_state = PHYSICAL_LINK_UP;
	assert_int_equal(set(port, "port_state", "3"), NODE_SET_OK);
	assert_int_equal(port->info.port_state, PORT_ARMED);
	assert_int_equal(set(port, "port_state", "5"), NODE_SET_OUT_OF_RANGE);
	assert_int_equal(set(&fixture.hub.ports[0], "port_state", "1"), NODE_SET_FIXED);
}

static void test_manager_hears_what_a_node_changes_by_itself(void **state)
{
	(void)state;
	struct port *port = make_able(&fixture.adapter.ports[1]);

	assert_int_equal(set(port, "capability_mask", "0x02010848"), NODE_SET_OK);
	assert_int_equal(next_trap(), 144);
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_int_equal(set(port, "link_width_enabled", "1"), NODE_SET_OK);
	assert_int_equal(next_trap(), 144);
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_int_equal(set(port, "system_image_guid", "0x77"), NODE_SET_OK);
	assert_int_equal(next_trap(), 145);
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_int_equal(set(port, "description", "another name"), NODE_SET_OK);
	assert_string_equal(fixture.adapter.description, "another name");
	assert_int_equal(next_trap(), 144);
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_int_equal(set(port, "lid", "5"), NODE_SET_OK);
	assert_int_equal(next_trap(), 0);
}

static void test_rate_of_the_gsi_by_name(void **state)
{
	(void)state;
	struct port *port = &fixture.adapter.ports[1];

	assert_int_equal(set(port, "gsi_rate", "100"), NODE_SET_OK);
	assert_false(list_is_empty(&fixture.memory.gsi_rates));
	assert_int_equal(set(port, "gsi_rate", "0"), NODE_SET_OK);
	assert_true(list_is_empty(&fixture.memory.gsi_rates));
	assert_int_equal(set(port, "gsi_rate", "many"), NODE_SET_NOT_A_NUMBER);
	assert_int_equal(set(port, "gsi_rate", "1000001"), NODE_SET_OUT_OF_RANGE);
}

static void test_description_has_at_most_64_bytes(void **state)
{
	(void)state;
	char text[66];

	memset(text, 'x', 65);
	text[65] = '\0';
	assert_int_equal(set(&fixture.hub.ports[0], "description", text), NODE_SET_OUT_OF_RANGE);
	text[64] = '\0';
	assert_int_equal(set(&fixture.hub.ports[0], "description", text), NODE_SET_OK);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_NODE_DESCRIPTION, 0, NULL),
			 0);
	assert_memory_equal(fixture_data(), text, 64);
}

static void test_ports_are_those_that_the_node_has(void **state)
{
	(void)state;
	assert_ptr_equal(node_field_port(&fixture.hub, -1), &fixture.hub.ports[0]);
	assert_ptr_equal(node_field_port(&fixture.hub, 4), &fixture.hub.ports[4]);
	assert_null(node_field_port(&fixture.hub, 5));
	assert_ptr_equal(node_field_port(&fixture.adapter, -1), &fixture.adapter.ports[1]);
	assert_null(node_field_port(&fixture.adapter, 0));
	assert_false(node_attribute_exists(node_attribute_find("switch_info"),
					   &fixture.adapter.ports[1]));
	assert_null(node_attribute_find("nonsense"));
}

static void test_congestion_control_is_turned_on_and_off_by_name(void **state)
{
	struct port *port = &fixture.adapter.ports[1];

	(void)state;
	assert_int_equal(node_field_set(&fixture.environment, port, 0, "congestion", "1", &maximum),
			 NODE_SET_OK);
	assert_true(port_controls_congestion(port));
	assert_true(port_controls_congestion(&fixture.adapter.ports[2]));
	assert_int_equal(node_field_set(&fixture.environment, port, 0, "congestion", "0", &maximum),
			 NODE_SET_OK);
	assert_false(port_controls_congestion(port));
	assert_int_equal(node_field_set(&fixture.environment, port, 0, "congestion", "2", &maximum),
			 NODE_SET_OUT_OF_RANGE);
	assert_int_equal(maximum, 1);
	assert_int_equal(
		node_field_set(&fixture.environment, port, 0, "congestion", "yes", &maximum),
		NODE_SET_NOT_A_NUMBER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_field_is_set_with_or_without_its_attribute),
		TEST(test_counter_is_set_and_shown),
		TEST(test_unknown_names_and_numbers_are_refused),
		TEST(test_values_stay_within_what_softib_can_stand),
		TEST(test_states_are_reached_through_the_link),
		TEST(test_manager_hears_what_a_node_changes_by_itself),
		TEST(test_rate_of_the_gsi_by_name),
		TEST(test_congestion_control_is_turned_on_and_off_by_name),
		TEST(test_description_has_at_most_64_bytes),
		TEST(test_ports_are_those_that_the_node_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
