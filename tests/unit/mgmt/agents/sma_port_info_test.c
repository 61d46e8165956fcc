/* SPDX-License-Identifier: Apache-2.0 */
/* PortInfo: the fields that each kind of port shows and lets be set, and the whole table of state
 * changes (management 2.5, 2.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"

static void test_get_shows_the_fields_of_each_kind_of_port(void **state)
{
	(void)state;
	struct port_info adapter = fixture_port_info(&fixture.adapter, 2);
	struct port_info port_0 = fixture_port_info(&fixture.hub, 0);
	struct port_info external = fixture_port_info(&fixture.hub, 3);

	assert_int_equal(adapter.local_port_number, 1);
	assert_int_equal(adapter.gid_prefix, 0xfe80000000000000u);
	assert_int_equal(adapter.mtu_cap, 5);
	assert_int_equal(adapter.hoq_life, 0);
	assert_int_equal(port_0.port_state, PORT_ACTIVE);
	assert_int_equal(port_0.physical_state, PHYSICAL_LINK_UP);
	assert_int_equal(port_0.link_width_supported, 0);
	assert_int_equal(port_0.vl_cap, 0);
	assert_true(port_0.capability_mask != 0);
	assert_int_equal(external.capability_mask, 0);
	assert_int_equal(external.gid_prefix, 0);
	assert_int_equal(external.guid_cap, 0);
	assert_true(external.hoq_life != 0);
	assert_true(external.link_width_supported != 0);
}

static void test_ports_that_do_not_exist_are_bad_fields(void **state)
{
	(void)state;
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_INFO, 5, NULL),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_INFO, 5, NULL),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_PORT_INFO, 3, NULL),
			 MAD_STATUS_BAD_FIELD);
	/* Bit 31 is about extended speeds, not part of the port number. */
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_INFO, 0x80000004, NULL),
			 0);
}

static void test_set_back_of_what_was_read_changes_nothing(void **state)
{
	(void)state;
	struct node *nodes[] = {&fixture.adapter, &fixture.hub, &fixture.hub};
	static const uint32_t modifiers[] = {1, 0, 2};

	for (unsigned i = 0; i < 3; i++) {
		struct port_info info = fixture_unchanged_port_info(nodes[i], modifiers[i]);
		struct port_info before = nodes[i]->ports[modifiers[i]].info;

		assert_int_equal(fixture_set_port_info(nodes[i], modifiers[i], &info), 0);
		assert_memory_equal(&nodes[i]->ports[modifiers[i]].info, &before, sizeof(before));
	}
	assert_int_equal(fixture.port_changed_count, 0);
	assert_int_equal(fixture.paths_changed_count, 0);
}

static void test_set_writes_what_is_writable_only(void **state)
{
	(void)state;
	struct port_info info = fixture_unchanged_port_info(&fixture.adapter, 1);
	struct port_info before = fixture.adapter.ports[1].info;

	info.lid = 17;
	info.master_sm_lid = 3;
	info.master_sm_sl = 2;
	info.subnet_timeout = 20;
	info.neighbor_mtu = 3;
	info.operational_vls = 2;
	info.capability_mask = 0xffffffff;
	info.mtu_cap = 1;
	info.vl_cap = 5;
	info.hoq_life = 9;
	info.guid_cap = 200;
	assert_int_equal(fixture_set_port_info(&fixture.adapter, 1, &info), 0);

	const struct port_info *after = &fixture.adapter.ports[1].info;

	assert_int_equal(after->lid, 17);
	assert_int_equal(after->master_sm_lid, 3);
	assert_int_equal(after->master_sm_sl, 2);
	assert_int_equal(after->subnet_timeout, 20);
	assert_int_equal(after->neighbor_mtu, 3);
	assert_int_equal(after->operational_vls, 2);
	assert_int_equal(after->capability_mask, before.capability_mask);
	assert_int_equal(after->mtu_cap, before.mtu_cap);
	assert_int_equal(after->vl_cap, before.vl_cap);
	assert_int_equal(after->hoq_life, before.hoq_life);
	assert_int_equal(after->guid_cap, before.guid_cap);
	assert_int_equal(fixture.port_changed_count, 1);
	assert_int_equal(fixture.paths_changed_count, 1);
}

