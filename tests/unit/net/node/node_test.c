/* SPDX-License-Identifier: Apache-2.0 */
/* The defaults of a new node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include "net/link/port_queues.h"
#include "net/node/node.h"

static void test_adapter_has_its_guids_and_keys(void **state)
{
	struct node node;

	(void)state;
	assert_int_equal(node_init(&node, NODE_CA, 2, 0x025f1b0100010000, "h1 softib0"), 0);
	assert_string_equal(node.description, "h1 softib0");
	assert_int_equal(node.info.vendor_id, 0x025f1b);
	assert_int_equal(node.info.device_id, 1);
	for (unsigned number = 1; number <= 2; number++) {
		struct port *port = &node.ports[number];

		assert_int_equal(port->guid, 0x025f1b0100010000 + number);
		assert_int_equal(port->guids[0], port->guid);
		assert_int_equal(port->pkeys[0], 0xffff);
		assert_int_equal(port->pkeys[1], 0);
		assert_int_equal(port->info.port_state, PORT_DOWN);
		assert_int_equal(port->info.lid, 0);
		assert_int_equal(port->info.local_port_number, number);
		assert_int_equal(port->sl_to_vl[0][9], 0);
		assert_int_equal(port_data_vl_count(port), 8);
		assert_ptr_equal(node_management_port(&node, number), port);
	}
	assert_null(node.lft);
	node_release(&node);
}

static void test_switch_has_empty_tables_and_an_active_port_0(void **state)
{
	struct node node;

	(void)state;
	assert_int_equal(node_init(&node, NODE_SWITCH, 36, 0x025f1b0200010000, "switch-1"), 0);
	assert_int_equal(node.ports[0].kind, PORT_OF_MANAGEMENT);
	assert_true(port_is_active(&node.ports[0]));
	assert_int_equal(node.ports[0].guid, 0x025f1b0200010000);
	assert_int_equal(node.ports[36].kind, PORT_OF_SWITCH);
	assert_null(node.ports[36].guids);
	assert_int_equal(node.ports[36].sl_to_vl[36][15], 0);
	for (unsigned lid = 0; lid < LFT_ENTRIES; lid++)
		assert_int_equal(node.lft[lid], LFT_NO_PORT);
	assert_ptr_equal(node_management_port(&node, 5), &node.ports[0]);
	node_release(&node);
}

static void test_senseless_nodes_are_refused(void **state)
{
	struct node node;

	(void)state;
	assert_int_equal(node_init(&node, NODE_SWITCH, 0, 1, ""), -EINVAL);
	assert_int_equal(node_init(&node, NODE_SWITCH, 255, 1, ""), -EINVAL);
	assert_int_equal(node_init(&node, NODE_CA, 1, 0, ""), -EINVAL);
}

static void test_target_adapter_has_device_management(void **state)
{
	struct node node;

	(void)state;
	assert_int_equal(node_init(&node, NODE_CA, 2, 1, "tca1"), 0);
	assert_false(node.is_target);
	node_make_target(&node);
	assert_true(node.is_target);
	for (unsigned number = 1; number <= 2; number++)
		assert_true(node.ports[number].info.capability_mask & CAPABILITY_DEVICE_MANAGEMENT);
	node_release(&node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adapter_has_its_guids_and_keys),
		cmocka_unit_test(test_switch_has_empty_tables_and_an_active_port_0),
		cmocka_unit_test(test_senseless_nodes_are_refused),
		cmocka_unit_test(test_target_adapter_has_device_management),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
