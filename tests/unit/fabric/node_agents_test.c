/* SPDX-License-Identifier: Apache-2.0 */
/* MADs that end at nodes: directed and LID-routed SMPs and their answers, performance queries,
 * traps (management 2.2, 6.1). */
#include "rig.h"
#include "wire/notice.h"

static void make_smp(uint8_t class, uint16_t attribute, uint8_t hop_count, uint8_t first,
		     uint8_t second, uint8_t ret_smp[static MAD_BYTES])
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = class,
		.class_version = 1,
		.method = MAD_GET,
		.hop_count = hop_count,
		.transaction_id = 7,
		.attribute_id = attribute,
	};

	memset(ret_smp, 0, MAD_BYTES);
	mad_header_encode(&header, ret_smp);
	put_be16(ret_smp + SMP_DR_SLID_OFFSET, LID_PERMISSIVE);
	put_be16(ret_smp + SMP_DR_DLID_OFFSET, LID_PERMISSIVE);
	ret_smp[SMP_INITIAL_PATH_OFFSET + 1] = first;
	ret_smp[SMP_INITIAL_PATH_OFFSET + 2] = second;
}

/* Sends from host 1 and returns the answer that was delivered there. */
static const uint8_t *ask(struct rig *rig, uint16_t slid, uint16_t dlid, const uint8_t *smp)
{
	unsigned before = rig->delivered_count;

	assert_true(fabric_inject(&rig->fabric, rig_host(rig, 1),
				  rig_mad_frame(rig, 15, slid, dlid, 0, smp), 5));
	rig_run(rig, 5);
	assert_int_equal(rig->delivered_count, before + 1);
	assert_ptr_equal(rig->delivered_at[before], rig_host(rig, 1));
	return rig->delivered[before]->bytes + MAD_OFFSET_IN_PACKET;
}

static uint64_t answered_guid(const uint8_t *answer)
{
	struct node_info info;

	assert_int_equal(answer[3], MAD_GET_RESPONSE);
	assert_int_equal(get_be16(answer + 4) & 0x7fff, 0);
	node_info_decode(answer + SMP_DATA_OFFSET, &info);
	return info.node_guid;
}

