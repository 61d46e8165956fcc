/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast trees (management 3.4) over a ring of three switches, each with one host:
 *
 *	h1 - s1 == s2 - h2     port 2 of each switch leads to port 3 of the next one:
 *	       \\ //            s1 to s2, s2 to s3, s3 to s1
 *	        s3 - h3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/subnet/multicast_tree.h"
#include "wire/mtu.h"
#include "wire/rate.h"

enum { RING = 3, PORT_HOST = 1, PORT_NEXT = 2, PORT_PREVIOUS = 3, RATE_100 = 16, RATE_10 = 3 };

static struct subnet subnet;
static struct subnet_node *switches[RING], *hosts[RING];
static struct multicast_group *group;
static struct multicast_tree tree;

static struct subnet_node *meet(enum node_type type, uint64_t guid, unsigned port_count,
				unsigned local_port, struct subnet_port *via)
{
	const struct node_info info = {
		.base_version = 1,
		.class_version = 1,
		.node_type = (uint8_t)type,
		.port_count = (uint8_t)port_count,
		.node_guid = guid,
		.port_guid = guid,
		.local_port_number = (uint8_t)local_port,
	};
	const struct directed_route route = {0};
	struct subnet_node *node = NULL;
	enum subnet_add_result result = subnet_add_node(&subnet, &info, &route, via, &node);

	assert_true(result == SUBNET_NEW || result == SUBNET_KNOWN);
	return node;
}

static void set_up_ports(struct subnet_node *node)
{
	for (unsigned i = 0; i <= node->port_count; i++) {
		struct port_info *info = &node->ports[i].info;

		node->ports[i].is_known = true;
		info->port_state = PORT_ACTIVE;
		info->mtu_cap = MTU_4096;
		info->neighbor_mtu = MTU_4096;
		info->link_width_active = LINK_WIDTH_4X;
		info->link_speed_active = LINK_SPEED_QDR;
		info->link_speed_ext_active = 2; /* EDR */
	}
}

