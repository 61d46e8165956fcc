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

static void ask(struct node *node, uint8_t class, uint8_t method,
		const struct class_port_info *info)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = class,
		.class_version = 1,
		.method = method,
		.attribute_id = ATTRIBUTE_CLASS_PORT_INFO,
	};
	struct mad_message request = {0};

	mad_header_encode(&header, request.bytes);
	if (info)
		class_port_info_encode(info, request.bytes + 64);
	assert_int_equal(gsa_receive(&fixture.environment, node, node == &fixture.hub ? 0 : 1, 0,
				     &request, &fixture.answer),
			 AGENT_ANSWERED);
	assert_int_equal(get_be16(fixture.answer.bytes + 4), 0);
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
		TEST(test_forgetting_a_node_keeps_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
