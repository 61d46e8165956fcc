/* SPDX-License-Identifier: Apache-2.0 */
/* Forwarding of a switch: each rule with a packet that just falls under it (transport 8.11). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/switch/forwarding.h"
#include "wire/opcode.h"
#include "wire/packet.h"

static struct node node;

static int make_switch(void **state)
{
	(void)state;
	assert_int_equal(node_init(&node, NODE_SWITCH, 20, 0x10, "switch"), 0);
	for (unsigned number = 1; number <= 20; number++)
		node.ports[number].info.port_state = PORT_ACTIVE;
	node.switch_info.linear_fdb_top = 50;
	node.lft[7] = 3;
	node.lft[9] = 0;
	return 0;
}

static int free_switch(void **state)
{
	(void)state;
	node_release(&node);
	return 0;
}

static const struct forwarding_header header = {
	.dlid = 7, .pkey = 0xffff, .sl = 2, .payload_bytes = 2048};

static void expect_drop(unsigned input, const struct forwarding_header *packet,
			enum drop_reason reason, unsigned blamed)
{
	struct forwarding_decision decision = forwarding_unicast(&node, input, packet);

	assert_int_equal(decision.verdict, reason);
	assert_int_equal(decision.blamed_port, blamed);
}

static void test_table_and_sl_give_port_and_lane(void **state)
{
	(void)state;
	node.ports[3].sl_to_vl[5][2] = 6;

	struct forwarding_decision decision = forwarding_unicast(&node, 5, &header);

	assert_int_equal(decision.verdict, DROP_NONE);
	assert_int_equal(decision.output_port, 3);
	assert_int_equal(decision.vl, 6);
	/* Each input has a table of its own: at power-on all SLs map to VL0. */
	assert_int_equal(forwarding_unicast(&node, 6, &header).vl, 0);
}

static void test_lids_without_a_way_have_no_route(void **state)
{
	struct forwarding_header packet = header;

	(void)state;
	packet.dlid = 8; /* 255 in the table */
	expect_drop(5, &packet, DROP_NO_ROUTE, 5);
	node.lft[8] = 21; /* beyond the last port */
	expect_drop(5, &packet, DROP_NO_ROUTE, 5);
	node.lft[51] = 3; /* above LinearFDBTop */
	packet.dlid = 51;
	expect_drop(5, &packet, DROP_NO_ROUTE, 5);
	packet.dlid = 50;
	node.lft[50] = 3;
	assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict, DROP_NONE);
}

static void test_outputs_are_checked_in_order(void **state)
{
	struct forwarding_header packet = header;

	(void)state;
	expect_drop(3, &packet, DROP_LOOPING, 3);
	node.ports[3].info.port_state = PORT_INIT;
	expect_drop(5, &packet, DROP_PORT_INACTIVE, 3);
	node.ports[3].info.port_state = PORT_ACTIVE;
	node.ports[3].info.neighbor_mtu = MTU_1024;
	expect_drop(5, &packet, DROP_MTU, 3);
	packet.payload_bytes = 1024;
	assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict, DROP_NONE);
	node.ports[3].sl_to_vl[5][2] = 15;
	expect_drop(5, &packet, DROP_VL_MAPPING, 5);
	node.ports[3].sl_to_vl[5][2] = 2;
	node.ports[3].info.operational_vls = 2; /* VL 0 and 1 */
	expect_drop(5, &packet, DROP_VL_MAPPING, 5);
}

/* Also with a table for more VLs. */
static void test_all_sls_use_the_only_lane(void **state)
{
	struct port *output = &node.ports[3];

	(void)state;
	output->info.operational_vls = 1;
	for (uint8_t sl = 0; sl < SL_COUNT; sl++) {
		output->sl_to_vl[5][sl] = sl % 8;
		assert_int_equal(port_output_vl(output, 5, sl), 0);
	}
	output->sl_to_vl[5][4] = VL_MANAGEMENT; /* dropped by policy */
	assert_int_equal(port_output_vl(output, 5, 4), VL_MANAGEMENT);
}

static void test_partitions_are_enforced_where_asked(void **state)
{
	struct forwarding_header packet = header;

	(void)state;
	packet.pkey = 0x8005;
	assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict, DROP_NONE);
	node.ports[5].info.partition_enforcement_inbound = 1;
	expect_drop(5, &packet, DROP_PKEY_INBOUND, 5);
	node.ports[5].pkeys[4] = 0x8005;
	assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict, DROP_NONE);
	node.ports[3].info.partition_enforcement_outbound = 1;
	expect_drop(5, &packet, DROP_PKEY_OUTBOUND, 3);
	node.ports[3].pkeys[7] = 0x8005;
	assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict, DROP_NONE);
	packet.is_management = true;
	packet.pkey = 0x1234;
	assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict, DROP_NONE);
}

