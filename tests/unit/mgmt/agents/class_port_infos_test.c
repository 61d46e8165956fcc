/* SPDX-License-Identifier: Apache-2.0 */
/* ClassPortInfo of general service classes: the trap address of each class of each port (management
 * 1.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "mgmt/agents/class_port_infos.h"
#include "wire/pkey.h"

/* Where the requests come from. */
static struct mad_address from;

/* Returns the status of the answer. */
static uint16_t try(struct node *node, uint8_t class, uint8_t method,
		    const struct class_port_info *info)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = class,
		.class_version = 1,
		.method = method,
		.attribute_id = ATTRIBUTE_CLASS_PORT_INFO,
	};
	struct mad_message request = {.address = from};

	mad_header_encode(&header, request.bytes);
	if (info)
		class_port_info_encode(info, request.bytes + 64);
	assert_int_equal(gsa_receive(&fixture.environment, node, node == &fixture.hub ? 0 : 1, 0,
				     &request, &fixture.answer),
			 AGENT_ANSWERED);
	return get_be16(fixture.answer.bytes + 4);
}

static void ask(struct node *node, uint8_t class, uint8_t method,
		const struct class_port_info *info)
{
	assert_int_equal(try(node, class, method, info), MAD_STATUS_OK);
}

static void test_trap_address_is_kept_per_class_and_port(void **state)
{
	(void)state;
	const struct class_port_info wanted = {
		.class_version = 9, /* not writable */
		.redirect_lid = 7,  /* not writable */
		.trap_lid = 0x1234,
		.trap_sl = 3,
		.trap_qpn = 1,
		.trap_qkey = QKEY_GSI,
		.trap_pkey = 0x8001,
	};
	struct class_port_info shown;
	struct mad_address address;

	ask(&fixture.hub, MAD_CLASS_BASEBOARD, MAD_SET, &wanted);
	ask(&fixture.hub, MAD_CLASS_BASEBOARD, MAD_GET, NULL);
	class_port_info_decode(fixture.answer.bytes + 64, &shown);
	assert_int_equal(shown.class_version, 1);
	assert_int_equal(shown.redirect_lid, 0);
	assert_int_equal(shown.trap_lid, 0x1234);
	assert_int_equal(shown.trap_pkey, 0x8001);

	assert_true(class_trap_address(&fixture.memory, &fixture.hub.ports[0], MAD_CLASS_BASEBOARD,
				       &address));
	assert_int_equal(address.lid, 0x1234);
	assert_int_equal(address.sl, 3);
	assert_int_equal(address.qpn, 1);
	assert_int_equal(address.qkey, QKEY_GSI);
	assert_false(class_trap_address(&fixture.memory, &fixture.hub.ports[0], MAD_CLASS_DEVICE,
					&address));
	assert_false(class_trap_address(&fixture.memory, &fixture.adapter.ports[1],
					MAD_CLASS_BASEBOARD, &address));
}

static bool find_address(struct mad_address *ret_address)
{
	return class_trap_address(&fixture.memory, &fixture.adapter.ports[1], MAD_CLASS_DEVICE,
				  ret_address);
}

static void test_trap_gid_asks_for_a_grh(void **state)
{
	const struct class_port_info wanted = {
		.trap_lid = 6,
		.trap_qpn = 1,
		.trap_gid_prefix = 0xfe80000000000001,
		.trap_gid_guid = 0x77,
		.trap_traffic_class = 9,
		.trap_flow_label = 0x12345,
		.trap_hop_limit = 64,
	};
	const struct class_port_info no_gid = {.trap_lid = 6, .trap_qpn = 1, .trap_hop_limit = 64};
	struct mad_address address;

	(void)state;
	ask(&fixture.adapter, MAD_CLASS_DEVICE, MAD_SET, &wanted);
	assert_true(find_address(&address));
	assert_int_equal(address.lid, 6);
	assert_true(address.has_grh);
	assert_int_equal(gid_prefix(&address.gid), 0xfe80000000000001);
	assert_int_equal(gid_guid(&address.gid), 0x77);
	assert_int_equal(address.traffic_class, 9);
	assert_int_equal(address.flow_label, 0x12345);
	assert_int_equal(address.hop_limit, 64);
	ask(&fixture.adapter, MAD_CLASS_DEVICE, MAD_SET, &no_gid);
	assert_true(find_address(&address));
	assert_false(address.has_grh);
}

/* A manager beyond a router names its GID alone: the LID of the router's port is not its own. */
static void test_gid_without_a_lid_is_the_way_back(void **state)
{
	const struct class_port_info wanted = {
		.trap_qpn = 1,
		.trap_sl = 7,
		.trap_gid_prefix = 0xfe80000000000001,
		.trap_gid_guid = 0x77,
		.trap_hop_limit = 255,
	};
	const struct class_port_info nowhere = {0};
	struct class_port_info shown;
	struct mad_address address;

	(void)state;
	from = (struct mad_address){
		.lid = 12, .sl = 2, .has_grh = true, .gid = gid_from(0xfe80000000000001, 0x77)};
	ask(&fixture.adapter, MAD_CLASS_DEVICE, MAD_SET, &wanted);
	class_port_info_decode(fixture.answer.bytes + 64, &shown);
	assert_int_equal(shown.trap_lid, 0);
	assert_int_equal(shown.trap_gid_guid, 0x77);
	assert_true(find_address(&address));
	assert_int_equal(address.lid, 12);
	assert_int_equal(address.sl, 2);
	assert_true(address.has_grh);
	/* Another GID's path is not known: the address stays as it was. */
	from.gid = gid_from(0xfe80000000000001, 0x78);
	assert_int_equal(try(&fixture.adapter, MAD_CLASS_DEVICE, MAD_SET, &wanted),
			 MAD_STATUS_BAD_FIELD);
	from.has_grh = false;
	assert_int_equal(try(&fixture.adapter, MAD_CLASS_DEVICE, MAD_SET, &wanted),
			 MAD_STATUS_BAD_FIELD);
	assert_true(find_address(&address));
	ask(&fixture.adapter, MAD_CLASS_DEVICE, MAD_SET, &nowhere);
	assert_false(find_address(&address));
	from = (struct mad_address){0};
}

static void test_forgetting_a_node_keeps_the_others(void **state)
{
	(void)state;
	const struct class_port_info wanted = {.trap_lid = 5, .trap_qpn = 1};
	struct mad_address address;

	fixture.adapter.index = 4;
	ask(&fixture.hub, MAD_CLASS_BASEBOARD, MAD_SET, &wanted);
	ask(&fixture.adapter, MAD_CLASS_BASEBOARD, MAD_SET, &wanted);
	ask(&fixture.adapter, MAD_CLASS_DEVICE, MAD_SET, &wanted);
	class_port_infos_forget(&fixture.memory, &fixture.adapter);
	assert_false(class_trap_address(&fixture.memory, &fixture.adapter.ports[1],
					MAD_CLASS_BASEBOARD, &address));
	assert_false(class_trap_address(&fixture.memory, &fixture.adapter.ports[1],
					MAD_CLASS_DEVICE, &address));
	assert_true(class_trap_address(&fixture.memory, &fixture.hub.ports[0], MAD_CLASS_BASEBOARD,
				       &address));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_trap_address_is_kept_per_class_and_port),
		TEST(test_trap_gid_asks_for_a_grh),
		TEST(test_gid_without_a_lid_is_the_way_back),
		TEST(test_forgetting_a_node_keeps_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
