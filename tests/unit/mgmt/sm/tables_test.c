/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that the manager writes besides LIDs and routes: P_Key tables and their enforcement, VL
 * tables, multicast trees, keys, LMC; and how little it writes after a small change (management
 * 3.2, 3.4). Covers: mgmt/sm/pkey_tables.c mgmt/sm/vl_tables.c mgmt/sm/multicast_tables.c
 * mgmt/sm/routes.c mgmt/subnet/port_partitions.c mgmt/subnet/subnet_path.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "fake_fabric.h"
#include "mgmt/sm/sweep.h"
#include "mgmt/subnet/subnet_path.h"
#include "net/link/arbitration.h"
#include "net/link/lane_tables.h"
#include "net/link/link.h"
#include "wire/mtu.h"

static struct fake_fabric fabric;

enum { CA_GUID = 0x1000, SWITCH_GUID = 0x9000 };

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

static struct node *add_ca(unsigned index)
{
	return fake_add(&fabric, NODE_CA, 1, CA_GUID + index * 16u);
}

static struct node *add_switch(unsigned index, unsigned port_count)
{
	return fake_add(&fabric, NODE_SWITCH, port_count, SWITCH_GUID + index * 16u);
}

static struct node *switches[8], *hosts[8];

/* Switches in a ring by ports 1 and 2, a host on port 3 of each. */
static void build_ring(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		switches[i] = add_switch(i, 4);
		hosts[i] = add_ca(i);
		fake_connect(switches[i], 3, hosts[i], 1);
	}
	for (unsigned i = 0; i < count; i++)
		fake_connect(switches[i], 2, switches[(i + 1) % count], 1);
}

static void start(const struct sm_options *options)
{
	fake_start_sm(&fabric, hosts[0], options);
	fake_run(&fabric, MILLISECONDS(10), 64);

	struct sm_status status;

	sm_status(fabric.sm, &status);
	assert_true(status.subnet_is_up);
}

static void read_partitions(struct partitions *partitions, const char *text)
{
	struct policy_error error;

	assert_int_equal(partitions_parse(partitions, text, strlen(text), &error), 0);
}

static void test_partitions_are_written_and_enforced_at_leaf_ports(void **state)
{
	struct partitions partitions;
	struct sm_options options = {.partitions = &partitions};

	(void)state;
	read_partitions(&partitions, "a=0x1: 0x1011=full, 0x1021;");
	build_ring(4);
	start(&options);

	/* The manager's port; a full member; a limited member; no member. */
	static const uint16_t expected[4][2] = {
		{0xffff, 0}, {0x7fff, 0x8001}, {0x7fff, 0x0001}, {0x7fff, 0}};

	for (unsigned i = 0; i < 4; i++) {
		const struct port *leaf = &switches[i]->ports[3];

		for (unsigned k = 0; k < 2; k++) {
			assert_int_equal(hosts[i]->ports[1].pkeys[k], expected[i][k]);
			assert_int_equal(leaf->pkeys[k], expected[i][k]);
		}
		assert_true(leaf->info.partition_enforcement_inbound);
		assert_true(leaf->info.partition_enforcement_outbound);
		assert_false(switches[i]->ports[1].info.partition_enforcement_inbound);
	}

	/* What the SA reads. */
	const struct subnet *subnet = sm_subnet(fabric.sm);
	const struct subnet_port *full = subnet_port_by_guid(subnet, 0x1011);
	const struct subnet_port *limited = subnet_port_by_guid(subnet, 0x1021);
	const struct subnet_port *none = subnet_port_by_guid(subnet, 0x1031);
	uint16_t keys[4];

	assert_int_equal(subnet_shared_pkeys(full, limited, 4, keys), 1);
	assert_int_equal(keys[0], 0x8001);
	assert_int_equal(subnet_shared_pkeys(limited, full, 4, keys), 1);
	assert_int_equal(keys[0], 0x0001);
	assert_int_equal(subnet_shared_pkeys(limited, none, 4, keys), 0);
	assert_true(subnet_ports_share_pkey(full, limited, 0x0001));
	assert_false(subnet_ports_share_pkey(limited, none, 0x7fff));
	/* Every port reaches the manager by the default partition (management 3.5). */
	assert_true(subnet_ports_share_pkey(none, subnet_port_by_guid(subnet, 0x1001), 0xffff));
}

