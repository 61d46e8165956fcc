/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet management agent: the order of its checks, and the attributes without a table
 * (management 2.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"

static enum agent_verdict receive(struct node *node, const struct mad_message *request)
{
	return sma_receive(&fixture.environment, node, fixture.arrival, 0, request,
			   &fixture.answer);
}

static void test_get_node_info_answers_these_bytes(void **state)
{
	(void)state;
	static const uint8_t expected[40] = {
		1, 1,	 1,    2,		 /* versions, CA, 2 ports */
		0, 0,	 0,    0,    0, 0, 1, 0, /* SystemImageGUID */
		0, 0,	 0,    0,    0, 0, 1, 0, /* NodeGUID */
		0, 0,	 0,    0,    0, 0, 1, 2, /* PortGUID of the port of arrival */
		0, 32,	 0,    1,    0, 0, 0, 1,
		2, 0x02, 0x5f, 0x1b, /* P_Keys, device, revision, port, vendor */
	};
	/* Directed, one hop, arrived: hop pointer 2. */
	struct mad_message request = {
		.address = {.lid = 0xffff},
		.bytes = {1, 0x81, 1, 0x01, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0x11},
	};

	smp_set_dr_slid(0xffff, request.bytes);
	smp_set_dr_dlid(0xffff, request.bytes);
	smp_initial_path(request.bytes)[1] = 1;
	smp_return_path(request.bytes)[1] = 2;
	fixture.arrival = 2;
	assert_int_equal(receive(&fixture.adapter, &request), AGENT_ANSWERED);
	assert_memory_equal(fixture_data(), expected, sizeof(expected));

	static const uint8_t header[18] = {1, 0x81, 1, 0x81, 0x80, 0, 2, 1, 0,
					   0, 0,    0, 0,    0,	   0, 7, 0, 0x11};

	assert_memory_equal(fixture.answer.bytes, header, sizeof(header));
	assert_int_equal(smp_return_path(fixture.answer.bytes)[1], 2);
}

static void test_node_description_is_padded_with_zeros_and_read_only(void **state)
{
	(void)state;
	uint8_t expected[64] = "hub";

	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_NODE_DESCRIPTION, 0, NULL),
			 0);
	assert_memory_equal(fixture_data(), expected, 64);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_NODE_DESCRIPTION, 1, NULL),
			 MAD_STATUS_BAD_FIELD);
	assert_int_equal(
		fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_NODE_DESCRIPTION, 0, expected),
		MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	fixture.hub.ports[0].info.capability_mask2 |= 1;
	expected[0] = 'H';
	assert_int_equal(
		fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_NODE_DESCRIPTION, 0, expected), 0);
	assert_string_equal(fixture.hub.description, "Hub");
}

static void test_unknown_attributes_and_those_of_switches_are_refused(void **state)
{
	(void)state;
	static const uint16_t refused[] = {ATTRIBUTE_SWITCH_INFO,
					   ATTRIBUTE_LINEAR_FORWARDING,
					   ATTRIBUTE_MULTICAST_FORWARDING,
					   0x0001,
					   0x001a,
					   0x0013,
					   0xff90};

	for (unsigned i = 0; i < ARRAY_COUNT(refused); i++) {
		assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, refused[i], 0, NULL),
				 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
		assert_int_equal(fixture_ask(&fixture.adapter, MAD_SET, refused[i], 0, NULL),
				 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	}
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_SET, ATTRIBUTE_NODE_INFO, 0, NULL),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

/* Which attributes each kind of node serves: every attribute id, by Get and Set (management 2.4).
 */