/* 0 hops is the own node, 1 the switch, 2 the host behind the switch; no table has an entry yet. */
static void test_directed_routes_reach_every_node_of_a_bare_fabric(void **state)
{
	struct rig rig;
	uint8_t smp[MAD_BYTES];

	(void)state;
	rig_star_bare(&rig, "star:3");
	make_smp(MAD_CLASS_SUBNET_DIRECTED, ATTRIBUTE_NODE_INFO, 0, 0, 0, smp);
	assert_int_equal(answered_guid(ask(&rig, 0xffff, 0xffff, smp)),
			 rig_host(&rig, 1)->node->info.node_guid);
	make_smp(MAD_CLASS_SUBNET_DIRECTED, ATTRIBUTE_NODE_INFO, 1, 1, 0, smp);
	assert_int_equal(answered_guid(ask(&rig, 0xffff, 0xffff, smp)),
			 rig.switch_node->info.node_guid);
	make_smp(MAD_CLASS_SUBNET_DIRECTED, ATTRIBUTE_NODE_INFO, 2, 1, 3, smp);
	assert_int_equal(answered_guid(ask(&rig, 0xffff, 0xffff, smp)),
			 rig_host(&rig, 3)->node->info.node_guid);
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

static void test_lid_routed_smps_reach_switch_host_and_own_node(void **state)
{
	struct rig rig;
	uint8_t smp[MAD_BYTES];

	(void)state;
	rig_star(&rig, "star:2");
	make_smp(MAD_CLASS_SUBNET_LID, ATTRIBUTE_NODE_INFO, 0, 0, 0, smp);
	assert_int_equal(answered_guid(ask(&rig, 1, RIG_SWITCH_LID, smp)),
			 rig.switch_node->info.node_guid);
	assert_int_equal(answered_guid(ask(&rig, 1, 2, smp)),
			 rig_host(&rig, 2)->node->info.node_guid);
	assert_int_equal(answered_guid(ask(&rig, 1, 1, smp)),
			 rig_host(&rig, 1)->node->info.node_guid);
	rig_release(&rig);
}

/* By LID to the switch, from there by port: the "combined route" of the tools. */
static void test_directed_route_may_begin_behind_a_lid(void **state)
{
	struct rig rig;
	uint8_t smp[MAD_BYTES];

	(void)state;
	rig_star(&rig, "star:3");
	make_smp(MAD_CLASS_SUBNET_DIRECTED, ATTRIBUTE_NODE_INFO, 1, 3, 0, smp);
	put_be16(smp + SMP_DR_SLID_OFFSET, 1);
	assert_int_equal(answered_guid(ask(&rig, 1, RIG_SWITCH_LID, smp)),
			 rig_host(&rig, 3)->node->info.node_guid);
	rig_release(&rig);
}

/* By port to the switch, from there by LID: DrDLID names the end. */
static void test_directed_route_may_end_behind_a_lid(void **state)
{
	struct rig rig;
	uint8_t smp[MAD_BYTES];

	(void)state;
	rig_star(&rig, "star:3");
	make_smp(MAD_CLASS_SUBNET_DIRECTED, ATTRIBUTE_NODE_INFO, 1, 1, 0, smp);
	put_be16(smp + SMP_DR_DLID_OFFSET, 3);

	const uint8_t *answer = ask(&rig, 0xffff, 0xffff, smp);

	assert_int_equal(answered_guid(answer), rig_host(&rig, 3)->node->info.node_guid);
	rig_release(&rig);
}

/* By LID to the switch, by port to a host, and by LID again. */
static void test_directed_part_may_lie_between_two_lid_routed_ones(void **state)
{
	struct rig rig;
	uint8_t smp[MAD_BYTES];

	(void)state;
	rig_star(&rig, "star:3");
	make_smp(MAD_CLASS_SUBNET_DIRECTED, ATTRIBUTE_NODE_INFO, 1, 3, 0, smp);
	put_be16(smp + SMP_DR_SLID_OFFSET, 1);
	put_be16(smp + SMP_DR_DLID_OFFSET, 3);
	assert_int_equal(answered_guid(ask(&rig, 1, RIG_SWITCH_LID, smp)),
			 rig_host(&rig, 3)->node->info.node_guid);
	rig_release(&rig);
}

static void test_directed_route_over_a_link_that_is_down_is_dropped(void **state)
{
	struct rig rig;
	uint8_t smp[MAD_BYTES];

	(void)state;
	rig_star_bare(&rig, "star:3");
	fabric_set_cable(&rig.fabric, rig_host(&rig, 3), false, 0);
	make_smp(MAD_CLASS_SUBNET_DIRECTED, ATTRIBUTE_NODE_INFO, 2, 1, 3, smp);
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1),
				  rig_mad_frame(&rig, 15, 0xffff, 0xffff, 0, smp), 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 0);
	assert_int_equal(rig.switch_node->ports[3].counters.drops[DROP_PORT_INACTIVE], 1);
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

