/* SPDX-License-Identifier: Apache-2.0 */
/* Links that fall and come back: the manager is told, traffic takes other paths, adapters get their
 * events. */
#include "fabric_flow.h"

/* The cable by which the flow's packets leave the first switch. */
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

/* Cables come and go at random under traffic; in the end all are plugged in and every message
 * arrives. */
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

/* How long a connection can wait: ACK timeout 14, which is 67 ms, and seven retries. */
enum { WAIT_MS_MAX = 8 * 67 };

/* Pulls the cable of one of the two hosts for this time while messages are on it. */
static void flap_host(struct flow *flow, struct sim_host *host, time_ns down_ns)
{
	struct port *port = &host->node->ports[1];
	struct sim *sim = flow->sim;

	for (unsigned i = 0; i < 3; i++)
		flow_post(flow);
	sim_run_until(sim, sim->now + MICROSECONDS(1));
	fabric_set_cable(&sim->fabric, port, false, sim->now);
	flow_post(flow);
	sim_run_until(sim, sim->now + down_ns);
	fabric_set_cable(&sim->fabric, port, true, sim->now);
}

/* A switch may hold back the trap of a link that is up again for as long as SubnetTimeOut, which is
 * longer than the retries last. The traps of the manager's own link reach nobody. */
static void test_connection_outlives_a_cable_that_is_back_before_its_retries_end(void **state)
{
	static const unsigned down_ms[] = {1, 2, 9, 11, 49, 100, 300, 450};
	static const char *const hosts[] = {"h1", "h2"}; /* the manager runs on h1 */

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(down_ms) * ARRAY_COUNT(hosts) * 2; i++) {
		unsigned ms = down_ms[i / 4];
		struct flow flow;
		struct sim sim;

		assert_true(ms < WAIT_MS_MAX);
		sim_up(&sim, "star:3", i);
		sim.fabric.is_paced = i / 2 % 2 == 0;
		flow_init(&flow, &sim, sim_find_host(&sim, "h1"), sim_find_host(&sim, "h2"), i);
		flap_host(&flow, sim_find_host(&sim, hosts[i % 2]), MILLISECONDS(ms));
		sim_run_until(&sim, sim.now + MILLISECONDS(WAIT_MS_MAX));
		flow_check(&flow);
		if (flow.received != flow.posted || flow.sent != flow.posted)
			fail_msg("%s, %u ms: %u of %u", hosts[i % 2], ms, flow.received,
				 flow.posted);
		sim_check(&sim);
		flow_release(&flow);
		sim_release(&sim);
	}
}

static void test_connection_whose_cable_is_out_for_longer_ends_with_its_retries(void **state)
{
	const struct completion *completion;
	struct flow flow;
	struct sim sim;

	(void)state;
	sim_up(&sim, "star:3", 1);
	flow_init(&flow, &sim, sim_find_host(&sim, "h1"), sim_find_host(&sim, "h2"), 1);
	flap_host(&flow, flow.to.host, MILLISECONDS(2 * WAIT_MS_MAX));
	for (unsigned i = 0; i < 3; i++) {
		completion = cq_first(flow.from.cq);
		assert_int_equal(completion->status, COMPLETION_SUCCESS);
		cq_advance(flow.from.cq);
	}
	completion = cq_first(flow.from.cq);
	assert_non_null(completion);
	assert_int_equal(completion->status, COMPLETION_RETRY_EXCEEDED);
	cq_advance(flow.from.cq);
	flow_release(&flow);
	sim_release(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traffic_moves_to_another_path_when_a_cable_is_pulled),
		cmocka_unit_test(test_host_that_lost_its_cable_gets_its_lid_back),
		cmocka_unit_test(test_flapping_under_traffic_loses_no_message),
		cmocka_unit_test(
			test_connection_outlives_a_cable_that_is_back_before_its_retries_end),
		cmocka_unit_test(
			test_connection_whose_cable_is_out_for_longer_ends_with_its_retries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