static void test_served_attributes_are_those_of_the_table(void **state)
{
	(void)state;
	static const struct {
		uint16_t id;
		bool end_nodes_get, end_nodes_set, switch_get, switch_set;
	} table[] = {
		{0x0002, true, true, true, true},   /* Notice */
		{0x0010, true, false, true, false}, /* NodeDescription */
		{0x0011, true, false, true, false}, /* NodeInfo */
		{0x0012, false, false, true, true}, /* SwitchInfo */
		{0x0014, true, true, true, true},   /* GUIDInfo */
		{0x0015, true, true, true, true},   /* PortInfo */
		{0x0016, true, true, true, true},   /* P_KeyTable */
		{0x0017, true, true, true, true},   /* SLtoVLMappingTable */
		{0x0018, true, true, true, true},   /* VLArbitrationTable */
		{0x0019, false, false, true, true}, /* LinearForwardingTable */
		{0x001b, false, false, true, true}, /* MulticastForwardingTable */
		{0x0030, true, false, true, false}, /* VendorDiag */
		{0x0031, true, true, true, true},   /* LedInfo */
		{0x0033, true, true, true, true},   /* PortInfoExtended */
	};
	struct node *const nodes[] = {&fixture.adapter, &fixture.router, &fixture.hub};

	for (unsigned id = 0; id <= 0xffff; id++) {
		unsigned row = 0;

		while (row < ARRAY_COUNT(table) && table[row].id != id)
			row++;
		for (unsigned i = 0; i < ARRAY_COUNT(nodes); i++) {
			bool is_there = row < ARRAY_COUNT(table);
			bool get =
				is_there && (node_is_switch(nodes[i]) ? table[row].switch_get
								      : table[row].end_nodes_get);
			bool set =
				is_there && (node_is_switch(nodes[i]) ? table[row].switch_set
								      : table[row].end_nodes_set);
			int answer_get = fixture_ask(nodes[i], MAD_GET, (uint16_t)id, 0, NULL);
			int answer_set = fixture_ask(nodes[i], MAD_SET, (uint16_t)id, 0, NULL);

			if ((answer_get != MAD_STATUS_BAD_METHOD_ATTRIBUTE) != get ||
			    (answer_set != MAD_STATUS_BAD_METHOD_ATTRIBUTE) != set)
				fail_msg("node %u, attribute 0x%x: Get %d, Set %d", i, id,
					 answer_get, answer_set);
		}
	}
}

static void test_led_is_switched_by_port(void **state)
{
	(void)state;
	uint8_t on[SMP_DATA_BYTES] = {0x80};

	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_LED_INFO, 3, on), 0);
	assert_int_equal(fixture_data()[0], 0x80);
	assert_true(fixture.hub.ports[3].led_is_on);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_LED_INFO, 2, NULL), 0);
	assert_int_equal(fixture_data()[0], 0);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_LED_INFO, 5, NULL),
			 MAD_STATUS_BAD_FIELD);
}

/* The port has the FEC modes of FDR and EDR. A Set changes the enabled modes, or nothing at all. */
static void test_port_info_extended_enables_supported_modes(void **state)
{
	(void)state;
	static const uint8_t all[] = {0, 0, 0, 1, 0, 0, 0, 3, 0, 3, 0, 7, 0, 7, 0, 0, 0, 0};
	uint8_t written[SMP_DATA_BYTES] = {[8] = 0, [9] = 1, [12] = 0xff, [13] = 0xff};

	assert_true(fixture_port_info(&fixture.adapter, 2).capability_mask2 &
		    CAPABILITY2_PORT_INFO_EXTENDED);
	assert_int_equal(
		fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_PORT_INFO_EXTENDED, 2, NULL), 0);
	assert_memory_equal(fixture_data(), all, sizeof(all));
	assert_int_equal(
		fixture_ask(&fixture.adapter, MAD_SET, ATTRIBUTE_PORT_INFO_EXTENDED, 2, written),
		0);
	assert_int_equal(fixture_data()[9], 1);
	assert_int_equal(fixture_data()[13], 7);

	/* Reed-Solomon at FDR is not supported, so the modes of EDR stay unchanged too. */
	written[9] = 4;
	written[12] = 0;
	written[13] = 1;
	assert_int_equal(
		fixture_ask(&fixture.adapter, MAD_SET, ATTRIBUTE_PORT_INFO_EXTENDED, 2, written),
		MAD_STATUS_BAD_FIELD);
	assert_int_equal(fixture.adapter.ports[2].extended.fdr_fec_enabled, 1);
	assert_int_equal(fixture.adapter.ports[2].extended.edr_fec_enabled, 7);
	assert_int_equal(fixture.adapter.ports[1].extended.fdr_fec_enabled, 3);
	assert_int_equal(
		fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_PORT_INFO_EXTENDED, 3, NULL),
		MAD_STATUS_BAD_FIELD);
}

