/* SPDX-License-Identifier: Apache-2.0 */
/* Walked paths end where packets end, for the same reason. */
#include "base/bytes.h"
#include "fabric/known_paths.h"
#include "net/link/detail_counters.h"
#include "rig.h"

static struct fabric_path walk(struct rig *rig, uint16_t dlid, uint16_t pkey)
{
	struct fabric_path path;

	fabric_walk(&rig->fabric, rig_host(rig, 1), dlid, 0, pkey, &path);
	return path;
}

static void test_path_names_its_hops_lanes_and_mtu(void **state)
{
	struct rig rig;
	struct fabric_path path;

	(void)state;
	rig_star(&rig, "star:3");
	rig.switch_node->ports[3].sl_to_vl[1][0] = 5;
	rig.switch_node->ports[3].info.neighbor_mtu = MTU_2048;
	path = walk(&rig, 3, 0xffff);
	assert_int_equal(path.verdict, DROP_NONE);
	assert_int_equal(path.hop_count, 2);
	assert_ptr_equal(path.destination, rig_host(&rig, 3));
	assert_ptr_equal(path.hops[0].output, rig_host(&rig, 1));
	assert_ptr_equal(path.hops[0].input, &rig.switch_node->ports[1]);
	assert_ptr_equal(path.hops[1].output, &rig.switch_node->ports[3]);
	assert_int_equal(path.hops[1].vl, 5);
	assert_int_equal(path.hops[0].return_vl, 0);
	assert_int_equal(path.mtu_code, MTU_2048);
	rig_release(&rig);
}

/* Responses go by the tables of the ports that they leave by. */
static void test_path_names_the_lanes_of_responses(void **state)
{
	struct rig rig;
	struct fabric_path path;

	(void)state;
	rig_star(&rig, "star:3");
	rig_host(&rig, 3)->sl_to_vl[0][0] = 6;	      /* on the last cable */
	rig.switch_node->ports[1].sl_to_vl[3][0] = 7; /* from port 3 to port 1 */
	path = walk(&rig, 3, 0xffff);
	assert_int_equal(path.hops[0].vl, 0);
	assert_int_equal(path.hops[1].vl, 0);
	assert_int_equal(path.hops[0].return_vl, 7);
	assert_int_equal(path.hops[1].return_vl, 6);
	rig_release(&rig);
}

/* Programs that send past the fabric count no opcodes, so they must not send past this port. */
static void test_port_that_counts_an_opcode_is_watched(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:3");
	assert_false(walk(&rig, 3, 0xffff).is_watched);
	assert_int_equal(port_count_opcode(rig_host(&rig, 3), 0x0a), 0);
	assert_true(walk(&rig, 3, 0xffff).is_watched);
	assert_false(walk(&rig, 2, 0xffff).is_watched);
	port_stop_opcode(rig_host(&rig, 3));
	/* Also where the responses arrive. */
	assert_int_equal(port_count_opcode(rig_host(&rig, 1), 0x11), 0);
	assert_true(walk(&rig, 3, 0xffff).is_watched);
	rig_release(&rig);
}

static void test_own_lid_is_a_path_of_no_hops(void **state)
{
	struct rig rig;
	struct fabric_path path;

	(void)state;
	rig_star(&rig, "star:2");
	path = walk(&rig, 1, 0xffff);
	assert_int_equal(path.verdict, DROP_NONE);
	assert_int_equal(path.hop_count, 0);
	assert_ptr_equal(path.destination, rig_host(&rig, 1));
	rig_release(&rig);
}

static void test_verdict_says_why_and_where(void **state)
{
	struct rig rig;
	struct fabric_path path;

	(void)state;
	rig_star(&rig, "star:3");
	path = walk(&rig, 50, 0xffff);
	assert_int_equal(path.verdict, DROP_NO_ROUTE);
	assert_ptr_equal(path.destination, &rig.switch_node->ports[1]);
	assert_int_equal(walk(&rig, 3, 0x8001).verdict, DROP_PKEY_OUTBOUND);
	rig_host(&rig, 3)->pkeys[0] = 0x8001;
	path = walk(&rig, 3, 0xffff);
	assert_int_equal(path.verdict, DROP_PKEY_INBOUND);
	assert_ptr_equal(path.destination, rig_host(&rig, 3));
	rig.switch_node->lft[2] = 3; /* the wrong host does not take it */
	assert_int_equal(walk(&rig, 2, 0xffff).verdict, DROP_MALFORMED);
	fabric_set_cable(&rig.fabric, rig_host(&rig, 3), false, 0);
	assert_int_equal(walk(&rig, 3, 0xffff).verdict, DROP_PORT_INACTIVE);
	fabric_set_cable(&rig.fabric, rig_host(&rig, 1), false, 0);
	assert_int_equal(walk(&rig, 2, 0xffff).verdict, DROP_PORT_INACTIVE);
	assert_int_equal(walk(&rig, 0xc000, 0xffff).verdict, DROP_PORT_INACTIVE);
	rig_release(&rig);
}