static int set_up(void **state)
{
	const struct multicast_characteristics characteristics = {.mtu = MTU_2048,
								  .rate = RATE_100};
	const struct gid mgid = gid_from(0xff12a01cfe800000, 1);

	(void)state;
	subnet_init(&subnet);
	subnet_begin_sweep(&subnet);
	switches[0] = meet(NODE_SWITCH, 0x201, 4, 0, NULL);
	for (unsigned i = 0; i < RING; i++)
		switches[(i + 1) % RING] = meet(NODE_SWITCH, 0x201 + (i + 1) % RING, 4,
						PORT_PREVIOUS, &switches[i]->ports[PORT_NEXT]);
	for (unsigned i = 0; i < RING; i++) {
		hosts[i] = meet(NODE_CA, 0x101 + i, 1, 1, &switches[i]->ports[PORT_HOST]);
		set_up_ports(switches[i]);
		set_up_ports(hosts[i]);
		switches[i]->switch_index = i;
		switches[i]->switch_info.multicast_fdb_cap = 8;
	}
	assert_int_equal(subnet_assign_lids(&subnet), 0);
	assert_int_equal(
		multicast_groups_create(&subnet.multicast_groups, &mgid, &characteristics, &group),
		0);
	assert_int_equal(multicast_tree_init(&tree, &subnet), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	multicast_tree_release(&tree);
	subnet_release(&subnet);
	return 0;
}

static void join(unsigned host)
{
	struct multicast_member *member;

	assert_int_equal(
		multicast_group_join(group, hosts[host]->ports[1].guid, JOIN_FULL, &member), 0);
}

static bool can_join(unsigned host)
{
	const struct multicast_demand demand = {.mlid = group->mlid,
						.mtu = group->characteristics.mtu,
						.rate = group->characteristics.rate};

	return multicast_tree_can_include(&tree, &subnet, group, &hosts[host]->ports[1], &demand);
}

/* The link from this switch to the next one of the ring. */
static void set_mtu(unsigned from, uint8_t mtu)
{
	switches[from]->ports[PORT_NEXT].info.neighbor_mtu = mtu;
	switches[(from + 1) % RING]->ports[PORT_PREVIOUS].info.neighbor_mtu = mtu;
}

static void set_rate_10(unsigned from)
{
	struct port_info *ends[] = {&switches[from]->ports[PORT_NEXT].info,
				    &switches[(from + 1) % RING]->ports[PORT_PREVIOUS].info};

	for (unsigned i = 0; i < 2; i++) {
		ends[i]->link_speed_ext_active = 0;
		ends[i]->link_speed_active = LINK_SPEED_SDR;
	}
}

static void test_tree_connects_members_by_the_shortest_way(void **state)
{
	(void)state;
	join(0);
	join(1);
	assert_true(multicast_tree_make(&tree, &subnet, group));
	assert_int_equal(tree.masks[0][0], 1 << PORT_HOST | 1 << PORT_NEXT);
	assert_int_equal(tree.masks[1][0], 1 << PORT_HOST | 1 << PORT_PREVIOUS);
	assert_int_equal(tree.masks[2][0], 0);
}

static void test_tree_goes_around_links_with_a_small_mtu(void **state)
{
	(void)state;
	join(0);
	set_mtu(0, MTU_512);
	assert_true(can_join(1));
	join(1);
	assert_true(multicast_tree_make(&tree, &subnet, group));
	assert_int_equal(tree.masks[0][0], 1 << PORT_HOST | 1 << PORT_PREVIOUS);
	assert_int_equal(tree.masks[2][0], 1 << PORT_NEXT | 1 << PORT_PREVIOUS);
	assert_int_equal(tree.masks[1][0], 1 << PORT_HOST | 1 << PORT_NEXT);
}

static void test_tree_goes_around_slow_links(void **state)
{
	(void)state;
	join(0);
	set_rate_10(0);
	assert_true(can_join(1));
	set_rate_10(1);
	assert_false(can_join(1));
	assert_true(can_join(2));
	group->characteristics.rate = RATE_10;
	assert_true(can_join(1));
}

static void test_no_tree_without_links_of_the_mtu(void **state)
{
	(void)state;
	join(0);
	set_mtu(0, MTU_512);
	set_mtu(1, MTU_1024);
	assert_false(can_join(1));
	assert_true(can_join(2));
	group->characteristics.mtu = MTU_1024;
	assert_true(can_join(1));
}

static void test_no_tree_through_switches_without_a_table(void **state)
{
	(void)state;
	join(0);
	switches[1]->switch_info.multicast_fdb_cap = 0;
	assert_false(can_join(1));
	assert_true(can_join(2));
	/* The table ends before the group's MLID. */
	switches[1]->switch_info.multicast_fdb_cap = (uint16_t)(group->mlid - LID_MULTICAST_FIRST);
	assert_false(can_join(1));
	switches[1]->switch_info.multicast_fdb_cap++;
	assert_true(can_join(1));
}

/* A link that got slower after members had joined still carries small packets. */
static void test_members_stay_connected_when_links_get_worse(void **state)
{
	(void)state;
	join(0);
	join(1);
	set_mtu(0, MTU_512);
	set_mtu(1, MTU_512);
	assert_false(multicast_tree_make(&tree, &subnet, group));
	assert_int_equal(tree.masks[0][0], 1 << PORT_HOST | 1 << PORT_NEXT);
	assert_int_equal(tree.masks[1][0], 1 << PORT_HOST | 1 << PORT_PREVIOUS);
}

static void test_no_group_has_an_empty_tree(void **state)
{
	(void)state;
	join(0);
	assert_true(multicast_tree_make(&tree, &subnet, group));
	assert_true(multicast_tree_make(&tree, &subnet, NULL));
	for (unsigned i = 0; i < RING; i++)
		assert_int_equal(tree.masks[i][0], 0);
}

/* Two adapters on one link have no switch. */
static void test_port_without_a_switch_can_join(void **state)
{
	const struct multicast_demand demand = {.mlid = LID_MULTICAST_FIRST, .mtu = MTU_4096};

	(void)state;
	subnet_unlink(&hosts[0]->ports[1]);
	assert_true(multicast_tree_can_include(&tree, &subnet, NULL, &hosts[0]->ports[1], &demand));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tree_connects_members_by_the_shortest_way),
		TEST(test_tree_goes_around_links_with_a_small_mtu),
		TEST(test_tree_goes_around_slow_links),
		TEST(test_no_tree_without_links_of_the_mtu),
		TEST(test_no_tree_through_switches_without_a_table),
		TEST(test_members_stay_connected_when_links_get_worse),
		TEST(test_no_group_has_an_empty_tree),
		TEST(test_port_without_a_switch_can_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
