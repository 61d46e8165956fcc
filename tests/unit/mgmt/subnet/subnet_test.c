/* SPDX-License-Identifier: Apache-2.0 */
/* The manager's model, from NodeInfo to links and LIDs (management 3.3). Covers: mgmt/subnet/lids.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/subnet/subnet.h"

static struct subnet subnet;
static const struct directed_route here = {0};
static const struct directed_route one_hop = {.hop_count = 1, .ports = {1}};

static int setup(void **state)
{
	(void)state;
	subnet_init(&subnet);
	subnet_begin_sweep(&subnet);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	subnet_release(&subnet);
	return 0;
}

static struct node_info info_of(enum node_type type, uint64_t guid, unsigned port_count,
				unsigned local_port)
{
	return (struct node_info){
		.node_type = (uint8_t)type,
		.node_guid = guid,
		.port_guid = guid + local_port,
		.port_count = (uint8_t)port_count,
		.local_port_number = (uint8_t)local_port,
	};
}

static enum subnet_add_result meet(struct node_info info, struct subnet_port *via,
				   struct subnet_node **ret_node)
{
	return subnet_add_node(&subnet, &info, via ? &one_hop : &here, via, ret_node);
}

static void test_cable_found_from_both_ends_is_one_link(void **state)
{
	(void)state;
	struct subnet_node *ca;
	struct subnet_node *node;

	assert_int_equal(meet(info_of(NODE_CA, 10, 1, 1), NULL, &ca), SUBNET_NEW);
	assert_int_equal(meet(info_of(NODE_SWITCH, 20, 4, 3), &ca->ports[1], &node), SUBNET_NEW);
	assert_ptr_equal(node->ports[3].peer, &ca->ports[1]);
	assert_ptr_equal(ca->ports[1].peer, &node->ports[3]);
	assert_int_equal(meet(info_of(NODE_CA, 10, 1, 1), &node->ports[3], &ca), SUBNET_KNOWN);
	assert_int_equal(subnet.node_count, 2);
	assert_int_equal(subnet.switch_count, 1);
	assert_int_equal(node->route.hop_count, 1);
}

static void test_claims_that_contradict_are_duplicates_or_nonsense(void **state)
{
	(void)state;
	struct subnet_node *ca;
	struct subnet_node *node;
	struct subnet_node *other;

	assert_int_equal(meet(info_of(NODE_CA, 10, 1, 1), NULL, &ca), SUBNET_NEW);
	assert_int_equal(meet(info_of(NODE_SWITCH, 20, 4, 3), &ca->ports[1], &node), SUBNET_NEW);
	/* The same port with a second link, and the same GUID on other hardware. */
	assert_int_equal(meet(info_of(NODE_CA, 10, 1, 1), &node->ports[1], &other),
			 SUBNET_DUPLICATE);
	assert_int_equal(meet(info_of(NODE_CA, 20, 4, 2), &node->ports[1], &other),
			 SUBNET_DUPLICATE);
	assert_int_equal(meet(info_of(NODE_CA, 30, 2, 3), &node->ports[1], &other), SUBNET_INVALID);
	assert_int_equal(meet(info_of(NODE_CA, 30, 2, 0), &node->ports[1], &other), SUBNET_INVALID);
	assert_int_equal(meet(info_of(NODE_CA, 30, 0, 0), &node->ports[1], &other), SUBNET_INVALID);
	assert_int_equal(meet(info_of(NODE_CA, 30, 255, 1), &node->ports[1], &other),
			 SUBNET_INVALID);
	assert_int_equal(meet(info_of(NODE_CA, 0, 1, 1), &node->ports[1], &other), SUBNET_INVALID);
	assert_null(node->ports[1].peer);
	assert_int_equal(subnet.node_count, 2);
}

static void test_sweep_forgets_links_and_drops_who_is_not_seen(void **state)
{
	(void)state;
	struct subnet_node *ca;
	struct subnet_node *node;

	assert_int_equal(meet(info_of(NODE_CA, 10, 1, 1), NULL, &ca), SUBNET_NEW);
	assert_int_equal(meet(info_of(NODE_SWITCH, 20, 4, 3), &ca->ports[1], &node), SUBNET_NEW);
	subnet_begin_sweep(&subnet);
	assert_null(subnet_find(&subnet, 20));
	assert_int_equal(meet(info_of(NODE_CA, 10, 1, 1), NULL, &ca), SUBNET_NEW);
	assert_null(ca->ports[1].peer);
	assert_int_equal(subnet_drop_unseen(&subnet), 1);
	assert_int_equal(subnet.node_count, 1);
	assert_int_equal(subnet.switch_count, 0);
	assert_ptr_equal(subnet_find(&subnet, 10), ca);
}

/* An adapter whose port was reached and read. */
static struct subnet_port *add_end_port(uint64_t guid, uint16_t present_lid)
{
	struct subnet_node *node;

	assert_int_equal(meet(info_of(NODE_CA, guid, 1, 1), NULL, &node), SUBNET_NEW);
	node->ports[1].is_known = true;
	node->ports[1].info.lid = present_lid;
	return &node->ports[1];
}

static void test_lids_are_remembered_then_kept_then_lowest(void **state)
{
	(void)state;
	struct subnet_port *fresh = add_end_port(100, 0);
	struct subnet_port *holder = add_end_port(200, 1);
	struct subnet_port *rival = add_end_port(300, 1);
	struct subnet_port *wrong = add_end_port(400, 0xc001);

	assert_int_equal(subnet_assign_lids(&subnet), 0);
	assert_int_equal(holder->lid, 1);
	assert_int_equal(fresh->lid, 2);
	assert_int_equal(rival->lid, 3);
	assert_int_equal(wrong->lid, 4);
	assert_ptr_equal(subnet.by_lid[3], rival);
	assert_int_equal(subnet.lid_max, 4);

	/* The first two go away. Their LIDs stay reserved, even if another port claims one. */
	subnet_begin_sweep(&subnet);
	add_end_port(300, 3);
	add_end_port(400, 4);
	struct subnet_port *newcomer = add_end_port(500, 2);

	subnet_drop_unseen(&subnet);
	assert_int_equal(subnet_assign_lids(&subnet), 0);
	assert_int_equal(newcomer->lid, 5);

	subnet_begin_sweep(&subnet);
	fresh = add_end_port(100, 0);
	subnet_drop_unseen(&subnet);
	assert_int_equal(subnet_assign_lids(&subnet), 0);
	assert_int_equal(fresh->lid, 2);
	/* Tables of that length need not be cut. */
	assert_int_equal(subnet.lid_max, 5);
}

static void test_exhausted_lids_are_counted(void **state)
{
	(void)state;
	for (unsigned lid = 1; lid <= LID_UNICAST_LAST; lid++)
		subnet.lid_owner[lid] = lid != 9 ? 1 : 0;

	struct subnet_port *lucky = add_end_port(100, 0);
	struct subnet_port *unlucky = add_end_port(200, 0);

	assert_int_equal(subnet_assign_lids(&subnet), 1);
	assert_int_equal(lucky->lid, 9);
	assert_int_equal(unlucky->lid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(test_cable_found_from_both_ends_is_one_link),
		TEST(test_claims_that_contradict_are_duplicates_or_nonsense),
		TEST(test_sweep_forgets_links_and_drops_who_is_not_seen),
		TEST(test_lids_are_remembered_then_kept_then_lowest),
		TEST(test_exhausted_lids_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
