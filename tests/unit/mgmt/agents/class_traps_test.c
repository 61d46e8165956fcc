/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of general service classes: in order, at a distance, until repressed, dropped with their
 * node (management 5.3). */
#include "congestion_rig.h"

#include "mgmt/agents/class_traps.h"
#include "wire/notice.h"

static const struct trap_class class = {
	.management_class = MAD_CLASS_CONGESTION_CONTROL,
	.class_version = CONGESTION_CLASS_VERSION,
};

static void set_address(struct node *node, uint16_t lid)
{
	const struct class_port_info place = {
		.trap_lid = lid, .trap_qpn = 1, .trap_qkey = 0x80010000};
	uint8_t data[DATA_BYTES] = {0};

	class_port_info_encode(&place, data);
	assert_int_equal(congestion_ask(node, 0, MAD_SET, ATTRIBUTE_CLASS_PORT_INFO, 0, data),
			 MAD_STATUS_OK);
}

static int setup(void **state)
{
	int error = fixture_setup(state);

	fixture.adapter.index = 1;
	fixture.hub.index = 2;
	fixture.now = 100;
	set_address(&fixture.adapter, 6);
	set_address(&fixture.hub, 6);
	return error;
}

static void queue(struct port *port, uint16_t trap_number, uint8_t detail)
{
	const struct notice notice = {.header = {.trap_number = trap_number}, .details = {detail}};

	port->info.port_state = PORT_ACTIVE;
	port->info.lid = 2;
	class_trap_queue(&fixture.memory, port, fixture.now, &class, &notice);
}

/* The number of the next trap. */
static uint16_t take(struct agent_trap *ret_trap)
{
	struct notice notice;

	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 1, ret_trap), 1);
	notice_decode(ret_trap->message.bytes + SMP_DATA_OFFSET, &notice);
	return notice.header.trap_number;
}

static bool is_quiet(void)
{
	struct agent_trap trap;

	return agent_take_traps(&fixture.memory, fixture.now, 1, &trap) == 0;
}

static void wait_distance(void)
{
	fixture.now += time_from_code(fixture.adapter.ports[1].info.subnet_timeout);
}

static void repress(struct node *node, const struct agent_trap *trap)
{
	struct mad_message message = trap->message;

	message.bytes[MAD_METHOD_OFFSET] = MAD_TRAP_REPRESS;
	assert_int_equal(gsa_receive(&fixture.environment, node, node_is_switch(node) ? 0 : 1,
				     fixture.now, &message, &fixture.answer),
			 AGENT_CONSUMED);
}

static void test_traps_leave_in_order_and_apart(void **state)
{
	struct agent_trap trap;

	(void)state;
	for (uint16_t number = 0; number < 3; number++)
		queue(&fixture.adapter.ports[1], number, 0);
	assert_int_equal(agent_deadline(&fixture.memory), 100);
	for (uint16_t number = 0; number < 3; number++) {
		assert_int_equal(take(&trap), number);
		assert_true(is_quiet());
		repress(&fixture.adapter, &trap);
		wait_distance();
	}
	assert_true(is_quiet());
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

static void test_vendor_notice_keeps_its_vendor(void **state)
{
	const struct notice vendor = {.header = {.producer_type = 0x025f1b, .trap_number = 9}};
	struct port *port = &fixture.adapter.ports[1];
	struct agent_trap trap;
	struct notice notice;

	(void)state;
	queue(port, 1, 0);
	class_trap_queue(&fixture.memory, port, fixture.now, &class, &vendor);
	assert_int_equal(take(&trap), 1);
	notice_decode(trap.message.bytes + SMP_DATA_OFFSET, &notice);
	assert_int_equal(notice.header.is_generic, 1);
	assert_int_equal(notice.header.producer_type, PRODUCER_CA);
	repress(&fixture.adapter, &trap);
	wait_distance();
	assert_int_equal(take(&trap), 9);
	notice_decode(trap.message.bytes + SMP_DATA_OFFSET, &notice);
	assert_int_equal(notice.header.is_generic, 0);
	assert_int_equal(notice.header.producer_type, 0x025f1b);
}

static void test_trap_is_repeated_until_its_own_class_represses_it(void **state)
{
	struct agent_trap trap, other;

	(void)state;
	queue(&fixture.adapter.ports[1], 7, 0);
	assert_int_equal(take(&trap), 7);
	other = trap;
	other.message.bytes[MAD_CLASS_OFFSET] = MAD_CLASS_PERFORMANCE;
	other.message.bytes[MAD_VERSION_OFFSET] = 1;
	repress(&fixture.adapter, &other);
	wait_distance();
	assert_int_equal(take(&other), 7);
	assert_memory_equal(&trap.message.bytes, &other.message.bytes, MAD_BYTES);
	repress(&fixture.adapter, &trap);
	wait_distance();
	assert_true(is_quiet());
}

static void test_equal_traps_become_one_and_others_do_not(void **state)
{
	struct agent_trap trap;
	unsigned count = 0;

	(void)state;
	for (uint8_t i = 0; i < 20; i++)
		queue(&fixture.adapter.ports[1], 7, i % 2);
	for (; count < 40 && !list_is_empty(&fixture.memory.traps); count++) {
		if (agent_take_traps(&fixture.memory, fixture.now, 1, &trap))
			repress(&fixture.adapter, &trap);
		wait_distance();
	}
	assert_int_equal(count, 3); /* two traps, and the end of the source */
}

static void test_port_that_is_down_tells_nothing(void **state)
{
	const struct notice notice = {0};

	(void)state;
	class_trap_queue(&fixture.memory, &fixture.adapter.ports[1], 0, &class, &notice);
	assert_true(list_is_empty(&fixture.memory.traps));
}

static void test_class_without_an_address_tells_nothing(void **state)
{
	struct agent_trap trap;

	(void)state;
	queue(&fixture.adapter.ports[1], 7, 0);
	assert_int_equal(take(&trap), 7);
	set_address(&fixture.adapter, 0);
	wait_distance();
	assert_true(is_quiet());
	queue(&fixture.adapter.ports[1], 8, 0);
	assert_true(is_quiet());
	/* Repeats go to the address of the time. */
	set_address(&fixture.adapter, 6);
	queue(&fixture.adapter.ports[1], 9, 0);
	set_address(&fixture.adapter, 7);
	assert_int_equal(take(&trap), 9);
	assert_int_equal(trap.message.address.lid, 7);
}

static void test_node_that_goes_takes_its_traps_along(void **state)
{
	struct agent_trap trap;

	(void)state;
	queue(&fixture.adapter.ports[1], 1, 0);
	queue(&fixture.hub.ports[0], 2, 0);
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_int_equal(take(&trap), 2);
	assert_true(is_quiet());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)
		TEST(test_traps_leave_in_order_and_apart),
		TEST(test_trap_is_repeated_until_its_own_class_represses_it),
		TEST(test_equal_traps_become_one_and_others_do_not),
		TEST(test_vendor_notice_keeps_its_vendor),
		TEST(test_port_that_is_down_tells_nothing),
		TEST(test_class_without_an_address_tells_nothing),
		TEST(test_node_that_goes_takes_its_traps_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