static void test_performance_queries_are_answered_by_switch_and_adapter(void **state)
{
	static const uint16_t lids[] = {RIG_SWITCH_LID, 2, 1};
	struct rig rig;
	uint8_t mad[MAD_BYTES];

	(void)state;
	rig_star(&rig, "star:2");
	make_smp(MAD_CLASS_PERFORMANCE, ATTRIBUTE_PORT_COUNTERS, 0, 0, 0, mad);
	memset(mad + 24, 0, MAD_BYTES - 24);
	mad[PERFORMANCE_DATA_OFFSET + 1] = 1; /* PortSelect */
	for (unsigned i = 0; i < ARRAY_COUNT(lids); i++) {
		assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1),
					  rig_mad_frame(&rig, 0, 1, lids[i], 1, mad), 0));
		rig_run(&rig, 0);
		assert_int_equal(rig.delivered_count, i + 1);
		assert_ptr_equal(rig.delivered_at[i], rig_host(&rig, 1));

		struct packet packet;

		assert_int_equal(packet_decode(rig.delivered[i]->bytes,
					       rig.delivered[i]->byte_count, 1, &packet),
				 PACKET_OK);
		assert_int_equal(packet.lrh.slid, lids[i]);
		assert_int_equal(packet.bth.destination_qpn, 1);
		assert_int_equal(packet.deth.qkey, QKEY_GSI);
		assert_int_equal(rig.delivered[i]->bytes[MAD_OFFSET_IN_PACKET + 3],
				 MAD_GET_RESPONSE);
	}
	rig_release(&rig);
}

/* The last trap that arrived at the manager on host 1. */
static uint16_t last_trap(const struct rig *rig)
{
	const uint8_t *smp = rig->delivered[rig->delivered_count - 1]->bytes + MAD_OFFSET_IN_PACKET;
	struct notice notice;

	assert_ptr_equal(rig->delivered_at[rig->delivered_count - 1],
			 rig->switch_node->ports[1].peer);
	assert_int_equal(smp[3], MAD_TRAP);
	notice_decode(smp + SMP_DATA_OFFSET, &notice);
	return notice.header.trap_number;
}

/* Two limited members of a partition cannot talk to each other; a port can talk to itself
 * (transport 10.3). */
static void test_limited_member_reads_its_own_counters_only(void **state)
{
	struct rig rig;
	uint8_t mad[MAD_BYTES];

	(void)state;
	rig_star(&rig, "star:2");
	make_smp(MAD_CLASS_PERFORMANCE, ATTRIBUTE_PORT_COUNTERS, 0, 0, 0, mad);
	memset(mad + 24, 0, MAD_BYTES - 24);
	mad[PERFORMANCE_DATA_OFFSET + 1] = 1; /* PortSelect */
	for (uint16_t lid = 1; lid <= 2; lid++) {
		struct frame *frame = rig_mad_frame(&rig, 0, 1, lid, 1, mad);

		rig_host(&rig, lid)->pkeys[0] = PKEY_DEFAULT_LIMITED;
		rig_host(&rig, lid)->info.master_sm_lid = 0; /* no traps */
		put_be16(frame->bytes + LRH_BYTES + 2, PKEY_DEFAULT_LIMITED);
		assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0));
		rig_run(&rig, 0);
	}
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], rig_host(&rig, 1));
	assert_int_equal(rig_host(&rig, 1)->info.pkey_violations, 0);
	assert_int_equal(rig_host(&rig, 2)->info.pkey_violations, 1);
	rig_release(&rig);
}

static void test_packet_under_a_foreign_pkey_makes_trap_257_at_the_adapter(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:3");
	rig_host(&rig, 2)->pkeys[0] = 0x8001;
	assert_true(
		fabric_inject(&rig.fabric, rig_host(&rig, 3), rig_data_frame(&rig, 3, 2, 16), 50));
	rig_run(&rig, 50);
	rig_run(&rig, 50);
	assert_int_equal(rig_host(&rig, 2)->info.pkey_violations, 1);
	assert_int_equal(rig.delivered_count, 1);
	assert_int_equal(last_trap(&rig), 257);
	rig_release(&rig);
}

static void test_packet_under_a_foreign_pkey_makes_trap_259_at_a_switch(void **state)
{
	struct rig rig;
	struct port *port;

	(void)state;
	rig_star(&rig, "star:3");
	port = &rig.switch_node->ports[2];
	port->pkeys[0] = 0x8001;
	port->info.partition_enforcement_outbound = 1;
	assert_true(
		fabric_inject(&rig.fabric, rig_host(&rig, 3), rig_data_frame(&rig, 3, 2, 16), 50));
	rig_run(&rig, 50);
	rig_run(&rig, 50);
	assert_int_equal(port->counters.transmit_constraint_errors, 1);
	assert_int_equal(rig.switch_node->ports[0].info.pkey_violations, 1);
	assert_int_equal(rig.delivered_count, 1);
	assert_int_equal(last_trap(&rig), 259);
	rig_release(&rig);
}

