/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet manager with whole fabrics of real agents, on a virtual clock (management 3.2).
 * Covers: mgmt/sm/discovery.c mgmt/sm/discovery_answers.c mgmt/sm/discovery_queue.c
 * mgmt/sm/findings.c mgmt/sm/forwarding_tables.c mgmt/sm/port_setup.c mgmt/sm/requests.c
 * mgmt/sm/sweep.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fake_fabric.h"
#include "mgmt/mad/smp_request.h"
#include "mgmt/sm/sweep.h"
#include "wire/smp.h"

static struct fake_fabric fabric;

static const struct sm_options options = {.priority = 5, .sweep_interval = SECONDS(10)};

enum { CA_GUID = 0x1000, SWITCH_GUID = 0x9000 };

static struct node *add_ca(unsigned index)
{
	return fake_add(&fabric, NODE_CA, 1, CA_GUID + index * 16u);
}

static struct node *add_switch(unsigned index, unsigned port_count)
{
	return fake_add(&fabric, NODE_SWITCH, port_count, SWITCH_GUID + index * 16u);
}

static void build_star(unsigned host_count)
{
	struct node *hub = add_switch(0, host_count);

	for (unsigned i = 0; i < host_count; i++)
		fake_connect(hub, i + 1, add_ca(i), 1);
}

/* switch_count switches in a ring, each with an adapter on its port 3. */
static void build_ring(unsigned switch_count)
{
	struct node *switches[16];

	for (unsigned i = 0; i < switch_count; i++) {
		switches[i] = add_switch(i, 3);
		fake_connect(switches[i], 3, add_ca(i), 1);
	}
	for (unsigned i = 0; i < switch_count; i++)
		fake_connect(switches[i], 2, switches[(i + 1) % switch_count], 1);
}

static void build_mesh(unsigned columns, unsigned rows)
{
	struct node *switches[64];

	for (unsigned i = 0; i < columns * rows; i++) {
		switches[i] = add_switch(i, 5);
		fake_connect(switches[i], 5, add_ca(i), 1);
	}
	for (unsigned i = 0; i < columns * rows; i++) {
		if (i % columns + 1 < columns)
			fake_connect(switches[i], 1, switches[i + 1], 2);
		if (i / columns + 1 < rows)
			fake_connect(switches[i], 3, switches[i + columns], 4);
	}
}

static void start_on_first_adapter(void)
{
	for (unsigned i = 0; i < fabric.node_count; i++) {
		if (!node_is_switch(fabric.nodes[i])) {
			fake_start_sm(&fabric, fabric.nodes[i], &options);
			return;
		}
	}
	fail();
}

static struct sm_status status_now(void)
{
	struct sm_status status;

	sm_status(fabric.sm, &status);
	return status;
}

static void assert_subnet_is_up(void)
{
	assert_true(status_now().subnet_is_up);
	assert_int_equal(status_now().state, SM_MASTER);
	fake_assert_all_active(&fabric);
	fake_assert_all_reachable(&fabric);
}

static int setup(void **state)
{
	(void)state;
	fake_init(&fabric);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_release(&fabric);
	return 0;
}

static void test_star_comes_up_at_once_with_lids_routes_and_active_ports(void **state)
{
	(void)state;
	build_star(6);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);

	assert_subnet_is_up();
	assert_int_equal(status_now().node_count, 7);
	assert_int_equal(status_now().switch_count, 1);
	assert_int_equal(status_now().port_count, 7);
	for (unsigned i = 0; i < 7; i++) {
		const struct node *node = fabric.nodes[i];
		const struct port *port = &node->ports[node_is_switch(node) ? 0 : 1];

		assert_in_range(port->info.lid, 1, 7);
		assert_int_equal(port->info.master_sm_lid, fabric.sm_port->info.lid);
	}
	/* Each end port gets ClientReregister once (management 3.3). */
	assert_int_equal(fabric.reregister_count, 7);
}

static void test_ring_mesh_and_back_to_back_adapters_come_up(void **state)
{
	(void)state;
	build_ring(5);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);
	assert_subnet_is_up();
	fake_release(&fabric);

	fake_init(&fabric);
	build_mesh(4, 3);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 3);
	assert_subnet_is_up();
	fake_release(&fabric);

	fake_init(&fabric);
	fake_connect(add_ca(0), 1, add_ca(1), 1);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 1);
	assert_subnet_is_up();
}

