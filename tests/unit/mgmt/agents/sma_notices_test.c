/* SPDX-License-Identifier: Apache-2.0 */
/* One test per trap of the agent: the sender and the contents (management 5.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "wire/notice.h"

static struct agent_trap traps[16];
static struct notice notice;

static void make_able(struct port *port, uint16_t lid)
{
	port->info.lid = lid;
	port->info.master_sm_lid = 3;
	port->info.port_state = PORT_ACTIVE;
}

static int setup(void **state)
{
	int error = fixture_setup(state);

	make_able(&fixture.hub.ports[0], 7);
	make_able(&fixture.adapter.ports[1], 4);
	make_able(&fixture.adapter.ports[2], 5);
	fixture.now = SECONDS(5);
	return error;
}

/* The only trap that is due comes from this port. */
static void expect_trap(const struct port *port, uint16_t number, enum notice_type type)
{
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 16, traps), 1);
	assert_ptr_equal(traps[0].port, port);
	notice_decode(smp_data(traps[0].message.bytes), &notice);
	assert_int_equal(notice.header.trap_number, number);
	assert_int_equal(notice.header.type, type);
	assert_int_equal(notice.header.is_generic, 1);
	assert_int_equal(notice.header.producer_type, port->node->info.node_type);
	assert_int_equal(notice.header.issuer_lid, port->info.lid);
	assert_int_equal(traps[0].message.bytes[3], MAD_TRAP);
	assert_int_equal(smp_mkey(traps[0].message.bytes), 0);
}

static void test_trap_129_names_the_port_with_link_errors(void **state)
{
	(void)state;
	struct port_error_details details;

	agent_link_integrity(&fixture.memory, &fixture.hub.ports[3], fixture.now);
	expect_trap(&fixture.hub.ports[0], 129, NOTICE_URGENT);
	port_error_details_decode(notice.details, &details);
	assert_int_equal(details.lid, 7);
	assert_int_equal(details.port_number, 3);
}

static void test_trap_130_names_the_port_with_overruns(void **state)
{
	(void)state;
	struct port_error_details details;

	agent_buffer_overrun(&fixture.memory, &fixture.adapter.ports[2], fixture.now);
	expect_trap(&fixture.adapter.ports[2], 130, NOTICE_URGENT);
	port_error_details_decode(notice.details, &details);
	assert_int_equal(details.lid, 5);
	assert_int_equal(details.port_number, 2);
}

static void test_trap_131_names_the_port_without_flow_control(void **state)
{
	(void)state;
	struct port_error_details details;

	agent_flow_control_watchdog(&fixture.memory, &fixture.hub.ports[4], fixture.now);
	expect_trap(&fixture.hub.ports[0], 131, NOTICE_URGENT);
	port_error_details_decode(notice.details, &details);
	assert_int_equal(details.port_number, 4);
}

static void test_trap_144_of_a_new_description_comes_from_every_end_port(void **state)
{
	(void)state;
	struct local_change_details details;

	agent_description_changed(&fixture.memory, &fixture.adapter, fixture.now);
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 16, traps), 2);
	for (unsigned i = 0; i < 2; i++) {
		notice_decode(smp_data(traps[i].message.bytes), &notice);
		local_change_details_decode(notice.details, &details);
		assert_int_equal(notice.header.trap_number, 144);
		assert_int_equal(notice.header.type, NOTICE_INFORMATIONAL);
		assert_int_equal(details.lid, 4 + i);
		assert_int_equal(details.other_local_changes, 1);
		assert_int_equal(details.change_flags, CHANGE_NODE_DESCRIPTION);
	}
}

static void test_trap_144_of_a_capability_has_no_change_flags(void **state)
{
	(void)state;
	struct local_change_details details;

	agent_capability_changed(&fixture.memory, &fixture.adapter.ports[1], fixture.now);
	expect_trap(&fixture.adapter.ports[1], 144, NOTICE_INFORMATIONAL);
	local_change_details_decode(notice.details, &details);
	assert_int_equal(details.other_local_changes, 0);
	assert_int_equal(details.change_flags, 0);
	assert_int_equal(details.capability_mask, fixture.adapter.ports[1].info.capability_mask);
}

static void test_trap_145_shows_the_new_system_image(void **state)
{
	(void)state;
	struct system_image_details details;

	fixture.hub.info.system_image_guid = 0x1122334455667788;
	agent_system_image_changed(&fixture.memory, &fixture.hub, fixture.now);
	expect_trap(&fixture.hub.ports[0], 145, NOTICE_INFORMATIONAL);
	system_image_details_decode(notice.details, &details);
	assert_int_equal(details.lid, 7);
	assert_int_equal(details.system_image_guid, 0x1122334455667788);
}

static const struct agent_violation violation = {
	.slid = 10,
	.dlid = 4,
	.sl = 2,
	.key = 0x8123,
	.has_source_qpn = true,
	.source_qpn = 0x111111,
	.destination_qpn = 0x222222,
	.has_grh = true,
	.sgid = {.bytes = {0xfe, 0x80, [15] = 1}},
	.dgid = {.bytes = {0xfe, 0x80, [15] = 2}},
};