/* A member with this entry sends by port 5 and receives by port 3. */
static void test_limited_members_send_to_and_receive_from_full_ones(void **state)
{
	enum { NONE = 0, LIMITED = 0x0005, FULL = 0x8005 };
	static const struct {
		uint16_t entry, pkey;
		bool may_come_in, may_go_out;
	} cases[] = {
		{NONE, LIMITED, false, false},	 {NONE, FULL, false, false},
		{LIMITED, LIMITED, true, false}, {LIMITED, FULL, false, true},
		{FULL, LIMITED, true, true},	 {FULL, FULL, true, true},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct forwarding_header packet = header;

		packet.pkey = cases[i].pkey;
		node.ports[5].pkeys[4] = node.ports[3].pkeys[4] = cases[i].entry;
		node.ports[5].info.partition_enforcement_inbound = 1;
		node.ports[3].info.partition_enforcement_outbound = 0;
		assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict,
				 cases[i].may_come_in ? DROP_NONE : DROP_PKEY_INBOUND);
		node.ports[5].info.partition_enforcement_inbound = 0;
		node.ports[3].info.partition_enforcement_outbound = 1;
		assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict,
				 cases[i].may_go_out ? DROP_NONE : DROP_PKEY_OUTBOUND);
	}
}

/* OpenSM writes only the full key of a port that has both. */
static void test_member_of_both_kinds_sends_under_either_key(void **state)
{
	struct forwarding_header packet = header;

	(void)state;
	node.ports[5].info.partition_enforcement_inbound = 1;
	node.ports[5].pkeys[4] = 0x8005;
	packet.pkey = 0x0005;
	assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict, DROP_NONE);
	packet.pkey = 0x8005;
	assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict, DROP_NONE);
}

static void test_raw_packets_can_be_filtered(void **state)
{
	struct forwarding_header packet = header;

	(void)state;
	packet.is_raw = true;
	node.ports[5].info.partition_enforcement_inbound = 1;
	node.ports[5].pkeys[0] = 0;
	assert_int_equal(forwarding_unicast(&node, 5, &packet).verdict, DROP_NONE);
	node.ports[3].info.filter_raw_outbound = 1;
	expect_drop(5, &packet, DROP_PKEY_OUTBOUND, 3);
	node.ports[5].info.filter_raw_inbound = 1;
	expect_drop(5, &packet, DROP_PKEY_INBOUND, 5);
}

static void test_management_passes_ports_that_are_not_active(void **state)
{
	struct forwarding_header packet = header;

	(void)state;
	packet.is_management = true;
	node.ports[3].info.port_state = PORT_INIT;

	struct forwarding_decision decision = forwarding_unicast(&node, 5, &packet);

	assert_int_equal(decision.verdict, DROP_NONE);
	assert_int_equal(decision.vl, VL_MANAGEMENT);
	node.ports[3].info.port_state = PORT_DOWN;
	expect_drop(5, &packet, DROP_PORT_INACTIVE, 3);
}

static void test_multicast_goes_to_every_port_of_the_mask_but_the_input(void **state)
{
	struct forwarding_header packet = header;
	struct port_set outputs;

	(void)state;
	packet.dlid = 0xc002;
	node.mft[2][0] = 1 << 0 | 1 << 5 | 1 << 15;
	node.mft[2][1] = 1 << 4 | 1 << 5; /* ports 20 and 21; there is no port 21 */
	assert_int_equal(forwarding_multicast(&node, 5, &packet, &outputs), DROP_NONE);
	for (unsigned number = 0; number < 256; number++)
		assert_int_equal(port_set_has(&outputs, number),
				 number == 0 || number == 15 || number == 20);
	packet.dlid = 0xc003;
	assert_int_equal(forwarding_multicast(&node, 5, &packet, &outputs), DROP_NO_ROUTE);
}

static void test_uncovered_multicast_goes_by_the_default_ports(void **state)
{
	struct forwarding_header packet = header;
	struct port_set outputs;

	(void)state;
	packet.dlid = 0xc000 + MFT_ENTRIES;
	assert_int_equal(forwarding_multicast(&node, 5, &packet, &outputs), DROP_NO_ROUTE);
	node.switch_info.default_multicast_primary_port = 4;
	node.switch_info.default_multicast_not_primary_port = 6;
	assert_int_equal(forwarding_multicast(&node, 5, &packet, &outputs), DROP_NONE);
	assert_true(port_set_has(&outputs, 4));
	assert_int_equal(forwarding_multicast(&node, 4, &packet, &outputs), DROP_NONE);
	assert_true(port_set_has(&outputs, 6));
	assert_false(port_set_has(&outputs, 4));
}

#define WITH_SWITCH(test) cmocka_unit_test_setup_teardown(test, make_switch, free_switch)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SWITCH(test_table_and_sl_give_port_and_lane),
		WITH_SWITCH(test_lids_without_a_way_have_no_route),
		WITH_SWITCH(test_outputs_are_checked_in_order),
		WITH_SWITCH(test_partitions_are_enforced_where_asked),
		WITH_SWITCH(test_limited_members_send_to_and_receive_from_full_ones),
		WITH_SWITCH(test_member_of_both_kinds_sends_under_either_key),
		WITH_SWITCH(test_all_sls_use_the_only_lane),
		WITH_SWITCH(test_raw_packets_can_be_filtered),
		WITH_SWITCH(test_management_passes_ports_that_are_not_active),
		WITH_SWITCH(test_multicast_goes_to_every_port_of_the_mask_but_the_input),
		WITH_SWITCH(test_uncovered_multicast_goes_by_the_default_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