static void test_manager_on_a_switch_brings_its_subnet_up(void **state)
{
	(void)state;
	build_ring(4);
	fake_start_sm(&fabric, fabric.nodes[0], &options);
	fake_run(&fabric, MILLISECONDS(1), 64);
	assert_subnet_is_up();
}

static void test_second_heavy_sweep_of_a_steady_subnet_sets_nothing(void **state)
{
	(void)state;
	build_mesh(3, 3);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);

	uint64_t sets = fabric.set_count;
	uint64_t paths = fabric.paths_changed_count;

	sm_request_sweep(fabric.sm, fabric.now);
	fake_run(&fabric, MILLISECONDS(2), 64);
	assert_int_equal(status_now().sweep_count, 2);
	assert_int_equal(fabric.set_count, sets);
	assert_int_equal(fabric.paths_changed_count, paths);
	assert_subnet_is_up();
}

static void test_light_sweep_asks_switches_only(void **state)
{
	(void)state;
	build_ring(4);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);

	uint64_t smps = fabric.smp_count;

	fake_run(&fabric, SECONDS(11), 64);
	/* Four switches and the manager's own port. */
	assert_int_equal(fabric.smp_count - smps, 5);
	assert_int_equal(status_now().sweep_count, 1);
}

static void test_trap_of_a_lost_link_moves_routes_at_once_and_back_when_it_returns(void **state)
{
	(void)state;
	build_ring(6);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);

	struct port *cable = &fabric.nodes[2]->ports[2]; /* from the second switch to the third */
	uint16_t third_lid = fabric.nodes[5]->ports[1].info.lid;
	const struct port *end;

	assert_int_equal(fake_walk(&fabric.nodes[3]->ports[1], third_lid, &end), 3);
	fake_cut(&fabric, cable);
	assert_int_equal(fake_walk(&fabric.nodes[3]->ports[1], third_lid, &end), -1);
	fake_run(&fabric, MILLISECONDS(2), 64);
	assert_true(fabric.trap_count >= 1);
	assert_subnet_is_up();
	assert_int_equal(fake_walk(&fabric.nodes[3]->ports[1], third_lid, &end), 7);

	fake_mend(&fabric, cable);
	fake_run(&fabric, SECONDS(4), 64);
	assert_subnet_is_up();
	assert_int_equal(fake_walk(&fabric.nodes[3]->ports[1], third_lid, &end), 3);
	/* Repressed: no trap is repeated. */
	uint64_t traps = fabric.trap_count;

	fake_run(&fabric, SECONDS(9), 64);
	assert_int_equal(fabric.trap_count, traps);
}

static void test_change_without_a_trap_is_found_by_the_next_light_sweep(void **state)
{
	(void)state;
	build_ring(4);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);
	fabric.environment.memory = NULL;
	fake_cut(&fabric, &fabric.nodes[2]->ports[2]);
	fake_run(&fabric, SECONDS(9), 64);
	assert_int_equal(status_now().sweep_count, 1);
	fake_run(&fabric, SECONDS(11), 64);
	assert_int_equal(status_now().sweep_count, 2);
	assert_subnet_is_up();
}

static void test_vanished_node_is_dropped_and_has_its_lid_again_when_it_returns(void **state)
{
	(void)state;
	build_star(4);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);

	struct port *leaver = &fabric.nodes[3]->ports[1];
	uint16_t lid = leaver->info.lid;

	fake_cut(&fabric, leaver);
	fake_run(&fabric, SECONDS(2), 64);
	assert_int_equal(status_now().node_count, 4);
	assert_int_equal(fabric.nodes[0]->lft[lid], LFT_NO_PORT);

	/* A new port does not get the LID meanwhile. */
	struct node *newcomer = add_ca(20);

	leaver->info.lid = 0;
	leaver->peer->peer = NULL;
	leaver->peer = NULL;
	fabric.nodes[0]->ports[3].cable_is_down = false;
	leaver->cable_is_down = false;
	fake_connect(fabric.nodes[0], 3, newcomer, 1);
	agent_link_changed(&fabric.memory, fabric.nodes[0], fabric.now);
	fake_run(&fabric, SECONDS(4), 64);
	assert_int_not_equal(newcomer->ports[1].info.lid, lid);
	assert_true(newcomer->ports[1].info.lid != 0);

	newcomer->ports[1].peer = NULL;
	fabric.nodes[0]->ports[3].peer = NULL;
	fabric.nodes[0]->ports[3].info.physical_state = PHYSICAL_POLLING;
	newcomer->ports[1].info.port_state = PORT_DOWN;
	fake_connect(fabric.nodes[0], 3, leaver->node, 1);
	agent_link_changed(&fabric.memory, fabric.nodes[0], fabric.now);
	fake_run(&fabric, SECONDS(8), 64);
	assert_int_equal(leaver->info.lid, lid);
	assert_true(status_now().subnet_is_up);
}

