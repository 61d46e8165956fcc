/* SPDX-License-Identifier: Apache-2.0 */
/* Links that fall and come back: the manager hears of it, traffic moves, adapters get their events.
 */
#include "fabric_flow.h"

/* The cable that the flow's packets leave the first switch by. */
static struct port *busy_cable(struct flow *flow)
{
	struct fabric_path path;

	fabric_walk(&flow->sim->fabric, &flow->from.host->node->ports[1],
		    flow->to.host->node->ports[1].info.lid, 0, 0xffff, &path);
	assert_int_equal(path.verdict, DROP_NONE);
	assert_true(path.hop_count >= 3);
	return path.hops[1].output;
}

static void test_traffic_moves_to_another_path_when_a_cable_is_pulled(void **state)
{
	struct sim sim;
	struct flow flow;
	struct port *cable;

	(void)state;
	sim_up(&sim, "ring:5", 1);
	flow_init(&flow, &sim, &sim.hosts[1], &sim.hosts[3], 1);
	for (unsigned i = 0; i < 10; i++)
		flow_post(&flow);
	sim_settle(&sim);
	flow_check(&flow);
	assert_int_equal(flow.received, 10);
	cable = busy_cable(&flow);
	fabric_set_cable(&sim.fabric, cable, false, sim.now);
	for (unsigned i = 0; i < 10; i++)
		flow_post(&flow);
	sim_run_until(&sim, sim.now + SECONDS(5));
	flow_check(&flow);
	assert_int_equal(flow.received, 20);
	assert_int_equal(flow.sent, 20);
	assert_ptr_not_equal(busy_cable(&flow), cable);
	sim_check(&sim);
	fabric_set_cable(&sim.fabric, cable, true, sim.now);
	sim_run_until(&sim, sim.now + SECONDS(5));
	assert_true(port_is_active(cable));
	assert_true(port_is_active(cable->peer));
	for (unsigned i = 0; i < 10; i++)
		flow_post(&flow);
	sim_run_until(&sim, sim.now + SECONDS(5));
	flow_check(&flow);
	assert_int_equal(flow.received, 30);
	sim_check(&sim);
	flow_release(&flow);
	sim_release(&sim);
}

static void test_host_that_lost_its_cable_gets_its_lid_back(void **state)
{
	struct sim sim;
	struct sim_host *host;
	struct port *port;
	uint16_t lid;

	(void)state;
	sim_up(&sim, "star:4", 1);
	host = sim_find_host(&sim, "h3");
	port = &host->node->ports[1];
	lid = port->info.lid;
	fabric_set_cable(&sim.fabric, port, false, sim.now);
	sim_run_until(&sim, sim.now + SECONDS(3));
	assert_int_equal(host->event_counts[HCA_EVENT_PORT_ERROR], 1);
	assert_int_equal(host->hca.ports[0].state, PORT_DOWN);
	fabric_set_cable(&sim.fabric, port, true, sim.now);
	sim_run_until(&sim, sim.now + SECONDS(3));
	assert_true(port_is_active(port));
	assert_int_equal(port->info.lid, lid);
	assert_int_equal(host->event_counts[HCA_EVENT_PORT_ACTIVE], 2);
	sim_check(&sim);
	sim_release(&sim);
}

/* Cables come and go at random under traffic; at the end all are in and everything arrives. */
static void test_flapping_under_traffic_loses_no_message(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct sim sim;
		struct flow flow;
		struct random random = random_seeded(seed);

		sim_up(&sim, "fat-tree:4", seed);
		flow_init(&flow, &sim, sim_find_host(&sim, "h2"), sim_find_host(&sim, "h15"), seed);
		for (unsigned i = 0; i < 30; i++) {
			struct port *cable = busy_cable(&flow);

			flow_post(&flow);
			fabric_set_cable(&sim.fabric, cable, false, sim.now);
			sim_run_until(&sim, sim.now + MILLISECONDS(1 + random_below(&random, 200)));
			fabric_set_cable(&sim.fabric, cable, true, sim.now);
			sim_run_until(&sim, sim.now + SECONDS(3));
			flow_check(&flow);
			if (flow.received != i + 1)
				fail_msg("seed %llu, message %u", (unsigned long long)seed, i);
		}
		sim_check(&sim);
		flow_release(&flow);
		sim_release(&sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traffic_moves_to_another_path_when_a_cable_is_pulled),
		cmocka_unit_test(test_host_that_lost_its_cable_gets_its_lid_back),
		cmocka_unit_test(test_flapping_under_traffic_loses_no_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
