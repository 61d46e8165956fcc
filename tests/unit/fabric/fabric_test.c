/* SPDX-License-Identifier: Apache-2.0 */
/* Pulling and plugging cables, finding nodes. */
#include "rig.h"

#include "net/link/lane_credits.h"

static void test_pulled_cable_takes_both_ends_down_and_is_reported(void **state)
{
	struct rig rig;
	unsigned changes_before;

	(void)state;
	rig_star(&rig, "star:3");
	changes_before = rig.port_changes;
	fabric_set_cable(&rig.fabric, &rig.switch_node->ports[2], false, 0);
	assert_int_equal(rig_host(&rig, 2)->info.port_state, PORT_DOWN);
	assert_int_equal(rig.switch_node->ports[2].info.port_state, PORT_DOWN);
	assert_int_equal(rig.switch_node->switch_info.port_state_change, 1);
	assert_int_equal(rig.port_changes, changes_before + 1);
	assert_int_equal(rig.path_changes, 1);
	/* Pulling twice has no further effect. */
	fabric_set_cable(&rig.fabric, &rig.switch_node->ports[2], false, 0);
	assert_int_equal(rig.path_changes, 1);
	fabric_set_cable(&rig.fabric, rig_host(&rig, 2), true, 0);
	assert_int_equal(rig_host(&rig, 2)->info.port_state, PORT_INIT);
	assert_int_equal(rig_host(&rig, 2)->info.lid, 2);
	assert_int_equal(rig.port_changes, changes_before + 2);
	rig_release(&rig);
}

static void set_power(struct rig *rig, struct node *node, enum node_power power)
{
	rig->fabric.agents.set_power(rig->fabric.agents.context, node, power);
}

/* A node without power has no links; its cables stay as they are. */
static void test_power_takes_the_links_along(void **state)
{
	struct rig rig;
	struct port *host, *far;

	(void)state;
	rig_star(&rig, "star:3");
	host = rig_host(&rig, 2);
	far = &rig.switch_node->ports[2];
	set_power(&rig, host->node, NODE_POWER_OFF);
	assert_int_equal(host->info.port_state, PORT_DOWN);
	assert_int_equal(far->info.port_state, PORT_DOWN);
	assert_int_equal(rig.switch_node->ports[3].info.port_state, PORT_ACTIVE);
	/* Neither a new cable nor a manager's Polling brings the link up. */
	fabric_set_cable(&rig.fabric, host, true, 0);
	rig.fabric.agents.set_link(rig.fabric.agents.context, far, PHYSICAL_POLLING);
	assert_int_equal(far->info.port_state, PORT_DOWN);
	/* Power alone does not either, while the cable is out. */
	fabric_set_cable(&rig.fabric, host, false, 0);
	set_power(&rig, host->node, NODE_POWER_ON);
	assert_int_equal(far->info.port_state, PORT_DOWN);
	fabric_set_cable(&rig.fabric, host, true, 0);
	assert_int_equal(host->info.port_state, PORT_INIT);
	/* A switch takes all its links along. */
	set_power(&rig, rig.switch_node, NODE_POWER_OFF);
	for (unsigned number = 1; number <= 3; number++)
		assert_int_equal(rig_host(&rig, number)->info.port_state, PORT_DOWN);
	set_power(&rig, rig.switch_node, NODE_POWER_ON);
	for (unsigned number = 1; number <= 3; number++)
		assert_int_equal(rig_host(&rig, number)->info.port_state, PORT_INIT);
	rig_release(&rig);
}

/* Data packets only: the switch also sends traps about its links to the manager at host 1. */
static unsigned delivered_to(struct rig *rig, unsigned host)
{
	unsigned count = 0;

	for (unsigned i = 0; i < rig->delivered_count; i++)
		count += rig->delivered_at[i] == rig_host(rig, host);
	return count;
}

/* Frames that wait for the link are dropped and counted, and their buffers are free again. */
static void test_link_down_flushes_its_queues(void **state)
{
	struct rig rig;

	(void)state;
	rig_star(&rig, "star:2");
	rig.room = 0;
	for (unsigned i = 0; i < 60; i++) {
		struct frame *frame = rig_data_frame(&rig, 1, 2, 4096);

		frame->source = &rig;
		assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0));
		rig_run(&rig, 0);
	}
	fabric_set_cable(&rig.fabric, rig_host(&rig, 2), false, 0);
	/* 31 had reached the host's port; the others waited in the switch. */
	assert_int_equal(rig.switch_node->ports[2].counters.transmit_discards, 29);
	assert_int_equal(rig.gone_count, 29);
	assert_int_equal(port_arrival_lane(&rig.switch_node->ports[1], 0)->peer_buffer_blocks, 0);
	fabric_set_cable(&rig.fabric, rig_host(&rig, 2), true, 0);
	rig_host(&rig, 2)->info.port_state = PORT_ACTIVE;
	rig.switch_node->ports[2].info.port_state = PORT_ACTIVE;
	rig.room = 100;
	fabric_endpoint_ready(&rig.fabric, rig_host(&rig, 2));
	rig_run(&rig, 0);
	assert_int_equal(delivered_to(&rig, 2), 31);
	assert_int_equal(port_arrival_lane(rig_host(&rig, 2), 0)->peer_buffer_blocks, 0);
	/* The link carries a full buffer again. */
	for (unsigned i = 0; i < 31; i++) {
		struct frame *frame = rig_data_frame(&rig, 1, 2, 4096);

		assert_true(fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, 0));
	}
	rig_run(&rig, 0);
	assert_int_equal(delivered_to(&rig, 2), 62);
	assert_true(fabric_is_idle(&rig.fabric));
	rig_release(&rig);
}

static void test_nodes_are_found_by_guid_name_and_host(void **state)
{
	struct rig rig;
	struct node *host;

	(void)state;
	rig_star_bare(&rig, "star:3");
	host = rig_host(&rig, 2)->node;
	assert_ptr_equal(fabric_find_guid(&rig.fabric, 0x025f1b0100020000), host);
	assert_ptr_equal(fabric_find_name(&rig.fabric, "H-025f1b0100020000"), host);
	assert_ptr_equal(fabric_find_adapter(&rig.fabric, "h2", 0), host);
	assert_null(fabric_find_adapter(&rig.fabric, "h2", 1));
	assert_null(fabric_find_adapter(&rig.fabric, "", 0)); /* a switch has no host */
	assert_null(fabric_find_guid(&rig.fabric, 5));
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pulled_cable_takes_both_ends_down_and_is_reported),
		cmocka_unit_test(test_power_takes_the_links_along),
		cmocka_unit_test(test_link_down_flushes_its_queues),
		cmocka_unit_test(test_nodes_are_found_by_guid_name_and_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