static void test_lids_that_ports_have_already_are_kept(void **state)
{
	(void)state;
	build_star(3);
	fabric.nodes[1]->ports[1].info.lid = 77;
	fabric.nodes[2]->ports[1].info.lid = 77; /* two cannot have it */
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);
	assert_int_equal(fabric.nodes[1]->ports[1].info.lid, 77);
	assert_int_not_equal(fabric.nodes[2]->ports[1].info.lid, 77);
	assert_subnet_is_up();
}

static void test_part_without_a_cable_is_left_alone(void **state)
{
	(void)state;
	build_star(3);

	struct node *island = add_switch(9, 2);

	fake_connect(island, 1, add_ca(9), 1);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);
	assert_true(status_now().subnet_is_up);
	assert_int_equal(status_now().node_count, 4);
	assert_int_equal(island->ports[0].info.lid, 0);
	assert_int_equal(island->ports[1].info.port_state, PORT_INIT);
}

static void test_second_node_with_a_guid_is_left_out(void **state)
{
	(void)state;
	struct node *hub = add_switch(0, 4);

	for (unsigned i = 0; i < 3; i++)
		fake_connect(hub, i + 1, add_ca(i), 1);
	fake_connect(hub, 4, add_ca(2), 1);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);
	assert_int_equal(status_now().duplicate_count, 1);
	assert_int_equal(status_now().node_count, 4);
	assert_int_equal(fabric.nodes[3]->ports[1].info.port_state, PORT_ACTIVE);
	assert_int_equal(fabric.nodes[4]->ports[1].info.port_state, PORT_INIT);
}

static void test_silent_node_is_left_out_and_found_when_it_speaks(void **state)
{
	(void)state;
	build_star(4);
	fabric.silent = fabric.nodes[3];
	start_on_first_adapter();
	fake_run(&fabric, SECONDS(2), 64);
	assert_int_equal(status_now().node_count, 4);
	assert_false(status_now().subnet_is_up);
	assert_int_equal(fabric.nodes[2]->ports[1].info.port_state, PORT_ACTIVE);
	fabric.silent = NULL;
	fake_run(&fabric, SECONDS(14), 64);
	assert_subnet_is_up();
}

/* One in nine requests gets no response. */
static void test_lossy_subnet_comes_up_for_every_seed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		if (seed > 1) {
			fake_release(&fabric);
			fake_init(&fabric);
		}
		fabric.random = random_seeded(seed);
		fabric.loss_percent = 6;
		build_mesh(3, 3);
		start_on_first_adapter();
		for (unsigned round = 1; round <= 30 && !status_now().subnet_is_up; round++)
			fake_run(&fabric, fabric.now + SECONDS(10), 64);
		if (!status_now().subnet_is_up)
			fail_msg("seed %u does not come up", (unsigned)seed);
		assert_subnet_is_up();
	}
}

