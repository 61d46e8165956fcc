/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of general service classes: in order, once each, and dropped with their node (management
 * 5.3). */
#include "congestion_rig.h"

#include "mgmt/agents/class_traps.h"

static const struct trap_class class = {
	.management_class = MAD_CLASS_CONGESTION_CONTROL,
	.class_version = CONGESTION_CLASS_VERSION,
	.address = {.lid = 6, .qpn = 1},
};

static void queue(struct port *port, uint16_t trap_number)
{
	const struct notice notice = {.header = {.trap_number = trap_number}};

	port->info.port_state = PORT_ACTIVE;
	port->info.lid = 2;
	class_trap_queue(&fixture.memory, port, 100, &class, &notice);
}

static uint16_t number_of(const struct agent_trap *trap)
{
	struct notice notice;

	notice_decode(trap->message.bytes + SMP_DATA_OFFSET, &notice);
	return notice.header.trap_number;
}

static void test_traps_leave_in_order_and_once(void **state)
{
	struct agent_trap traps[2];

	(void)state;
	for (uint16_t number = 0; number < 3; number++)
		queue(&fixture.adapter.ports[1], number);
	assert_int_equal(agent_deadline(&fixture.memory), 100);
	assert_int_equal(agent_take_traps(&fixture.memory, 100, 2, traps), 2);
	assert_int_equal(number_of(&traps[0]), 0);
	assert_int_equal(number_of(&traps[1]), 1);
	assert_int_equal(agent_deadline(&fixture.memory), 100);
	assert_int_equal(agent_take_traps(&fixture.memory, 100, 2, traps), 1);
	assert_int_equal(number_of(&traps[0]), 2);
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

static void test_vendor_notice_keeps_its_vendor(void **state)
{
	const struct notice vendor = {.header = {.producer_type = 0x025f1b, .trap_number = 9}};
	struct port *port = &fixture.adapter.ports[1];
	struct agent_trap trap;
	struct notice notice;

	(void)state;
	queue(port, 1);
	class_trap_queue(&fixture.memory, port, 100, &class, &vendor);
	assert_true(class_trap_take(&fixture.memory, &trap));
	notice_decode(trap.message.bytes + SMP_DATA_OFFSET, &notice);
	assert_int_equal(notice.header.is_generic, 1);
	assert_int_equal(notice.header.producer_type, PRODUCER_CA);
	assert_true(class_trap_take(&fixture.memory, &trap));
	notice_decode(trap.message.bytes + SMP_DATA_OFFSET, &notice);
	assert_int_equal(notice.header.is_generic, 0);
	assert_int_equal(notice.header.producer_type, 0x025f1b);
}

static void test_port_that_is_down_tells_nothing(void **state)
{
	const struct notice notice = {0};

	(void)state;
	class_trap_queue(&fixture.memory, &fixture.adapter.ports[1], 0, &class, &notice);
	assert_true(list_is_empty(&fixture.memory.class_traps));
}

static void test_node_that_goes_takes_its_traps_along(void **state)
{
	struct agent_trap trap;

	(void)state;
	queue(&fixture.adapter.ports[1], 1);
	queue(&fixture.hub.ports[0], 2);
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_true(class_trap_take(&fixture.memory, &trap));
	assert_int_equal(number_of(&trap), 2);
	assert_false(class_trap_take(&fixture.memory, &trap));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_traps_leave_in_order_and_once),
		TEST(test_vendor_notice_keeps_its_vendor),
		TEST(test_port_that_is_down_tells_nothing),
		TEST(test_node_that_goes_takes_its_traps_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