/* Tables that send a LID round in a ring: the walk stops where a packet would go on forever. */
static void test_loop_in_the_tables_is_found(void **state)
{
	struct rig rig;
	struct topology_error error;
	struct fabric_path path;
	struct port *source = NULL;

	(void)state;
	rig_init(&rig);
	assert_int_equal(topology_generate(&rig.fabric, "ring:3", &error), 0);
	for (uint32_t i = 0; i < rig.fabric.node_count; i++) {
		struct node *node = rig.fabric.by_index[i];

		for (unsigned number = 1; number <= node->port_count; number++)
			node->ports[number].info.port_state = PORT_ACTIVE;
		if (node_is_switch(node)) {
			node->switch_info.linear_fdb_top = 9;
			node->lft[9] = 1;
		} else {
			source = &node->ports[1];
			source->info.lid = 1;
		}
	}
	fabric_walk(&rig.fabric, source, 9, 0, 0xffff, &path);
	assert_int_equal(path.verdict, DROP_LOOPING);
	assert_int_equal(path.hop_count, FABRIC_HOPS_MAX);
	rig_release(&rig);
}

/* For every DLID and every broken part, the walk gives the same verdict as a packet. */
static void test_walk_agrees_with_packets(void **state)
{
	(void)state;
	for (unsigned broken = 0; broken < 6; broken++) {
		struct rig rig;

		rig_star(&rig, "star:3");
		/* No manager, so no traps: only the sent packets are delivered. */
		for (unsigned number = 1; number <= 3; number++)
			rig_host(&rig, number)->info.master_sm_lid = 0;
		rig.switch_node->ports[0].info.master_sm_lid = 0;
		if (broken == 1)
			rig_host(&rig, 3)->pkeys[0] = 0x7fff;
		if (broken == 2)
			rig.switch_node->ports[2].info.port_state = PORT_INIT;
		if (broken == 3)
			rig.switch_node->ports[3].sl_to_vl[1][0] = 15;
		if (broken == 4)
			rig.switch_node->switch_info.linear_fdb_top = 2;
		if (broken == 5)
			rig.switch_node->ports[1].info.partition_enforcement_inbound = 1,
			rig.switch_node->ports[1].pkeys[0] = 0x8007;
		for (uint16_t dlid = 1; dlid <= 5; dlid++) {
			struct fabric_path path = walk(&rig, dlid, 0xffff);
			unsigned delivered = rig.delivered_count;

			assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1),
						  rig_data_frame(&rig, 1, dlid, 16), 0));
			rig_run(&rig, 0);
			assert_int_equal(rig.delivered_count - delivered,
					 path.verdict == DROP_NONE);
			if (path.verdict == DROP_NONE)
				assert_ptr_equal(rig.delivered_at[delivered], path.destination);
			else
				assert_int_not_equal(path.destination->counters.drops[path.verdict],
						     0);
		}
		rig_release(&rig);
	}
}

/* From one member to another, with the tables that managers write: the switch port in front of each
 * host has the host's keys. */
static void expect_members_talk(uint16_t sender, uint16_t receiver, bool is_enforced,
				bool is_delivered)
{
	struct rig rig;

	rig_star(&rig, "star:2");
	for (unsigned number = 1; number <= 2; number++) {
		struct port *leaf = &rig.switch_node->ports[number];

		rig_host(&rig, number)->info.master_sm_lid = 0;
		leaf->pkeys[0] = rig_host(&rig, number)->pkeys[0] = number == 1 ? sender : receiver;
		leaf->info.partition_enforcement_inbound = is_enforced;
		leaf->info.partition_enforcement_outbound = is_enforced;
	}
	rig.switch_node->ports[0].info.master_sm_lid = 0;

	struct fabric_path path = walk(&rig, 2, sender);

	assert_int_equal(path.verdict == DROP_NONE, is_delivered);
	for (unsigned way = 0; way < 2; way++) {
		struct frame *frame = rig_data_frame(&rig, 1, 2, 16);

		put_be16(frame->bytes + LRH_BYTES + 2, sender);
		assert_true((way ? fabric_inject_through
				 : fabric_inject)(&rig.fabric, rig_host(&rig, 1), frame, 0));
		rig_run(&rig, 0);
		assert_int_equal(rig.delivered_count, is_delivered ? way + 1 : 0);
	}
	/* If the switch does not check the P_Key, the receiving port does. */
	if (!is_delivered)
		assert_ptr_equal(path.destination,
				 is_enforced ? &rig.switch_node->ports[2] : rig_host(&rig, 2));
	rig_release(&rig);
}

static void test_limited_members_reach_full_ones_and_not_each_other(void **state)
{
	(void)state;
	for (unsigned is_enforced = 0; is_enforced < 2; is_enforced++) {
		expect_members_talk(0x8010, 0x8010, is_enforced, true);
		expect_members_talk(0x0010, 0x8010, is_enforced, true);
		expect_members_talk(0x8010, 0x0010, is_enforced, true);
		expect_members_talk(0x0010, 0x0010, is_enforced, false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path_names_its_hops_lanes_and_mtu),
		cmocka_unit_test(test_path_names_the_lanes_of_responses),
		cmocka_unit_test(test_port_that_counts_an_opcode_is_watched),
		cmocka_unit_test(test_own_lid_is_a_path_of_no_hops),
		cmocka_unit_test(test_verdict_says_why_and_where),
		cmocka_unit_test(test_loop_in_the_tables_is_found),
		cmocka_unit_test(test_walk_agrees_with_packets),
		cmocka_unit_test(test_limited_members_reach_full_ones_and_not_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