/* Links go and return at random while SMPs are lost. Afterwards the subnet is complete. */
static void test_flapping_links_settle_for_every_seed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		if (seed > 1) {
			fake_release(&fabric);
			fake_init(&fabric);
		}
		fabric.random = random_seeded(seed);
		build_mesh(3, 3);
		start_on_first_adapter();
		fabric.loss_percent = 5;
		for (unsigned round = 0; round < 30; round++) {
			struct node *node =
				fabric.nodes[random_below(&fabric.random, fabric.node_count)];
			struct port *port =
				&node->ports[1 + random_below(&fabric.random, node->port_count)];

			fake_run(&fabric,
				 fabric.now + MILLISECONDS(random_below(&fabric.random, 700)), 64);
			if (!port->peer)
				continue;
			if (port->cable_is_down)
				fake_mend(&fabric, port);
			else
				fake_cut(&fabric, port);
		}
		for (unsigned i = 0; i < fabric.node_count; i++) {
			for (unsigned k = 1; k <= fabric.nodes[i]->port_count; k++) {
				if (fabric.nodes[i]->ports[k].cable_is_down)
					fake_mend(&fabric, &fabric.nodes[i]->ports[k]);
			}
		}
		fabric.loss_percent = 0;
		fake_run(&fabric, fabric.now + SECONDS(30), 64);
		assert_subnet_is_up();
	}
}

/* 42 leaf switches with 24 adapters and 8 links up each, to 8 spines. */
static void test_thousand_adapters_come_up_balanced(void **state)
{
	(void)state;
	enum { LEAVES = 42, DOWN = 24, SPINES = 8 };
	struct node *spines[SPINES];

	for (unsigned i = 0; i < SPINES; i++)
		spines[i] = add_switch(100 + i, LEAVES);
	for (unsigned i = 0; i < LEAVES; i++) {
		struct node *leaf = add_switch(i, DOWN + SPINES);

		for (unsigned k = 0; k < SPINES; k++)
			fake_connect(leaf, DOWN + 1 + k, spines[k], i + 1);
		for (unsigned k = 0; k < DOWN; k++)
			fake_connect(leaf, k + 1,
				     fake_add(&fabric, NODE_CA, 1, 0x100000 + (i * DOWN + k) * 16u),
				     1);
	}
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);
	assert_subnet_is_up();
	assert_int_equal(status_now().port_count, LEAVES * DOWN + LEAVES + SPINES);

	/* The 984 adapters behind other leaves are spread evenly over the first leaf's uplinks. */
	const struct node *leaf = fabric.nodes[SPINES];
	unsigned load[DOWN + SPINES + 1] = {0};

	for (unsigned i = 0; i < fabric.node_count; i++) {
		if (!node_is_switch(fabric.nodes[i]))
			load[leaf->lft[fabric.nodes[i]->ports[1].info.lid]]++;
	}
	for (unsigned port = DOWN + 1; port <= DOWN + SPINES; port++)
		assert_in_range(load[port], 984 / SPINES - 1, 984 / SPINES + 1);
}

static void test_new_description_is_read_after_its_trap(void **state)
{
	(void)state;
	build_star(2);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);

	struct node *renamed = fabric.nodes[2];
	const struct subnet_node *known = subnet_find(&fabric.sm->subnet, renamed->info.node_guid);

	assert_string_equal(known->description, "node-2");
	memcpy(renamed->description, "NODE-2", 6);
	agent_capability_changed(&fabric.memory, &renamed->ports[1], fabric.now);
	fake_run(&fabric, MILLISECONDS(2), 64);
	known = subnet_find(&fabric.sm->subnet, renamed->info.node_guid);
	assert_string_equal(known->description, "NODE-2");
	assert_subnet_is_up();
}

static void test_get_of_sm_info_is_answered_by_the_master(void **state)
{
	(void)state;
	const struct smp_request request = {.method = MAD_GET, .attribute_id = ATTRIBUTE_SM_INFO};
	const struct directed_route here = {0};
	struct mad_message message;
	struct mad_message answers[4];
	struct sm_info info;

	build_star(2);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);
	smp_request_make(&request, &here, &message);
	sm_receive(fabric.sm, fabric.now, &message);
	assert_int_equal(sm_deadline(fabric.sm), 0);
	assert_int_equal(sm_transmit(fabric.sm, fabric.now, 4, answers), 1);
	assert_int_equal(answers[0].bytes[3], MAD_GET_RESPONSE);
	assert_int_equal(get_be16(answers[0].bytes + 4), 0x8000);
	sm_info_decode(smp_data(answers[0].bytes), &info);
	assert_int_equal(info.guid, fabric.sm_port->guid);
	assert_int_equal(info.sm_state, SM_MASTER);
	assert_int_equal(info.priority, 5);
	assert_true(info.act_count > 0);

	/* A control packet that is not for a master is refused (management 3.1). */
	message.bytes[3] = MAD_SET;
	put_be32(message.bytes + 20, 3);
	sm_receive(fabric.sm, fabric.now, &message);
	assert_int_equal(sm_transmit(fabric.sm, fabric.now, 4, answers), 1);
	assert_int_equal(get_be16(answers[0].bytes + 4), 0x8000 | MAD_STATUS_BAD_FIELD);
}