/* Another manager, or an earlier run, put a key at an index that programs have cached (management
 * 3.5). */
static void test_keys_keep_their_index(void **state)
{
	struct partitions partitions;
	struct sm_options options = {.partitions = &partitions};

	(void)state;
	read_partitions(&partitions, "a=0x1: ALL=full; b=0x2: ALL=full;");
	build_ring(3);
	hosts[1]->ports[1].pkeys[1] = 0x8009;
	hosts[1]->ports[1].pkeys[5] = 0x8002;
	start(&options);
	assert_int_equal(hosts[1]->ports[1].pkeys[5], 0x8002);
	assert_int_equal(hosts[1]->ports[1].pkeys[1], 0x8001);
}

static void test_default_partition_alone_is_not_enforced(void **state)
{
	struct sm_options options = {0};

	(void)state;
	build_ring(3);
	start(&options);
	assert_false(switches[0]->ports[3].info.partition_enforcement_inbound);
	assert_int_equal(hosts[1]->ports[1].pkeys[0], 0xffff);
}

static void test_enforcement_is_as_asked_for(void **state)
{
	static const struct {
		enum part_enforce enforce;
		bool inbound, outbound;
	} cases[] = {{PART_ENFORCE_BOTH, true, true},
		     {PART_ENFORCE_IN, true, false},
		     {PART_ENFORCE_OUT, false, true},
		     {PART_ENFORCE_OFF, false, false}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct partitions partitions;
		struct sm_options options = {.partitions = &partitions,
					     .part_enforce = (uint8_t)cases[i].enforce};

		read_partitions(&partitions, "a=0x1: 0x1011=full, 0x1021;");
		build_ring(3);
		start(&options);

		const struct port_info *leaf = &switches[1]->ports[3].info;

		assert_int_equal(leaf->partition_enforcement_inbound, cases[i].inbound);
		assert_int_equal(leaf->partition_enforcement_outbound, cases[i].outbound);
		assert_int_equal(switches[1]->ports[3].pkeys[1], 0x8001);
		fake_release(&fabric);
		fake_init(&fabric);
	}
}

/* An operator turns off enforcement at one port. Later sweeps leave that alone. */
static void test_enforcement_of_one_port_can_be_turned_off(void **state)
{
	struct partitions partitions;
	struct sm_options options = {.partitions = &partitions};

	(void)state;
	read_partitions(&partitions, "a=0x1: 0x1011=full, 0x1021;");
	build_ring(3);
	start(&options);
	switches[1]->ports[3].info.partition_enforcement_inbound = 0;
	subnet_unsettle(&fabric.sm->subnet);
	sm_request_sweep(fabric.sm, fabric.now);
	fake_run(&fabric, MILLISECONDS(10), 64);
	assert_false(switches[1]->ports[3].info.partition_enforcement_inbound);
	assert_true(switches[1]->ports[3].info.partition_enforcement_outbound);
	assert_true(switches[2]->ports[3].info.partition_enforcement_inbound);
}

