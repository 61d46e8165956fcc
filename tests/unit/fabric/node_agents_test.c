/* SPDX-License-Identifier: Apache-2.0 */
/* MADs that end at nodes: directed and LID-routed SMPs there and back, performance queries, traps.
 */
#include "rig.h"

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

/* Sends from host 1 and gives back the answer's SMP as delivered there. */
static const uint8_t *ask(struct rig *rig, uint16_t slid, uint16_t dlid, const uint8_t *smp)
{
	unsigned before = rig->delivered_count;

	assert_true(fabric_inject(&rig->fabric, rig_host(rig, 1),
				  rig_mad_frame(rig, 15, slid, dlid, 0, smp), 5));
	rig_run(rig, 5);
	assert_int_equal(rig->delivered_count, before + 1);
	assert_ptr_equal(rig->delivered_at[before], rig_host(rig, 1));
	return rig->delivered[before]->bytes + SMP_OFFSET;
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
		assert_int_equal(rig.delivered[i]->bytes[SMP_OFFSET + 3], MAD_GET_RESPONSE);
	}
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
	assert_int_equal(rig.delivered[0]->bytes[SMP_OFFSET + 3], MAD_TRAP);
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
	assert_int_equal(answered_guid(rig.delivered[0]->bytes + SMP_OFFSET),
			 rig_host(&rig, 2)->node->info.node_guid);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directed_routes_reach_every_node_of_a_bare_fabric),
		cmocka_unit_test(test_lid_routed_smps_reach_switch_host_and_own_node),
		cmocka_unit_test(test_directed_route_may_begin_behind_a_lid),
		cmocka_unit_test(test_directed_route_over_a_link_that_is_down_is_dropped),
		cmocka_unit_test(test_performance_queries_are_answered_by_switch_and_adapter),
		cmocka_unit_test(test_link_down_sends_a_trap_to_the_manager),
		cmocka_unit_test(test_manager_without_room_gets_its_smp_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