/* A field, an illegal value, and the port. */
#define REFUSED(node, port, field, value)                                                          \
	do {                                                                                       \
		struct port_info info = fixture_unchanged_port_info(node, port);                   \
		struct port_info before = (node)->ports[port].info;                                \
		info.subnet_timeout = 1;                                                           \
		info.field = value;                                                                \
		assert_int_equal(fixture_set_port_info(node, port, &info), MAD_STATUS_BAD_FIELD);  \
		assert_memory_equal(&(node)->ports[port].info, &before, sizeof(before));           \
	} while (0)

static void test_bad_values_are_refused_and_change_nothing(void **state)
{
	(void)state;
	REFUSED(&fixture.adapter, 1, lid, 0xc000);
	REFUSED(&fixture.adapter, 1, lid, 0xffff);
	REFUSED(&fixture.adapter, 1, master_sm_lid, 0xc000);
	REFUSED(&fixture.adapter, 1, lmc, 1); /* LID 0 with an LMC */
	REFUSED(&fixture.adapter, 1, neighbor_mtu, 6);
	REFUSED(&fixture.adapter, 1, neighbor_mtu, 0);
	REFUSED(&fixture.adapter, 1, operational_vls, 5);
	REFUSED(&fixture.adapter, 1, link_width_enabled, 8);
	REFUSED(&fixture.adapter, 1, link_speed_enabled, 8);
	REFUSED(&fixture.adapter, 1, link_speed_ext_enabled, 8);
	REFUSED(&fixture.adapter, 1, link_down_default_state, 3);
	REFUSED(&fixture.hub, 0, lmc, 1);
	REFUSED(&fixture.hub, 0, lid, 0xffff);
	assert_int_equal(fixture.port_changed_count, 0);
	fixture.adapter.ports[1].info.lid = 4;
	REFUSED(&fixture.adapter, 1, lid, 0);
}

static void test_enabled_masks_have_their_own_words_for_all_and_none(void **state)
{
	(void)state;
	struct port_info info = fixture_unchanged_port_info(&fixture.hub, 1);
	struct port_info *port = &fixture.hub.ports[1].info;

	info.link_width_enabled = 1;
	info.link_speed_enabled = 1;
	info.link_speed_ext_enabled = 30;
	assert_int_equal(fixture_set_port_info(&fixture.hub, 1, &info), 0);
	assert_int_equal(port->link_width_enabled, 1);
	assert_int_equal(port->link_speed_enabled, 1);
	assert_int_equal(port->link_speed_ext_enabled, 0);
	info.link_width_enabled = 255;
	info.link_speed_enabled = 15;
	info.link_speed_ext_enabled = 31;
	assert_int_equal(fixture_set_port_info(&fixture.hub, 1, &info), 0);
	assert_int_equal(port->link_width_enabled, port->link_width_supported);
	assert_int_equal(port->link_speed_enabled, port->link_speed_supported);
	assert_int_equal(port->link_speed_ext_enabled, port->link_speed_ext_supported);
}

static void test_violation_counters_are_cleared_by_zero_only(void **state)
{
	(void)state;
	struct port_info info = fixture_unchanged_port_info(&fixture.adapter, 1);

	fixture.adapter.ports[1].info.pkey_violations = 5;
	fixture.adapter.ports[1].info.qkey_violations = 6;
	info.pkey_violations = 1;
	info.qkey_violations = 0;
	assert_int_equal(fixture_set_port_info(&fixture.adapter, 1, &info), 0);
	assert_int_equal(fixture.adapter.ports[1].info.pkey_violations, 5);
	assert_int_equal(fixture.adapter.ports[1].info.qkey_violations, 0);
}

static void test_client_reregister_is_told_and_echoed_once(void **state)
{
	(void)state;
	struct port_info info = fixture_unchanged_port_info(&fixture.adapter, 1);
	struct port_info answer;

	info.client_reregister = 1;
	assert_int_equal(fixture_set_port_info(&fixture.adapter, 1, &info), 0);
	port_info_decode(fixture_data(), &answer);
	assert_int_equal(answer.client_reregister, 1);
	assert_int_equal(fixture.reregister_count, 1);
	assert_int_equal(fixture_port_info(&fixture.adapter, 1).client_reregister, 0);
	assert_int_equal(fixture.paths_changed_count, 0);
}

/* The expected result of a Set of PortState and PortPhysicalState together (management 2.7). */
static int expected_status(unsigned from, unsigned to, unsigned physical)
{
	if (physical > 3 || to == 2 || to > 4)
		return MAD_STATUS_BAD_FIELD;
	if (to == 3)
		return physical || (from != 2 && from != 3) ? MAD_STATUS_BAD_FIELD : 0;
	if (to == 4)
		return physical || (from != 3 && from != 4) ? MAD_STATUS_BAD_FIELD : 0;
	return 0;
}