/* Members of a partition may be beyond the router, which the file does not name. */
static void test_routers_carry_and_enforce_every_partition(void **state)
{
	struct partitions partitions;
	struct sm_options options = {.partitions = &partitions};
	struct node *router;

	(void)state;
	read_partitions(&partitions, "a=0x1: 0x1011=full, 0x7777=full;");
	build_ring(3);
	router = fake_add(&fabric, NODE_ROUTER, 2, 0x5000);
	fake_connect(switches[2], 4, router, 1);
	start(&options);
	assert_int_equal(router->ports[1].pkeys[0], 0xffff);
	assert_int_equal(router->ports[1].pkeys[1], 0x8001);
	assert_int_equal(switches[2]->ports[4].pkeys[1], 0x8001);
	assert_true(switches[2]->ports[4].info.partition_enforcement_inbound);
	assert_true(router->ports[1].info.partition_enforcement_inbound);
	assert_true(router->ports[1].info.partition_enforcement_outbound);
	assert_false(hosts[1]->ports[1].info.partition_enforcement_inbound);
}

/* Gives the port this VLCap code, and trains its link. */
static void set_lanes(struct port *port, uint8_t vl_cap)
{
	(void)link_fall(port, PHYSICAL_POLLING);
	port_set_vl_cap(port, vl_cap);
	assert_true(link_train(port));
}

static void expect_maps(const struct port *port, unsigned lane_count)
{
	for (unsigned row = 0; row < port->sl_to_vl_row_count; row++)
		for (uint8_t sl = 0; sl < SL_COUNT; sl++)
			assert_int_equal(port->sl_to_vl[row][sl], sl % lane_count);
}

/* Without a policy, SLs use the VLs of each link, at both ends (management 3.6). */
static void test_sls_are_spread_over_the_lanes_of_each_link(void **state)
{
	struct sm_options options = {0};

	(void)state;
	build_ring(3);
	set_lanes(&hosts[1]->ports[1], 1);
	set_lanes(&switches[2]->ports[3], 2);
	start(&options);
	expect_maps(&hosts[0]->ports[1], 8);
	expect_maps(&switches[0]->ports[1], 8);
	expect_maps(&switches[0]->ports[3], 8);
	expect_maps(&hosts[1]->ports[1], 1);
	expect_maps(&switches[1]->ports[3], 1);
	expect_maps(&switches[1]->ports[1], 8);
	expect_maps(&hosts[2]->ports[1], 2);
	expect_maps(&switches[2]->ports[3], 2);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(hosts[i]->ports[1].info.operational_vls,
				 switches[i]->ports[3].info.operational_vls);
}

/* The same for switches that take only one table per Set. */
static void test_sls_are_spread_where_each_table_is_a_set(void **state)
{
	struct sm_options options = {0};

	(void)state;
	build_ring(3);
	for (unsigned i = 0; i < 3; i++)
		switches[i]->switch_info.optimized_sl_to_vl = 0;
	set_lanes(&hosts[1]->ports[1], 2);
	start(&options);
	for (uint8_t sl = 0; sl < SL_COUNT; sl++) {
		assert_int_equal(switches[1]->ports[3].sl_to_vl[1][sl], sl % 2);
		assert_int_equal(switches[1]->ports[3].sl_to_vl[0][sl], sl % 2);
		assert_int_equal(switches[1]->ports[1].sl_to_vl[3][sl], sl % 8);
	}
}

static void run_on(void)
{
	sm_request_sweep(fabric.sm, fabric.now);
	fake_run(&fabric, fabric.now + MILLISECONDS(10), 64);
}

/* A link moves to a port with fewer VLs, and back. */
static void test_maps_are_rewritten_when_a_link_has_other_lanes(void **state)
{
	struct sm_options options = {0};
	struct port *port;

	(void)state;
	build_ring(3);
	port = &switches[1]->ports[3];
	start(&options);
	expect_maps(port, 8);
	for (unsigned vl_cap = 1; vl_cap <= 4; vl_cap++) {
		fake_cut(&fabric, port);
		run_on();
		port_set_vl_cap(port->peer, (uint8_t)vl_cap);
		fake_mend(&fabric, port);
		run_on();
		assert_int_equal(port->info.port_state, PORT_ACTIVE);
		assert_int_equal(port->info.operational_vls, vl_cap);
		expect_maps(port, 1u << (vl_cap - 1));
		expect_maps(port->peer, 1u << (vl_cap - 1));
	}
}

