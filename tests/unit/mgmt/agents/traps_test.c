/* SPDX-License-Identifier: Apache-2.0 */
/* Traps: who sends them, how often, and what silences them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "wire/notice.h"

static struct agent_trap traps[4];

static int setup(void **state)
{
	int error = fixture_setup(state);
	struct port_info *info = &fixture.hub.ports[0].info;

	info->lid = 7;
	info->master_sm_lid = 3;
	info->master_sm_sl = 1;
	info->subnet_timeout = 18;
	fixture.now = SECONDS(5);
	return error;
}

static unsigned take(void)
{
	return agent_take_traps(&fixture.memory, fixture.now, 4, traps);
}

static void repress(void)
{
	struct mad_message message = traps[0].message;

	message.bytes[3] = MAD_TRAP_REPRESS;
	assert_int_equal(sma_receive(&fixture.environment, &fixture.hub, 1, fixture.now, &message,
				     &fixture.answer),
			 AGENT_CONSUMED);
}

static void test_changed_link_makes_trap_128(void **state)
{
	(void)state;
	struct notice notice;

	assert_int_equal(agent_traps_deadline(&fixture.memory), TIME_NEVER);
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	assert_int_equal(fixture.hub.switch_info.port_state_change, 1);
	assert_int_equal(agent_traps_deadline(&fixture.memory), fixture.now);
	assert_int_equal(take(), 1);
	assert_ptr_equal(traps[0].port, &fixture.hub.ports[0]);
	assert_int_equal(traps[0].message.address.lid, 3);
	assert_int_equal(traps[0].message.address.sl, 1);
	assert_int_equal(traps[0].message.bytes[1], MAD_CLASS_SUBNET_LID);
	assert_int_equal(traps[0].message.bytes[3], MAD_TRAP);
	notice_decode(smp_data(traps[0].message.bytes), &notice);
	assert_int_equal(notice.header.is_generic, 1);
	assert_int_equal(notice.header.type, NOTICE_URGENT);
	assert_int_equal(notice.header.producer_type, PRODUCER_SWITCH);
	assert_int_equal(notice.header.trap_number, 128);
	assert_int_equal(notice.header.issuer_lid, 7);
	assert_int_equal(get_be16(notice.details), 7);
}

static void test_trap_repeats_at_its_distance_until_repressed(void **state)
{
	(void)state;
	time_ns distance = time_from_code(18);

	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	assert_int_equal(take(), 1);
	uint64_t transaction_id = get_be64(traps[0].message.bytes + 8);

	assert_int_equal(take(), 0);
	fixture.now += distance;
	assert_int_equal(take(), 1);
	assert_int_equal(get_be64(traps[0].message.bytes + 8), transaction_id);
	repress();
	fixture.now += distance;
	assert_int_equal(take(), 0);
	assert_int_equal(agent_traps_deadline(&fixture.memory), TIME_NEVER);
}

static void test_new_event_keeps_its_distance_and_needs_its_own_repress(void **state)
{
	(void)state;
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	assert_int_equal(take(), 1);
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now + 1);
	/* The old one is repressed, the new one is not. */
	repress();
	fixture.now += time_from_code(18) - 1;
	assert_int_equal(take(), 0);
	fixture.now += 1;
	assert_int_equal(take(), 1);
}

static void test_nobody_to_tell_means_no_trap(void **state)
{
	(void)state;
	fixture.hub.ports[0].info.master_sm_lid = 0;
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	assert_int_equal(take(), 0);
	fixture.hub.ports[0].info.master_sm_lid = 3;
	fixture.hub.ports[0].info.capability_mask &= ~(uint32_t)CAPABILITY_TRAP;
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	assert_int_equal(take(), 0);
	/* An adapter's link is its switch's to report. */
	agent_link_changed(&fixture.memory, &fixture.adapter, fixture.now);
	assert_int_equal(take(), 0);
}

static void test_bad_key_makes_trap_256_with_the_offending_request(void **state)
{
	(void)state;
	struct notice notice;
	struct bad_mkey_details details;

	fixture.hub.ports[0].info.mkey = 1;
	fixture.mkey = 2;
	assert_int_equal(fixture_ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_INFO, 3, NULL), -1);
	assert_int_equal(take(), 1);
	notice_decode(smp_data(traps[0].message.bytes), &notice);
	assert_int_equal(notice.header.trap_number, 256);
	assert_int_equal(notice.header.type, NOTICE_SECURITY);
	bad_mkey_details_decode(notice.details, &details);
	assert_int_equal(details.lid, 9);
	assert_int_equal(details.method, MAD_SET);
	assert_int_equal(details.attribute_id, ATTRIBUTE_PORT_INFO);
	assert_int_equal(details.attribute_modifier, 3);
	assert_int_equal(details.mkey, 2);
}

static void test_new_capability_makes_trap_144(void **state)
{
	(void)state;
	struct notice notice;
	struct local_change_details details;
	struct port *port = &fixture.adapter.ports[1];

	port->info.lid = 4;
	port->info.master_sm_lid = 3;
	port->info.port_state = PORT_ACTIVE;
	port->info.capability_mask = 0x1238;
	agent_capability_changed(&fixture.memory, port, fixture.now);
	assert_int_equal(take(), 1);
	notice_decode(smp_data(traps[0].message.bytes), &notice);
	assert_int_equal(notice.header.trap_number, 144);
	local_change_details_decode(notice.details, &details);
	assert_int_equal(details.lid, 4);
	assert_int_equal(details.capability_mask, 0x1238);
}

static void test_forgotten_node_sends_nothing(void **state)
{
	(void)state;
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	agent_memory_forget(&fixture.memory, &fixture.hub);
	assert_int_equal(take(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)
		TEST(test_changed_link_makes_trap_128),
		TEST(test_trap_repeats_at_its_distance_until_repressed),
		TEST(test_new_event_keeps_its_distance_and_needs_its_own_repress),
		TEST(test_nobody_to_tell_means_no_trap),
		TEST(test_bad_key_makes_trap_256_with_the_offending_request),
		TEST(test_new_capability_makes_trap_144),
		TEST(test_forgotten_node_sends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
