/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot equals the subnet and does not change with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/subnet/subnet_path.h"
#include "mgmt/subnet/subnet_copy.h"

static struct subnet subnet;
static struct subnet_node *leaf, *left, *right;

static struct subnet_node *meet(enum node_type type, uint64_t guid, unsigned port_count,
				struct subnet_port *via)
{
	const struct node_info info = {.node_type = (uint8_t)type,
				       .node_guid = guid,
				       .port_guid = guid + (type != NODE_SWITCH),
				       .port_count = (uint8_t)port_count,
				       .local_port_number = type != NODE_SWITCH};
	const struct directed_route route = {0};
	struct subnet_node *node;

	assert_int_equal(subnet_add_node(&subnet, &info, &route, via, &node), SUBNET_NEW);
	for (unsigned i = 0; i <= port_count; i++)
		node->ports[i].is_known = true;
	return node;
}

static int set_up(void **state)
{
	(void)state;
	subnet_init(&subnet);
	subnet_begin_sweep(&subnet);
	leaf = meet(NODE_SWITCH, 0x100, 4, NULL);
	left = meet(NODE_CA, 0x200, 1, &leaf->ports[1]);
	right = meet(NODE_CA, 0x300, 1, &leaf->ports[2]);
	assert_int_equal(subnet_assign_lids(&subnet), 0);
	leaf->table[left->ports[1].lid] = 1;
	leaf->table[right->ports[1].lid] = 2;
	right->ports[1].pkeys = calloc(2, sizeof(uint16_t));
	right->ports[1].pkeys[0] = 0x8001;
	right->ports[1].pkey_count = 1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	subnet_release(&subnet);
	return 0;
}

static void test_copy_has_nodes_ports_links_and_tables(void **state)
{
	struct subnet *copy = subnet_copy(&subnet);
	struct subnet_node *node = subnet_find(copy, 0x200);
	struct subnet_path path;

	(void)state;
	assert_int_equal(copy->node_count, 3);
	assert_int_equal(copy->switch_count, 1);
	assert_ptr_not_equal(node, left);
	assert_ptr_equal(node->ports[1].node, node);
	assert_ptr_equal(node->ports[1].peer, &subnet_find(copy, 0x100)->ports[1]);
	assert_ptr_equal(node->ports[1].peer->peer, &node->ports[1]);
	assert_ptr_equal(subnet_port_by_guid(copy, 0x301), &subnet_find(copy, 0x300)->ports[1]);
	assert_ptr_equal(subnet_port_by_lid(copy, left->ports[1].lid), &node->ports[1]);
	assert_int_equal(subnet_find(copy, 0x300)->ports[1].pkeys[0], 0x8001);
	assert_true(subnet_path_find(copy, &node->ports[1], right->ports[1].lid, &path));
	subnet_copy_destroy(copy);
}

/* A table that nobody wrote holds the power-up key. */
static void test_missing_pkeys_are_the_default_one(void **state)
{
	struct subnet *copy = subnet_copy(&subnet);

	(void)state;
	assert_int_equal(subnet_find(copy, 0x200)->ports[1].pkey_count, 1);
	assert_int_equal(subnet_find(copy, 0x200)->ports[1].pkeys[0], PKEY_DEFAULT_FULL);
	subnet_copy_destroy(copy);
}

static void test_copy_stays_when_the_subnet_changes(void **state)
{
	struct subnet *copy = subnet_copy(&subnet);

	(void)state;
	leaf->table[right->ports[1].lid] = 0xff;
	subnet_begin_sweep(&subnet);
	subnet_drop_unseen(&subnet);
	assert_int_equal(subnet.node_count, 0);
	assert_non_null(subnet_find(copy, 0x300));
	assert_int_equal(subnet_find(copy, 0x100)->table[subnet_port_by_guid(copy, 0x301)->lid], 2);
	subnet_copy_destroy(copy);
}

/* Nodes that the last sweep did not find are not copied, even if they are still known. */
static void test_nodes_of_earlier_sweeps_are_left_out(void **state)
{
	const struct directed_route route = {0};
	struct subnet_node *node;
	struct subnet *copy;

	(void)state;
	subnet_begin_sweep(&subnet);
	assert_int_equal(subnet_add_node(&subnet, &left->info, &route, NULL, &node), SUBNET_NEW);
	copy = subnet_copy(&subnet);
	assert_int_equal(copy->node_count, 1);
	assert_null(subnet_port_by_guid(copy, 0x301));
	assert_null(subnet_port_by_lid(copy, right->ports[1].lid));
	subnet_copy_destroy(copy);
}

#define COPY_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COPY_TEST(test_copy_has_nodes_ports_links_and_tables),
		COPY_TEST(test_missing_pkeys_are_the_default_one),
		COPY_TEST(test_copy_stays_when_the_subnet_changes),
		COPY_TEST(test_nodes_of_earlier_sweeps_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