/* Another manager left tables that give some VLs no weight. */
static void test_arbitration_of_links_that_others_brought_up_is_written(void **state)
{
	struct sm_options options = {0};
	struct port *port;

	(void)state;
	build_ring(3);
	port = &hosts[2]->ports[1];
	for (unsigned entry = 0; entry < 8; entry++)
		port_arbitration_set(port, TABLE_LOW, entry, 0, 1);
	port->info.port_state = port->peer->info.port_state = PORT_ACTIVE;
	start(&options);
	for (unsigned vl = 0; vl < 8; vl++) {
		assert_int_equal(port->vl_arbitration[TABLE_LOW][vl][0], vl);
		assert_int_equal(port->vl_arbitration[TABLE_LOW][vl][1], 64);
	}
}

static void test_lanes_follow_the_policy(void **state)
{
	static const char text[] = "sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,15\n"
				   "vlarb_low 0:10,1:20\nvlarb_high 2:30\nhigh_limit 9\n";
	struct policy_error error;
	struct qos qos;
	struct sm_options options = {.qos = &qos};

	(void)state;
	assert_int_equal(qos_parse(&qos, text, sizeof(text) - 1, &error), 0);
	build_ring(3);
	set_lanes(&switches[1]->ports[1], 2);
	start(&options);
	assert_int_equal(hosts[1]->ports[1].sl_to_vl[0][9], 1);
	assert_int_equal(hosts[1]->ports[1].sl_to_vl[0][15], 15);
	assert_int_equal(switches[2]->ports[3].sl_to_vl[1][5], 5);
	/* Folded where the link has fewer VLs, at both ends (management 3.6). */
	assert_int_equal(switches[1]->ports[1].info.operational_vls, 2);
	assert_int_equal(switches[1]->ports[1].sl_to_vl[3][5], 1);
	assert_int_equal(switches[0]->ports[2].sl_to_vl[3][5], 1);
	assert_int_equal(switches[2]->ports[3].vl_arbitration[0][1][1], 20);
	/* The weight of a VL is added to the VL onto which it is folded. */
	assert_int_equal(switches[2]->ports[3].vl_arbitration[1][0][0], 2);
	assert_int_equal(switches[1]->ports[1].vl_arbitration[1][0][0], 0);
	assert_int_equal(switches[1]->ports[1].vl_arbitration[1][0][1], 30);
	assert_int_equal(switches[2]->ports[3].info.vl_high_limit, 9);
}

/* C14-22: one PortInfo carries M_Key, protect bits and lease. C14-62.1.1.13: by policy. */
static void test_keys_and_times_are_written(void **state)
{
	struct sm_options options = {.mkey = 0x1234,
				     .mkey_lease_period = 60,
				     .mkey_protect_bits = 1,
				     .gid_prefix = 0xfec0000000000001};

	(void)state;
	build_ring(3);
	start(&options);
	assert_int_equal(hosts[2]->ports[1].info.mkey, 0x1234);
	assert_int_equal(switches[2]->ports[0].info.mkey, 0x1234);
	assert_int_equal(hosts[2]->ports[1].info.mkey_lease_period, 60);
	assert_int_equal(hosts[2]->ports[1].info.mkey_protect_bits, 1);
	assert_int_equal(hosts[2]->ports[1].info.gid_prefix, 0xfec0000000000001);
	assert_int_equal(switches[1]->ports[1].info.hoq_life, 0x12);
	assert_int_equal(switches[1]->ports[3].info.hoq_life, 0x10);
	assert_int_equal(switches[1]->switch_info.life_time_value, 0x12);
	/* Still its own master, with its own keys. */
	sm_request_sweep(fabric.sm, fabric.now);
	fake_run(&fabric, fabric.now + SECONDS(5), 64);
	fake_assert_all_active(&fabric);
}

/* C14-44: a node with an unknown M_Key is left alone, and a warning names it. */
static unsigned warning_count;