static void test_mad_under_a_foreign_qkey_makes_trap_258(void **state)
{
	struct rig rig;
	uint8_t mad[MAD_BYTES];

	(void)state;
	rig_star(&rig, "star:3");
	make_smp(MAD_CLASS_PERFORMANCE, ATTRIBUTE_PORT_COUNTERS, 0, 0, 0, mad);

	struct frame *frame = rig_mad_frame(&rig, 0, 3, RIG_SWITCH_LID, 1, mad);

	put_be32(frame->bytes + LRH_BYTES + BTH_BYTES, 0x11111111);
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 3), frame, 50));
	rig_run(&rig, 50);
	rig_run(&rig, 50);
	assert_int_equal(rig.switch_node->ports[0].info.qkey_violations, 1);
	assert_int_equal(rig.delivered_count, 1);
	assert_int_equal(last_trap(&rig), 258);
	rig_release(&rig);
}

/* QP0 is for VL15 (transport 10.5; management 1.7). */
static void test_smp_on_a_data_lane_is_dropped(void **state)
{
	static const uint16_t lids[] = {RIG_SWITCH_LID, 2};
	struct rig rig;
	uint8_t smp[MAD_BYTES];

	(void)state;
	rig_star(&rig, "star:2");
	make_smp(MAD_CLASS_SUBNET_LID, ATTRIBUTE_NODE_INFO, 0, 0, 0, smp);
	for (unsigned i = 0; i < ARRAY_COUNT(lids); i++) {
		assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1),
					  rig_mad_frame(&rig, 0, 1, lids[i], 0, smp), 0));
		rig_run(&rig, 0);
		assert_int_equal(rig.delivered_count, 0);
		assert_true(fabric_is_idle(&rig.fabric));
	}
	assert_int_equal(rig.switch_node->ports[0].counters.drops[DROP_NO_LISTENER], 1);
	assert_int_equal(rig_host(&rig, 2)->counters.drops[DROP_NO_LISTENER], 1);
	rig_release(&rig);
}

static void test_switch_refuses_what_an_adapter_leaves_to_its_programs(void **state)
{
	struct rig rig;
	uint8_t mad[MAD_BYTES];

	(void)state;
	rig_star(&rig, "star:2");
	make_smp(0x0a, 1, 0, 0, 0, mad);
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1),
				  rig_mad_frame(&rig, 0, 1, RIG_SWITCH_LID, 1, mad), 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], rig_host(&rig, 1));
	assert_int_equal(rig.delivered[0]->bytes[MAD_OFFSET_IN_PACKET + 3], MAD_GET_RESPONSE);
	assert_int_equal(get_be16(rig.delivered[0]->bytes + MAD_OFFSET_IN_PACKET + 4),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1),
				  rig_mad_frame(&rig, 0, 1, 2, 1, mad), 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 2);
	assert_ptr_equal(rig.delivered_at[1], rig_host(&rig, 2));
	assert_int_equal(rig.delivered[1]->bytes[MAD_OFFSET_IN_PACKET + 3], MAD_GET);
	rig_release(&rig);
}

static void test_link_down_sends_a_trap_to_the_manager(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:3");
	fabric_set_cable(&rig.fabric, rig_host(&rig, 3), false, 1000);
	assert_int_equal(rig.switch_node->switch_info.port_state_change, 1);
	assert_int_equal(fabric_deadline(&rig.fabric), 1000);
	rig_run(&rig, 1000);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], rig_host(&rig, 1));
	assert_int_equal(rig.delivered[0]->bytes[MAD_OFFSET_IN_PACKET + 3], MAD_TRAP);
	rig_release(&rig);
}

