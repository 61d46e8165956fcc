/* SPDX-License-Identifier: Apache-2.0 */
/* Traps: their sender, their distance, and their repression (management 5.3). */
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

	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	assert_int_equal(fixture.hub.switch_info.port_state_change, 1);
	assert_int_equal(agent_deadline(&fixture.memory), fixture.now);
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
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

static void test_new_event_keeps_its_distance_and_needs_its_own_repress(void **state)
{
	(void)state;
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	assert_int_equal(take(), 1);
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now + 1);
	/* The old trap is repressed, the new one is not. */
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
	/* The switch at the other end reports an adapter's link. */
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

static uint16_t number_of(const struct agent_trap *trap)
{
	struct notice notice;
	struct mad_message message = trap->message;

	notice_decode(smp_data(message.bytes), &notice);
	return notice.header.trap_number;
}

/* Traps of different events keep the distance too. The repressed one is not repeated. */
static void test_different_traps_of_a_port_share_its_distance(void **state)
{
	(void)state;
	time_ns distance = time_from_code(18);

	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	agent_link_integrity(&fixture.memory, &fixture.hub.ports[1], fixture.now);
	agent_link_integrity(&fixture.memory, &fixture.hub.ports[2], fixture.now);
	assert_int_equal(take(), 1);
	assert_int_equal(number_of(&traps[0]), 128);
	repress();
	assert_int_equal(take(), 0);
	for (unsigned i = 0; i < 4; i++) {
		fixture.now += distance;
		assert_int_equal(take(), 1);
		assert_int_equal(number_of(&traps[0]), 129);
		assert_int_equal(smp_data(traps[0].message.bytes)[14], 1 + i % 2);
	}
}

static void test_toggle_alternates_with_each_new_notice(void **state)
{
	(void)state;
	struct notice notice;

	for (unsigned i = 0; i < 4; i++) {
		agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
		assert_int_equal(take(), 1);
		notice_decode(smp_data(traps[0].message.bytes), &notice);
		assert_int_equal(notice.header.toggle, i % 2);
		fixture.now += time_from_code(18);
	}
}

static struct notice read_notice(enum mad_method method, const struct notice *written)
{
	uint8_t data[SMP_DATA_BYTES] = {0};
	struct notice notice;

	if (written)
		notice_encode(written, data);
	assert_int_equal(fixture_ask(&fixture.hub, method, ATTRIBUTE_NOTICE, 0, data), 0);
	notice_decode(fixture_data(), &notice);
	return notice;
}

static void test_notices_can_be_read_and_removed_one_by_one(void **state)
{
	(void)state;
	assert_int_equal(read_notice(MAD_GET, NULL).header.type, NOTICE_EMPTY);
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	agent_buffer_overrun(&fixture.memory, &fixture.hub.ports[1], fixture.now);

	struct notice first = read_notice(MAD_GET, NULL);

	assert_int_equal(first.header.trap_number, 128);
	assert_int_equal(first.header.count, 2);

	struct notice wrong = first;

	wrong.header.toggle ^= 1;
	assert_int_equal(read_notice(MAD_SET, &wrong).header.trap_number, 128);

	struct notice second = read_notice(MAD_SET, &first);

	assert_int_equal(second.header.trap_number, 130);
	assert_int_equal(second.header.count, 1);
	assert_int_equal(read_notice(MAD_SET, &second).header.type, NOTICE_EMPTY);
	assert_int_equal(take(), 0);
}

static void test_port_with_too_much_to_tell_forgets_the_oldest(void **state)
{
	(void)state;
	unsigned count = 0;

	for (unsigned i = 0; i < 100; i++)
		agent_local_change(&fixture.memory, &fixture.hub.ports[1], fixture.now,
				   (uint16_t)(i + 1));
	for (unsigned i = 0; i < 100; i++, fixture.now += time_from_code(18)) {
		if (!take())
			break;
		repress();
		count++;
	}
	assert_int_equal(count, 8);
}

static void test_trap_of_a_port_that_fell_silent_is_forgotten(void **state)
{
	(void)state;
	agent_link_changed(&fixture.memory, &fixture.hub, fixture.now);
	fixture.hub.ports[0].info.master_sm_lid = 0;
	assert_int_equal(take(), 0);
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
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
		TEST(test_different_traps_of_a_port_share_its_distance),
		TEST(test_toggle_alternates_with_each_new_notice),
		TEST(test_notices_can_be_read_and_removed_one_by_one),
		TEST(test_port_with_too_much_to_tell_forgets_the_oldest),
		TEST(test_trap_of_a_port_that_fell_silent_is_forgotten),
		TEST(test_forgotten_node_sends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
