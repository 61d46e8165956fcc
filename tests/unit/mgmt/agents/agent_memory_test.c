/* SPDX-License-Identifier: Apache-2.0 */
/* The state that agents keep: its deadlines, and that it is dropped with its node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"

static void test_quiet_fabric_has_nothing_due(void **state)
{
	(void)state;
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

static void test_forgetting_one_node_leaves_the_others(void **state)
{
	(void)state;
	struct agent_trap traps[4];

	for (unsigned i = 0; i < 2; i++) {
		struct port *port = i ? &fixture.adapter.ports[1] : &fixture.hub.ports[0];

		port->info.lid = 4;
		port->info.master_sm_lid = 3;
		port->info.port_state = PORT_ACTIVE;
		agent_capability_changed(&fixture.memory, port, 100);
	}
	assert_int_equal(agent_deadline(&fixture.memory), 100);
	agent_memory_forget(&fixture.memory, &fixture.hub);
	assert_int_equal(agent_take_traps(&fixture.memory, 100, 4, traps), 1);
	assert_ptr_equal(traps[0].port, &fixture.adapter.ports[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_quiet_fabric_has_nothing_due),
		TEST(test_forgetting_one_node_leaves_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