static void count_warnings(void *context, enum sm_event event, const char *line)
{
	(void)context;
	warning_count += event == SM_EVENT_WARNING && strstr(line, "M_Key") != NULL;
}

static void test_node_with_an_unknown_mkey_is_told_of(void **state)
{
	struct sm_options options = {.owner = {.log = count_warnings}};
	struct sm_status status;

	(void)state;
	build_ring(3);
	hosts[2]->ports[1].info.mkey = 99;
	hosts[2]->ports[1].info.mkey_protect_bits = 1;
	warning_count = 0;
	fake_start_sm(&fabric, hosts[0], &options);
	fake_run(&fabric, SECONDS(3), 64);
	sm_status(fabric.sm, &status);
	assert_int_equal(status.state, SM_MASTER);
	assert_false(status.subnet_is_up);
	assert_true(warning_count > 0);
	assert_int_equal(hosts[2]->ports[1].info.lid, 0);
	assert_int_equal(hosts[1]->ports[1].info.port_state, PORT_ACTIVE);
	/* A key that can be read is used (management 3.7). */
	hosts[2]->ports[1].info.mkey_protect_bits = 0;
	sm_request_sweep(fabric.sm, fabric.now);
	fake_run(&fabric, fabric.now + SECONDS(3), 64);
	fake_assert_all_active(&fabric);
	assert_int_equal(hosts[2]->ports[1].info.mkey, 0);
}

static unsigned lie_count;

static void count_lies(void *context, enum sm_event event, const char *line)
{
	(void)context;
	lie_count += event == SM_EVENT_WARNING && strstr(line, "reports 9 ports") != NULL;
}

/* Existing ports are used. Each port that the switch only claims is reported once per sweep. */
static void test_switch_that_claims_ports_is_used_as_far_as_it_goes(void **state)
{
	struct sm_options options = {.owner = {.log = count_lies}};

	(void)state;
	build_ring(3);
	switches[1]->info.port_count = 9;
	lie_count = 0;
	start(&options);
	assert_int_equal(lie_count, 5);
	fake_assert_all_active(&fabric);
	fake_assert_all_reachable(&fabric);
}

static void test_lmc_gives_aligned_ranges_by_different_ways(void **state)
{
	struct sm_options options = {.lmc = 2};

	(void)state;
	build_ring(4);
	start(&options);
	for (unsigned i = 0; i < 4; i++) {
		const struct port *port = &hosts[i]->ports[1];
		const struct port *end;

		assert_int_equal(port->info.lmc, 2);
		assert_int_equal(port->info.lid % 4, 0);
		for (uint16_t k = 0; k < 4; k++)
			assert_true(switches[0]->lft[port->info.lid + k] != 255);
		assert_true(fake_walk(&hosts[0]->ports[1], port->info.lid, &end) >= 0);
	}
	/* There are two paths to the far side of the ring, and both are used. */
	uint16_t far = hosts[2]->ports[1].info.lid;
	unsigned ways = 0;

	for (uint16_t k = 0; k < 4; k++)
		ways |= 1u << switches[0]->lft[far + k];
	assert_int_equal(ways, 1u << 1 | 1u << 2);
	assert_int_equal(switches[0]->ports[0].info.lmc, 0);
}

static unsigned delivered[8];

/* A packet to the MLID enters a switch by this port. Counts the hosts that it reaches. */
static void spread(const struct node *node, unsigned input, unsigned mlid_index, unsigned depth)
{
	assert_true(depth < 16); /* otherwise it loops */
	for (unsigned port = 1; port <= node->port_count; port++) {
		uint16_t mask = node->mft[mlid_index][port / 16];
		const struct port *peer = node->ports[port].peer;

		if (port == input || !(mask >> (port % 16) & 1) || !peer ||
		    node->ports[port].cable_is_down)
			continue;
		if (node_is_switch(peer->node)) {
			spread(peer->node, peer->number, mlid_index, depth + 1);
			continue;
		}
		for (unsigned i = 0; i < 8; i++)
			delivered[i] += hosts[i] == peer->node;
	}
}