static void test_trap_comes_again_until_the_manager_represses_it(void **state)
{
	struct rig rig;
	uint8_t repress[MAD_BYTES];
	time_ns now = 1000;

	(void)state;
	rig_star(&rig, "star:3");

	time_ns distance = time_from_code(rig.switch_node->ports[0].info.subnet_timeout);

	fabric_set_cable(&rig.fabric, rig_host(&rig, 3), false, now);
	for (unsigned i = 1; i <= 3; i++, now += distance) {
		rig_run(&rig, now);
		assert_int_equal(rig.delivered_count, i);
		assert_int_equal(last_trap(&rig), 128);
		assert_memory_equal(rig.delivered[i - 1]->bytes + MAD_OFFSET_IN_PACKET,
				    rig.delivered[0]->bytes + MAD_OFFSET_IN_PACKET, MAD_BYTES);
		assert_int_equal(fabric_deadline(&rig.fabric), now + distance);
	}
	memcpy(repress, rig.delivered[0]->bytes + MAD_OFFSET_IN_PACKET, MAD_BYTES);
	repress[3] = MAD_TRAP_REPRESS;
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1),
				  rig_mad_frame(&rig, 15, 1, RIG_SWITCH_LID, 0, repress),
				  now - distance));
	rig_run(&rig, now - distance);
	rig_run(&rig, now);
	assert_int_equal(rig.delivered_count, 3);
	assert_int_equal(fabric_deadline(&rig.fabric), TIME_NEVER);
	rig_release(&rig);
}

static void test_manager_without_room_gets_its_smp_later(void **state)
{
	struct rig rig;
	uint8_t smp[MAD_BYTES];

	(void)state;
	rig_star_bare(&rig, "star:2");
	rig.room = 0;
	make_smp(MAD_CLASS_SUBNET_DIRECTED, ATTRIBUTE_NODE_INFO, 2, 1, 2, smp);
	assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1),
				  rig_mad_frame(&rig, 15, 0xffff, 0xffff, 0, smp), 0));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 0);
	rig.room = 1;
	fabric_endpoint_ready(&rig.fabric, rig_host(&rig, 1));
	rig_run(&rig, 0);
	assert_int_equal(rig.delivered_count, 1);
	assert_int_equal(answered_guid(rig.delivered[0]->bytes + MAD_OFFSET_IN_PACKET),
			 rig_host(&rig, 2)->node->info.node_guid);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directed_routes_reach_every_node_of_a_bare_fabric),
		cmocka_unit_test(test_lid_routed_smps_reach_switch_host_and_own_node),
		cmocka_unit_test(test_directed_route_may_begin_behind_a_lid),
		cmocka_unit_test(test_directed_route_may_end_behind_a_lid),
		cmocka_unit_test(test_directed_part_may_lie_between_two_lid_routed_ones),
		cmocka_unit_test(test_directed_route_over_a_link_that_is_down_is_dropped),
		cmocka_unit_test(test_performance_queries_are_answered_by_switch_and_adapter),
		cmocka_unit_test(test_limited_member_reads_its_own_counters_only),
		cmocka_unit_test(test_packet_under_a_foreign_pkey_makes_trap_257_at_the_adapter),
		cmocka_unit_test(test_packet_under_a_foreign_pkey_makes_trap_259_at_a_switch),
		cmocka_unit_test(test_mad_under_a_foreign_qkey_makes_trap_258),
		cmocka_unit_test(test_smp_on_a_data_lane_is_dropped),
		cmocka_unit_test(test_switch_refuses_what_an_adapter_leaves_to_its_programs),
		cmocka_unit_test(test_link_down_sends_a_trap_to_the_manager),
		cmocka_unit_test(test_trap_comes_again_until_the_manager_represses_it),
		cmocka_unit_test(test_manager_without_room_gets_its_smp_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
