/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator itself: time that jumps, and the same run from the same seed.
 * Covers: sim/sim_manager.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include "fabric/topology/subnets.h"
#include "sim/sim.h"
#include "wire/pkey.h"

static void test_bad_topology_is_reported(void **state)
{
	struct sim sim;
	struct topology_error error;

	(void)state;
	assert_int_equal(sim_init(&sim, "star:0", 1, &error), -EINVAL);
	assert_int_equal(sim_init(&sim, "Switch 2 \"a\"\n[3] \"b\"\n", 1, &error), -EINVAL);
	assert_int_equal(error.line, 2);
}

static void test_manager_brings_a_star_up_and_adapters_hear_of_it(void **state)
{
	struct sim sim;
	struct topology_error error;

	(void)state;
	assert_int_equal(sim_init(&sim, "star:3", 1, &error), 0);
	assert_int_equal(sim.host_count, 3);
	assert_int_equal(sim_start_sm(&sim, sim_find_host(&sim, "h2"), 0, 0), 0);
	assert_true(sim_bring_up(&sim, SECONDS(10)));
	for (uint32_t i = 0; i < 3; i++) {
		const struct port_view *view = &sim.hosts[i].hca.ports[0];

		assert_int_equal(view->state, PORT_ACTIVE);
		assert_int_equal(view->lid, sim.hosts[i].node->ports[1].info.lid);
		assert_int_equal(view->sm_lid, sim_find_host(&sim, "h2")->node->ports[1].info.lid);
		assert_int_equal(view->pkeys[0], PKEY_DEFAULT_FULL);
		assert_int_equal(view->link_speed_active, 32); /* EDR as the verbs say it */
		assert_int_equal(sim.hosts[i].event_counts[HCA_EVENT_PORT_ACTIVE], 1);
	}
	sim_release(&sim);
}

static void test_each_subnet_has_its_own_manager_and_prefix(void **state)
{
	const struct sm_options options = {.sweep_interval = SECONDS(1)};
	struct sim sim;
	struct topology_error error;

	(void)state;
	assert_int_equal(sim_init(&sim, "routed:3x2", 1, &error), 0);
	assert_int_equal(sim_start_sms(&sim, &options), 0);
	assert_int_equal(sim.manager_count, 3);
	assert_true(sim_bring_up(&sim, SECONDS(10)));
	for (uint32_t i = 0; i < 6; i++) {
		const struct port *port = &sim.hosts[i].node->ports[1];

		assert_int_equal(port->info.port_state, PORT_ACTIVE);
		assert_int_equal(port->info.gid_prefix, SUBNET_PREFIX(i / 2));
		assert_ptr_equal(sim_manager_of(&sim, port), sim.managers[i / 2].sm);
		assert_int_equal(port->info.master_sm_lid, sim.managers[i / 2].port->info.lid);
	}
	sim_release(&sim);
}

static void test_time_stands_still_without_deadlines(void **state)
{
	struct sim sim;
	struct topology_error error;

	(void)state;
	assert_int_equal(sim_init(&sim, "star:2", 1, &error), 0);
	assert_true(sim_run_until_quiet(&sim, SECONDS(5)));
	assert_int_equal(sim.now, 0);
	sim_run_until(&sim, SECONDS(5));
	assert_int_equal(sim.now, SECONDS(5));
	sim_release(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_topology_is_reported),
		cmocka_unit_test(test_manager_brings_a_star_up_and_adapters_hear_of_it),
		cmocka_unit_test(test_each_subnet_has_its_own_manager_and_prefix),
		cmocka_unit_test(test_time_stands_still_without_deadlines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