static void test_manager_stands_by_while_a_better_one_lives(void **state)
{
	(void)state;
	build_star(3);
	fabric.nodes[3]->ports[1].info.capability_mask |= CAPABILITY_IS_SM;
	fabric.other_sm = (struct sm_info){.guid = 1, .priority = 9, .sm_state = SM_MASTER};
	start_on_first_adapter();
	fake_run(&fabric, SECONDS(5), 64);
	assert_int_equal(status_now().state, SM_STANDBY);
	assert_int_equal(fabric.set_count, 0);

	fabric.other_sm.sm_state = SM_NOT_ACTIVE;
	fake_run(&fabric, SECONDS(12), 64);
	assert_subnet_is_up();

	/* A lower manager that comes later does not replace the master. */
	fabric.other_sm = (struct sm_info){.guid = 1, .priority = 2, .sm_state = SM_MASTER};
	sm_request_sweep(fabric.sm, fabric.now);
	fake_run(&fabric, SECONDS(13), 64);
	assert_subnet_is_up();
}

/* Only the master may clear PortStateChange of a switch. */
static void test_nobody_but_the_master_writes(void **state)
{
	(void)state;
	build_star(3);
	fabric.nodes[0]->switch_info.port_state_change = 1;
	fabric.nodes[3]->ports[1].info.capability_mask |= CAPABILITY_IS_SM;
	fabric.other_sm = (struct sm_info){.guid = 1, .priority = 9, .sm_state = SM_MASTER};
	start_on_first_adapter();
	fake_run(&fabric, SECONDS(5), 64);
	assert_int_equal(status_now().state, SM_STANDBY);
	assert_int_equal(fabric.set_count, 0);
	assert_int_equal(fabric.nodes[0]->switch_info.port_state_change, 1);

	/* A new master clears it and then reads the switch again. */
	fabric.other_sm.sm_state = SM_NOT_ACTIVE;
	fake_run(&fabric, SECONDS(12), 64);
	assert_subnet_is_up();
	assert_int_equal(fabric.nodes[0]->switch_info.port_state_change, 0);
}

/* With two masters, each takes traps and PortStateChange bits that were meant for the other. */
static void test_another_master_is_found_and_what_it_wrote_is_written_anew(void **state)
{
	uint16_t lid;

	(void)state;
	build_star(3);
	fabric.nodes[3]->ports[1].info.capability_mask |= CAPABILITY_IS_SM;
	fabric.other_sm = (struct sm_info){.guid = 9, .priority = 1, .sm_state = SM_STANDBY};
	start_on_first_adapter();
	fake_run(&fabric, SECONDS(1), 64);
	assert_subnet_is_up();

	lid = fabric.nodes[2]->ports[1].info.lid;
	fabric.nodes[0]->lft[lid] = 255;
	fake_run(&fabric, SECONDS(12), 64);
	assert_int_equal(fabric.nodes[0]->lft[lid], 255);
	fabric.other_sm.sm_state = SM_MASTER;
	fake_run(&fabric, SECONDS(23), 64);
	assert_int_not_equal(fabric.nodes[0]->lft[lid], 255);
	assert_int_equal(status_now().state, SM_MASTER);
	assert_subnet_is_up();
}

/* A short-lived master took the trap and the PortStateChange bit of a change. */
static void test_a_change_that_nobody_tells_of_is_found_some_day(void **state)
{
	struct node *hub;

	(void)state;
	build_star(3);
	start_on_first_adapter();
	fake_run(&fabric, SECONDS(1), 64);
	hub = fabric.nodes[0];
	hub->ports[3].info.port_state = PORT_ARMED;
	hub->ports[3].peer->info.port_state = PORT_INIT;
	fake_run(&fabric, SECONDS(33 * 10), 64);
	assert_int_equal(hub->ports[3].info.port_state, PORT_ACTIVE);
	assert_int_equal(hub->ports[3].peer->info.port_state, PORT_ACTIVE);
	assert_subnet_is_up();
}