static void test_trap_257_of_a_bad_pkey_is_counted_and_told(void **state)
{
	(void)state;
	struct bad_key_details details;

	agent_pkey_violation(&fixture.memory, &fixture.adapter.ports[1], fixture.now, &violation);
	assert_int_equal(fixture.adapter.ports[1].info.pkey_violations, 1);
	expect_trap(&fixture.adapter.ports[1], 257, NOTICE_SECURITY);
	bad_key_details_decode(notice.details, &details);
	assert_int_equal(details.lid1, 10);
	assert_int_equal(details.lid2, 4);
	assert_int_equal(details.key, 0x8123);
	assert_int_equal(details.sl, 2);
	assert_int_equal(details.qp1, 0x111111);
	assert_int_equal(details.qp2, 0x222222);
	assert_int_equal(details.gid1_prefix, 0xfe80000000000000);
	assert_int_equal(details.gid1_guid, 1);
	assert_int_equal(details.gid2_guid, 2);
	/* Offsets of management 5.2: LID1 @2, key @6, QP2 @15, GID2 @34. */
	assert_int_equal(get_be16(notice.details + 2), 10);
	assert_int_equal(get_be32(notice.details + 6), 0x8123);
	assert_int_equal(get_be24(notice.details + 15), 0x222222);
	assert_int_equal(notice.details[34], 0xfe);
}

static void test_trap_258_of_a_bad_qkey_is_counted_and_told(void **state)
{
	(void)state;
	agent_qkey_violation(&fixture.memory, &fixture.adapter.ports[2], fixture.now, &violation);
	assert_int_equal(fixture.adapter.ports[2].info.qkey_violations, 1);
	assert_int_equal(fixture.adapter.ports[2].info.pkey_violations, 0);
	expect_trap(&fixture.adapter.ports[2], 258, NOTICE_SECURITY);
}

static void test_violations_that_are_told_at_once_all_count(void **state)
{
	struct agent_violation several = violation;
	struct port *port = &fixture.adapter.ports[2];

	(void)state;
	several.count = 5;
	agent_qkey_violation(&fixture.memory, port, fixture.now, &several);
	agent_pkey_violation(&fixture.memory, port, fixture.now, &violation);
	assert_int_equal(port->info.qkey_violations, 5);
	assert_int_equal(port->info.pkey_violations, 1);
	several.count = UINT32_MAX;
	agent_qkey_violation(&fixture.memory, port, fixture.now, &several);
	assert_int_equal(port->info.qkey_violations, 0xffff);
	agent_qkey_violation(&fixture.memory, port, fixture.now, &several);
	assert_int_equal(port->info.qkey_violations, 0xffff);
}

static void test_trap_259_of_a_switch_names_its_port(void **state)
{
	(void)state;
	struct switch_pkey_details details;

	agent_pkey_violation(&fixture.memory, &fixture.hub.ports[2], fixture.now, &violation);
	assert_int_equal(fixture.hub.ports[0].info.pkey_violations, 1);
	expect_trap(&fixture.hub.ports[0], 259, NOTICE_SECURITY);
	switch_pkey_details_decode(notice.details, &details);
	assert_int_equal(details.data_valid, 0xff);
	assert_int_equal(details.pkey, 0x8123);
	assert_int_equal(details.switch_lid, 7);
	assert_int_equal(details.port_number, 2);
	assert_int_equal(get_be16(notice.details + 48), 7);
	assert_int_equal(notice.details[50], 2);

	struct agent_violation plain = {.slid = 10, .dlid = 4, .key = 0x8123};

	fixture.now += SECONDS(5);
	agent_memory_forget(&fixture.memory, &fixture.hub);
	agent_pkey_violation(&fixture.memory, &fixture.hub.ports[2], fixture.now, &plain);
	expect_trap(&fixture.hub.ports[0], 259, NOTICE_SECURITY);
	switch_pkey_details_decode(notice.details, &details);
	assert_int_equal(details.data_valid, 0x2f);
}

static void test_violations_are_counted_even_when_nobody_can_be_told(void **state)
{
	(void)state;
	struct port *port = &fixture.adapter.ports[1];

	port->info.master_sm_lid = 0;
	port->info.pkey_violations = 0xfffe;
	for (unsigned i = 0; i < 5; i++)
		agent_pkey_violation(&fixture.memory, port, fixture.now, &violation);
	assert_int_equal(port->info.pkey_violations, 0xffff);
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

static void test_multicast_violations_can_be_kept_quiet(void **state)
{
	(void)state;
	struct agent_violation multicast = violation;
	struct port *port = &fixture.adapter.ports[1];

	multicast.dlid = 0xc001;
	port->info.multicast_pkey_trap_suppression = 1;
	agent_pkey_violation(&fixture.memory, port, fixture.now, &multicast);
	assert_int_equal(port->info.pkey_violations, 1);
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 16, traps), 0);
	agent_pkey_violation(&fixture.memory, port, fixture.now, &violation);
	expect_trap(port, 257, NOTICE_SECURITY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)
		TEST(test_trap_129_names_the_port_with_link_errors),
		TEST(test_trap_130_names_the_port_with_overruns),
		TEST(test_trap_131_names_the_port_without_flow_control),
		TEST(test_trap_144_of_a_new_description_comes_from_every_end_port),
		TEST(test_trap_144_of_a_capability_has_no_change_flags),
		TEST(test_trap_145_shows_the_new_system_image),
		TEST(test_trap_257_of_a_bad_pkey_is_counted_and_told),
		TEST(test_trap_258_of_a_bad_qkey_is_counted_and_told),
		TEST(test_violations_that_are_told_at_once_all_count),
		TEST(test_trap_259_of_a_switch_names_its_port),
		TEST(test_violations_are_counted_even_when_nobody_can_be_told),
		TEST(test_multicast_violations_can_be_kept_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