static void test_port_info_extended_is_refused_where_no_capability_says_so(void **state)
{
	(void)state;
	fixture.hub.ports[0].info.capability_mask2 = 0;
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_INFO_EXTENDED, 1, NULL),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_INFO_EXTENDED, 1, NULL),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

/* An adapter has an M_Key per port, and this attribute belongs to a port as PortInfo does. */
static void test_port_info_extended_of_another_port_needs_its_key(void **state)
{
	(void)state;
	fixture.adapter.ports[2].info.mkey = 0x77;
	fixture.adapter.ports[2].info.mkey_protect_bits = 2;
	fixture.arrival = 1;
	assert_int_equal(
		fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_PORT_INFO_EXTENDED, 2, NULL), -1);
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
}

static void test_capabilities_are_what_the_agent_does(void **state)
{
	(void)state;
	uint32_t all = CAPABILITY_NOTICE | CAPABILITY_TRAP | CAPABILITY_SL_MAPPING |
		       CAPABILITY_LED_INFO | CAPABILITY_SYSTEM_IMAGE_GUID |
		       CAPABILITY_EXTENDED_SPEEDS | CAPABILITY_VENDOR_CLASS | CAPABILITY_DR_NOTICE |
		       CAPABILITY_MASK_NOTICE | CAPABILITY_CLIENT_REREGISTRATION |
		       CAPABILITY_OTHER_CHANGES_NOTICE |
		       CAPABILITY_MULTICAST_PKEY_TRAP_SUPPRESSION | CAPABILITY_MASK2;
	uint32_t shown = fixture_port_info(&fixture.hub, 0).capability_mask;

	assert_int_equal(shown & all, all);
	assert_true(shown & CAPABILITY_SWITCH_PKEY_TRAP);
	assert_true(shown & CAPABILITY_MULTICAST_FDB_TOP);
	shown = fixture_port_info(&fixture.adapter, 1).capability_mask;
	assert_int_equal(shown & all, all);
	assert_false(shown & CAPABILITY_SWITCH_PKEY_TRAP);
	assert_false(shown & CAPABILITY_DEVICE_MANAGEMENT);
	assert_true(shown & CAPABILITY_COMMUNICATION);
	assert_false(shown & CAPABILITY_IS_SM);
}

static void test_router_connects_nobody(void **state)
{
	(void)state;
	uint32_t shown = fixture_port_info(&fixture.router, 1).capability_mask;

	assert_true(shown & CAPABILITY_TRAP);
	assert_false(shown & CAPABILITY_COMMUNICATION);
	assert_false(shown & CAPABILITY_AUTOMATIC_MIGRATION);
}

static void test_version_is_checked_before_method_and_method_before_key(void **state)
{
	(void)state;
	struct mad_message request = {.bytes = {1, 0x01, 2, MAD_SEND}};

	fixture.adapter.ports[1].info.mkey = 99;
	fixture.adapter.ports[1].info.mkey_protect_bits = 2;
	assert_int_equal(receive(&fixture.adapter, &request), AGENT_ANSWERED);
	assert_int_equal(get_be16(fixture.answer.bytes + 4), MAD_STATUS_BAD_VERSION);
	request.bytes[2] = 1;
	assert_int_equal(receive(&fixture.adapter, &request), AGENT_ANSWERED);
	assert_int_equal(get_be16(fixture.answer.bytes + 4), MAD_STATUS_BAD_METHOD);
	assert_int_equal(fixture.adapter.ports[1].info.mkey_violations, 0);
	/* The M_Key check comes before the check of the attribute (management 2.4). */
	request.bytes[3] = MAD_GET;
	request.bytes[17] = 0x77;
	assert_int_equal(receive(&fixture.adapter, &request), AGENT_CONSUMED);
	assert_int_equal(fixture.adapter.ports[1].info.mkey_violations, 1);
	put_be64(request.bytes + 24, 99);
	assert_int_equal(receive(&fixture.adapter, &request), AGENT_ANSWERED);
	assert_int_equal(get_be16(fixture.answer.bytes + 4), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_responses_and_traps_are_the_managers(void **state)
{
	(void)state;
	struct mad_message response = {.bytes = {1, 0x01, 1, MAD_GET_RESPONSE}};
	struct mad_message trap = {.bytes = {1, 0x01, 1, MAD_TRAP}};
	struct mad_message returning = {.bytes = {1, 0x81, 1, MAD_GET, 0x80}};

	assert_int_equal(receive(&fixture.adapter, &response), AGENT_FOR_SM);
	assert_int_equal(receive(&fixture.adapter, &trap), AGENT_FOR_SM);
	assert_int_equal(receive(&fixture.adapter, &returning), AGENT_FOR_SM);
}

static void test_sm_info_is_the_managers_where_there_is_one(void **state)
{
	(void)state;
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_SM_INFO, 0, NULL),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	fixture.adapter.ports[1].info.capability_mask |= CAPABILITY_IS_SM;
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_SM_INFO, 0, NULL), -1);
	assert_int_equal(fixture.verdict, AGENT_FOR_SM);
}