/* The second trap of a link, and any later poll without news, is not a change. */
static void test_a_cable_is_one_change(void **state)
{
	uint32_t changes;
	uint64_t sets;

	(void)state;
	build_ring(6);
	start_on_first_adapter();
	fake_run(&fabric, MILLISECONDS(1), 64);
	changes = sm_change_count(fabric.sm);
	fake_cut(&fabric, &fabric.nodes[2]->ports[2]);
	fake_run(&fabric, SECONDS(3), 64);
	assert_true(fabric.trap_count >= 2);
	assert_int_equal(sm_change_count(fabric.sm), changes + 1);
	assert_int_equal(sm_reacts_since(fabric.sm), TIME_NEVER);
	sets = fabric.set_count;
	sm_request_sweep(fabric.sm, fabric.now);
	fake_run(&fabric, SECONDS(4), 64);
	assert_int_equal(fabric.set_count, sets);
	assert_subnet_is_up();
}

static void test_garbage_is_survived(void **state)
{
	(void)state;
	struct random random = random_seeded(7);
	struct mad_message message = {0};
	struct mad_message out[64];

	build_ring(3);
	start_on_first_adapter();
	sm_transmit(fabric.sm, 0, 64, out);
	for (unsigned i = 0; i < 20000; i++) {
		for (unsigned k = 0; k < MAD_BYTES; k++)
			message.bytes[k] = (uint8_t)random_next(&random);
		message.bytes[0] = 1;
		message.bytes[1] = i % 2 ? MAD_CLASS_SUBNET_DIRECTED : MAD_CLASS_SUBNET_LID;
		if (i % 3)
			message.bytes[3] = MAD_GET_RESPONSE;
		/* Transaction ids can be guessed, and so can statuses. */
		put_be64(message.bytes + 8, 1 << 10);
		put_be16(message.bytes + 4, i % 5 ? 0 : (uint16_t)i);
		put_be16(message.bytes + 16, i % 7 ? ATTRIBUTE_NODE_INFO : (uint16_t)i);
		sm_receive(fabric.sm, fabric.now, &message);
		sm_transmit(fabric.sm, fabric.now, 64, out);
	}
	sm_request_sweep(fabric.sm, fabric.now);
	fake_run(&fabric, fabric.now + SECONDS(60), 64);
	assert_subnet_is_up();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(test_star_comes_up_at_once_with_lids_routes_and_active_ports),
		TEST(test_ring_mesh_and_back_to_back_adapters_come_up),
		TEST(test_manager_on_a_switch_brings_its_subnet_up),
		TEST(test_second_heavy_sweep_of_a_steady_subnet_sets_nothing),
		TEST(test_light_sweep_asks_switches_only),
		TEST(test_trap_of_a_lost_link_moves_routes_at_once_and_back_when_it_returns),
		TEST(test_change_without_a_trap_is_found_by_the_next_light_sweep),
		TEST(test_vanished_node_is_dropped_and_has_its_lid_again_when_it_returns),
		TEST(test_lids_that_ports_have_already_are_kept),
		TEST(test_part_without_a_cable_is_left_alone),
		TEST(test_second_node_with_a_guid_is_left_out),
		TEST(test_silent_node_is_left_out_and_found_when_it_speaks),
		TEST(test_lossy_subnet_comes_up_for_every_seed),
		TEST(test_flapping_links_settle_for_every_seed),
		TEST(test_thousand_adapters_come_up_balanced),
		TEST(test_new_description_is_read_after_its_trap),
		TEST(test_get_of_sm_info_is_answered_by_the_master),
		TEST(test_manager_stands_by_while_a_better_one_lives),
		TEST(test_nobody_but_the_master_writes),
		TEST(test_another_master_is_found_and_what_it_wrote_is_written_anew),
		TEST(test_a_change_that_nobody_tells_of_is_found_some_day),
		TEST(test_a_cable_is_one_change),
		TEST(test_garbage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