static void join(struct multicast_group *group, unsigned index, uint8_t join_state)
{
	struct multicast_member *member;

	assert_int_equal(
		multicast_group_join(group, hosts[index]->ports[1].guid, join_state, &member), 0);
	sm_multicast_changed(fabric.sm, group->mlid);
}

static void expect_delivery(const struct multicast_group *group, unsigned from,
			    const unsigned expected[static 4])
{
	memset(delivered, 0, sizeof(delivered));
	spread(switches[from], 3, group->mlid - LID_MULTICAST_FIRST, 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(delivered[i], expected[i]);
}

/* o15-0.1.12: a send-only non-member sends to the group and gets no packets. */
static void test_multicast_reaches_each_receiver_once(void **state)
{
	struct sm_options options = {.sweep_interval = SECONDS(1)};
	struct gid mgid = multicast_broadcast_mgid(2, 0xffff);

	(void)state;
	build_ring(4);
	start(&options);

	struct multicast_group *group =
		multicast_groups_find(sm_multicast_groups(fabric.sm), &mgid);

	assert_non_null(group);
	join(group, 0, JOIN_FULL);
	join(group, 1, JOIN_FULL);
	join(group, 2, JOIN_SEND_ONLY);
	join(group, 3, JOIN_NON);
	fake_run(&fabric, fabric.now + MILLISECONDS(10), 64);
	expect_delivery(group, 0, (const unsigned[]){0, 1, 0, 1});
	expect_delivery(group, 2, (const unsigned[]){1, 1, 0, 1});

	/* A link of the ring goes: the tree uses another path. */
	for (unsigned i = 0; i < 4; i++) {
		fake_cut(&fabric, &switches[i]->ports[2]);
		fake_run(&fabric, fabric.now + SECONDS(3), 64);
		expect_delivery(group, 1, (const unsigned[]){1, 0, 0, 1});
		fake_mend(&fabric, &switches[i]->ports[2]);
		fake_run(&fabric, fabric.now + SECONDS(3), 64);
	}

	/* A member that left and one that is gone get no packets and are not part of the tree. */
	(void)multicast_group_leave(group, multicast_group_member(group, hosts[1]->ports[1].guid),
				    JOIN_ALL);
	sm_multicast_changed(fabric.sm, group->mlid);
	fake_cut(&fabric, &hosts[3]->ports[1]);
	fake_run(&fabric, fabric.now + SECONDS(3), 64);
	expect_delivery(group, 2, (const unsigned[]){1, 0, 0, 0});
	for (unsigned port = 1; port <= 3; port++)
		assert_false(switches[3]->mft[group->mlid - LID_MULTICAST_FIRST][0] >> port & 1);
}

/* The ring has a link of 512 bytes, so a group of 2048 bytes uses the other direction. */
static void test_multicast_avoids_links_that_do_not_carry_the_group(void **state)
{
	struct sm_options options = {.sweep_interval = SECONDS(1)};
	struct gid mgid = multicast_broadcast_mgid(2, 0xffff);

	(void)state;
	build_ring(4);
	switches[0]->ports[2].info.mtu_cap = MTU_512;
	start(&options);

	struct multicast_group *group =
		multicast_groups_find(sm_multicast_groups(fabric.sm), &mgid);

	assert_int_equal(group->characteristics.mtu, MTU_2048);
	join(group, 0, JOIN_FULL);
	join(group, 1, JOIN_FULL);
	fake_run(&fabric, fabric.now + MILLISECONDS(10), 64);
	expect_delivery(group, 0, (const unsigned[]){0, 1, 0, 0});
	assert_false(switches[0]->mft[group->mlid - LID_MULTICAST_FIRST][0] >> 2 & 1);
	assert_true(switches[2]->mft[group->mlid - LID_MULTICAST_FIRST][0] >> 2 & 1);
	assert_false(group->tree_is_unfit);
}

static void test_mlids_fit_into_the_smallest_multicast_table(void **state)
{
	struct sm_options options = {.sweep_interval = SECONDS(1)};

	(void)state;
	build_ring(4);
	switches[1]->switch_info.multicast_fdb_cap = 32;
	switches[2]->switch_info.multicast_fdb_cap = 0;
	start(&options);
	assert_int_equal(sm_multicast_groups(fabric.sm)->mlid_count_max, 32);
}

static unsigned asked_count;
static uint64_t asked_guid;

static void count_asked(void *context, time_ns now, const struct subnet_port *port)
{
	(void)context;
	(void)now;
	asked_count++;
	asked_guid = port->guid;
}

static void test_reregistration_is_asked_of_one_port_without_a_sweep(void **state)
{
	struct sm_options options = {.sweep_interval = SECONDS(100),
				     .owner = {.reregistration_asked = count_asked}};

	(void)state;
	build_ring(4);
	start(&options);
	asked_count = 0;

	uint64_t reregister_before = fabric.reregister_count;
	uint64_t before = fabric.smp_count;

	sm_ask_reregistration(fabric.sm, hosts[2]->ports[1].guid);
	sm_ask_reregistration(fabric.sm, hosts[2]->ports[1].guid);
	sm_ask_reregistration(fabric.sm, 0x12345);
	fake_run(&fabric, fabric.now + MILLISECONDS(10), 64);
	assert_int_equal(fabric.reregister_count, reregister_before + 1);
	assert_int_equal(asked_count, 1);
	assert_int_equal(asked_guid, hosts[2]->ports[1].guid);
	assert_true(fabric.smp_count - before <= 2);
	/* A port that does not support ClientReregister does not get it. */
	hosts[1]->ports[1].info.capability_mask &= ~(uint32_t)CAPABILITY_CLIENT_REREGISTRATION;
	sm_request_sweep(fabric.sm, fabric.now);
	fake_run(&fabric, fabric.now + MILLISECONDS(10), 64);
	sm_ask_reregistration(fabric.sm, hosts[1]->ports[1].guid);
	fake_run(&fabric, fabric.now + MILLISECONDS(10), 64);
	assert_int_equal(asked_count, 1);
}

/* The Set gets lost, or the port does not answer: it counts only after a response. */
static void test_reregistration_is_repeated_until_answered(void **state)
{
	struct sm_options options = {.sweep_interval = SECONDS(1),
				     .owner = {.reregistration_asked = count_asked}};

	(void)state;
	build_ring(4);
	start(&options);
	asked_count = 0;
	fabric.loss_percent = 60;
	sm_ask_reregistration(fabric.sm, hosts[2]->ports[1].guid);
	fake_run(&fabric, fabric.now + SECONDS(60), 64);
	assert_true(asked_count >= 1);
}

static void test_one_cut_link_costs_few_packets_and_no_discovery(void **state)
{
	struct sm_options options = {.sweep_interval = SECONDS(100)};

	(void)state;
	build_ring(8);
	start(&options);

	uint64_t before = fabric.smp_count;

	fake_cut(&fabric, &switches[3]->ports[2]);
	fake_run(&fabric, fabric.now + MILLISECONDS(10), 64);
	fake_assert_all_active(&fabric);
	fake_assert_all_reachable(&fabric);
	/* The ports of two switches are read, and each table has at most one block to change. */
	assert_true(fabric.smp_count - before < 2 * 8 + 8 + 8);
	/* A host that returns gets its former LID and needs no new route. */
	fake_cut(&fabric, &hosts[5]->ports[1]);
	fake_run(&fabric, fabric.now + SECONDS(3), 64);
	before = fabric.smp_count;
	fake_mend(&fabric, &hosts[5]->ports[1]);
	fake_run(&fabric, fabric.now + MILLISECONDS(5), 64);
	fake_assert_all_reachable(&fabric);
	assert_true(fabric.smp_count - before < 32);
}

static void test_paths_have_the_least_mtu_and_rate_on_the_way(void **state)
{
	struct sm_options options = {0};
	struct subnet_path path;

	(void)state;
	build_ring(4);
	switches[1]->ports[3].info.mtu_cap = 3;
	hosts[1]->ports[1].info.link_width_active = 1;
	switches[1]->ports[3].info.link_width_active = 1;
	start(&options);

	const struct subnet *subnet = sm_subnet(fabric.sm);
	const struct subnet_port *from = subnet_port_by_guid(subnet, CA_GUID + 1);
	const struct subnet_port *to = subnet_port_by_guid(subnet, CA_GUID + 16 + 1);

	assert_true(subnet_path_find(subnet, from, to->lid, &path));
	assert_int_equal(path.mtu, 3);
	assert_int_equal(path.hop_count, 3);
	assert_int_equal(path.rate, 15); /* 1x EDR */
	assert_true(subnet_path_find(subnet, from, from->lid, &path));
	assert_int_equal(path.hop_count, 0);
	assert_int_equal(path.mtu, 5);
	assert_int_equal(path.rate, 16);
	assert_false(subnet_path_find(subnet, from, 0x9999, &path));
}

static void test_lids_outlive_the_manager_as_text(void **state)
{
	struct sm_options options = {0};
	char *text;

	(void)state;
	build_ring(3);
	fake_start_sm(&fabric, hosts[0], &options);
	assert_int_equal(
		sm_lids_remember(fabric.sm,
				 "# comment\n0x1011 0x64 0x64\nnonsense\n"
				 "0x1021 0x64 0x64\n0x1021 0x70 0x73\n0x5555 0 0\n",
				 strlen("# comment\n0x1011 0x64 0x64\nnonsense\n"
					"0x1021 0x64 0x64\n0x1021 0x70 0x73\n0x5555 0 0\n")),
		3);
	fake_run(&fabric, MILLISECONDS(10), 64);
	assert_int_equal(hosts[1]->ports[1].info.lid, 0x64);
	assert_int_equal(hosts[2]->ports[1].info.lid, 0x70);
	text = sm_lids_text(fabric.sm);
	assert_non_null(strstr(text, "0x0000000000001011 0x0064 0x0064\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(test_partitions_are_written_and_enforced_at_leaf_ports),
		TEST(test_keys_keep_their_index),
		TEST(test_default_partition_alone_is_not_enforced),
		TEST(test_enforcement_is_as_asked_for),
		TEST(test_enforcement_of_one_port_can_be_turned_off),
		TEST(test_routers_carry_and_enforce_every_partition),
		TEST(test_lanes_follow_the_policy),
		TEST(test_sls_are_spread_over_the_lanes_of_each_link),
		TEST(test_sls_are_spread_where_each_table_is_a_set),
		TEST(test_maps_are_rewritten_when_a_link_has_other_lanes),
		TEST(test_arbitration_of_links_that_others_brought_up_is_written),
		TEST(test_keys_and_times_are_written),
		TEST(test_node_with_an_unknown_mkey_is_told_of),
		TEST(test_switch_that_claims_ports_is_used_as_far_as_it_goes),
		TEST(test_lmc_gives_aligned_ranges_by_different_ways),
		TEST(test_multicast_reaches_each_receiver_once),
		TEST(test_multicast_avoids_links_that_do_not_carry_the_group),
		TEST(test_mlids_fit_into_the_smallest_multicast_table),
		TEST(test_reregistration_is_asked_of_one_port_without_a_sweep),
		TEST(test_reregistration_is_repeated_until_answered),
		TEST(test_one_cut_link_costs_few_packets_and_no_discovery),
		TEST(test_paths_have_the_least_mtu_and_rate_on_the_way),
		TEST(test_lids_outlive_the_manager_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