static void test_router_takes_enforcement_and_an_adapter_does_not(void **state)
{
	struct port_info info = fixture_unchanged_port_info(&fixture.router, 1);

	(void)state;
	info.partition_enforcement_inbound = info.partition_enforcement_outbound = 1;
	info.filter_raw_inbound = info.filter_raw_outbound = 1;
	assert_int_equal(fixture_set_port_info(&fixture.router, 1, &info), 0);
	info = fixture_port_info(&fixture.router, 1);
	assert_true(info.partition_enforcement_inbound && info.partition_enforcement_outbound);
	assert_true(info.filter_raw_inbound && info.filter_raw_outbound);
	info = fixture_unchanged_port_info(&fixture.adapter, 1);
	info.partition_enforcement_inbound = 1;
	assert_int_equal(fixture_set_port_info(&fixture.adapter, 1, &info), 0);
	assert_false(fixture_port_info(&fixture.adapter, 1).partition_enforcement_inbound);
}

static void test_router_has_a_head_of_queue_life_and_an_adapter_has_not(void **state)
{
	(void)state;
	struct port_info info = fixture_unchanged_port_info(&fixture.router, 1);

	info.hoq_life = 12;
	assert_int_equal(fixture_set_port_info(&fixture.router, 1, &info), 0);
	assert_int_equal(fixture_port_info(&fixture.router, 1).hoq_life, 12);
	info = fixture_unchanged_port_info(&fixture.adapter, 1);
	info.hoq_life = 12;
	assert_int_equal(fixture_set_port_info(&fixture.adapter, 1, &info), 0);
	assert_int_equal(fixture_port_info(&fixture.adapter, 1).hoq_life, 0);
}

static void test_every_pair_of_states_written_from_every_state(void **state)
{
	(void)state;
	struct port *port = &fixture.hub.ports[2];

	for (unsigned from = PORT_DOWN; from <= PORT_ACTIVE; from++) {
		for (unsigned to = 0; to < 16; to++) {
			for (unsigned physical = 0; physical < 8; physical++) {
				struct port_info info =
					fixture_unchanged_port_info(&fixture.hub, 2);
				int status = expected_status(from, to, physical);

				port->info.port_state = (uint8_t)from;
				fixture.link_set = NULL;
				info.port_state = (uint8_t)to;
				info.physical_state = (uint8_t)physical;
				assert_int_equal(fixture_set_port_info(&fixture.hub, 2, &info),
						 status);

				bool goes_down = status == 0 && (to == 1 || physical != 0);

				assert_ptr_equal(fixture.link_set, goes_down ? port : NULL);
				if (goes_down)
					assert_int_equal(fixture.link_set_to,
							 physical ? physical : PHYSICAL_POLLING);
				assert_int_equal(port->info.port_state,
						 status == 0 && to >= 3 ? to : from);
			}
		}
	}
}

static void test_other_port_of_an_adapter_is_guarded_by_its_own_key(void **state)
{
	(void)state;
	fixture.adapter.ports[2].info.mkey = 5;
	fixture.adapter.ports[2].info.mkey_protect_bits = 2;
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_PORT_INFO, 1, NULL), 0);
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_PORT_INFO, 2, NULL), -1);
	assert_int_equal(fixture.adapter.ports[2].info.mkey_violations, 1);
	fixture.mkey = 5;
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_PORT_INFO, 2, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_get_shows_the_fields_of_each_kind_of_port),
		TEST(test_ports_that_do_not_exist_are_bad_fields),
		TEST(test_set_back_of_what_was_read_changes_nothing),
		TEST(test_set_writes_what_is_writable_only),
		TEST(test_bad_values_are_refused_and_change_nothing),
		TEST(test_enabled_masks_have_their_own_words_for_all_and_none),
		TEST(test_violation_counters_are_cleared_by_zero_only),
		TEST(test_client_reregister_is_told_and_echoed_once),
		TEST(test_router_takes_enforcement_and_an_adapter_does_not),
		TEST(test_router_has_a_head_of_queue_life_and_an_adapter_has_not),
		TEST(test_every_pair_of_states_written_from_every_state),
		TEST(test_other_port_of_an_adapter_is_guarded_by_its_own_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