/* C14-67, in part: with a wrong M_Key a Set(SMInfo) never reaches the manager, and a Get does so
 * only at protection levels 0 and 1. */
static void test_sm_info_needs_the_m_key(void **state)
{
	struct port_info *info = &fixture.adapter.ports[1].info;

	(void)state;
	info->capability_mask |= CAPABILITY_IS_SM;
	info->mkey = 99;
	info->mkey_protect_bits = 2;
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_SM_INFO, 0, NULL), -1);
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_SET, ATTRIBUTE_SM_INFO, 0, NULL), -1);
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
	/* At protection level 0 a Get without the key passes, a Set does not. */
	info->mkey_protect_bits = 0;
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_SM_INFO, 0, NULL), -1);
	assert_int_equal(fixture.verdict, AGENT_FOR_SM);
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_SET, ATTRIBUTE_SM_INFO, 0, NULL), -1);
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
}

/* The request may arrive by any port: the capabilities are those of port 0. */
static void test_sm_info_of_a_switch_is_for_the_manager_at_port_0(void **state)
{
	(void)state;
	fixture.arrival = 2;
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_SM_INFO, 0, NULL),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	fixture.hub.ports[0].info.capability_mask |= CAPABILITY_IS_SM;
	assert_int_equal(fixture_ask(&fixture.hub, MAD_GET, ATTRIBUTE_SM_INFO, 0, NULL), -1);
	assert_int_equal(fixture.verdict, AGENT_FOR_SM);
}

static void test_disabled_manager_keeps_silent(void **state)
{
	(void)state;
	fixture.adapter.ports[1].info.capability_mask |= CAPABILITY_SM_DISABLED;
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_SM_INFO, 0, NULL), -1);
	assert_int_equal(fixture.verdict, AGENT_CONSUMED);
}

static void test_port_that_does_not_exist_consumes(void **state)
{
	(void)state;
	fixture.arrival = 3;
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_NODE_INFO, 0, NULL), -1);
	/* Port 0 of an adapter means its first port. */
	fixture.arrival = 0;
	assert_int_equal(fixture_ask(&fixture.adapter, MAD_GET, ATTRIBUTE_NODE_INFO, 0, NULL), 0);
	assert_int_equal(fixture_data()[36], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_get_node_info_answers_these_bytes),
		TEST(test_node_description_is_padded_with_zeros_and_read_only),
		TEST(test_unknown_attributes_and_those_of_switches_are_refused),
		TEST(test_served_attributes_are_those_of_the_table),
		TEST(test_led_is_switched_by_port),
		TEST(test_port_info_extended_enables_supported_modes),
		TEST(test_port_info_extended_is_refused_where_no_capability_says_so),
		TEST(test_port_info_extended_of_another_port_needs_its_key),
		TEST(test_capabilities_are_what_the_agent_does),
		TEST(test_router_connects_nobody),
		TEST(test_version_is_checked_before_method_and_method_before_key),
		TEST(test_responses_and_traps_are_the_managers),
		TEST(test_sm_info_is_the_managers_where_there_is_one),
		TEST(test_sm_info_needs_the_m_key),
		TEST(test_sm_info_of_a_switch_is_for_the_manager_at_port_0),
		TEST(test_disabled_manager_keeps_silent),
		TEST(test_port_that_does_not_exist_consumes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
