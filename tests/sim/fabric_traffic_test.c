/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable connections across switches that lose, corrupt, duplicate and reorder packets. */
#include "fabric_flow.h"

static void test_messages_cross_a_fat_tree(void **state)
{
	struct sim sim;
	struct flow flow;

	(void)state;
	sim_up(&sim, "fat-tree:4", 1);
	flow_init(&flow, &sim, sim_find_host(&sim, "h1"), sim_find_host(&sim, "h16"), 1);
	for (unsigned i = 0; i < FLOW_MESSAGES_MAX; i++)
		flow_post(&flow);
	sim_settle(&sim);
	flow_check(&flow);
	assert_int_equal(flow.received, FLOW_MESSAGES_MAX);
	assert_int_equal(flow.sent, FLOW_MESSAGES_MAX);
	assert_true(fabric_is_idle(&sim.fabric));
	sim_check(&sim);
	flow_release(&flow);
	sim_release(&sim);
}

/* Between two queue pairs of one adapter: the packets never leave the port. */
static void test_messages_to_the_own_port(void **state)
{
	struct sim sim;
	struct flow flow;
	uint64_t before;

	(void)state;
	sim_up(&sim, "star:2", 1);
	before = sim.hosts[0].node->ports[1].counters.transmit_packets;
	flow_init(&flow, &sim, &sim.hosts[0], &sim.hosts[0], 1);
	for (unsigned i = 0; i < 10; i++)
		flow_post(&flow);
	sim_settle(&sim);
	flow_check(&flow);
	assert_int_equal(flow.received, 10);
	assert_int_equal(sim.hosts[0].node->ports[1].counters.transmit_packets, before);
	flow_release(&flow);
	sim_release(&sim);
}

static void run_with_faults(const struct sim_faults *faults, uint64_t seed)
{
	struct sim sim;
	struct flow there, back;

	sim_up(&sim, "ring:4", seed);
	assert_int_equal(sim_set_faults(&sim, faults), 0);
	flow_init(&there, &sim, &sim.hosts[0], &sim.hosts[2], seed);
	flow_init(&back, &sim, &sim.hosts[3], &sim.hosts[0], seed + 1);
	for (unsigned i = 0; i < 40; i++) {
		flow_post(&there);
		flow_post(&back);
		sim_run_until(&sim, sim.now + MILLISECONDS(1));
		flow_check(&there);
		flow_check(&back);
	}
	sim_run_until(&sim, sim.now + SECONDS(60));
	flow_check(&there);
	flow_check(&back);
	if (there.received != 40 || back.received != 40 || there.sent != 40 || back.sent != 40)
		fail_msg("seed %llu: received %u and %u, sent %u and %u", (unsigned long long)seed,
			 there.received, back.received, there.sent, back.sent);
	assert_int_not_equal(sim_fault_count(&sim), 0);
	sim_check(&sim);
	flow_release(&there);
	flow_release(&back);
	sim_release(&sim);
}

static void test_each_message_once_and_in_order_whatever_links_do(void **state)
{
	static const struct sim_faults kinds[] = {
		{.drop = 20},
		{.corrupt = 20},
		{.duplicate = 50},
		{.reorder = 50},
		{.drop = 10, .corrupt = 10, .duplicate = 20, .reorder = 20},
	};

	(void)state;
	for (unsigned kind = 0; kind < ARRAY_COUNT(kinds); kind++)
		for (uint64_t seed = 1; seed <= 5; seed++)
			run_with_faults(&kinds[kind], seed * 10 + kind);
}

/* Many senders to one receiver: credits stop them, and nothing is lost. */
static void test_incast_loses_nothing(void **state)
{
	enum { SENDERS = 8 };
	static struct flow flows[SENDERS];
	struct sim sim;

	(void)state;
	sim_up(&sim, "star:9", 3);
	for (unsigned i = 0; i < SENDERS; i++) {
		flow_init(&flows[i], &sim, &sim.hosts[i + 1], &sim.hosts[0], i);
		for (unsigned message = 0; message < 20; message++)
			flow_post(&flows[i]);
	}
	sim_settle(&sim);
	for (unsigned i = 0; i < SENDERS; i++) {
		flow_check(&flows[i]);
		assert_int_equal(flows[i].received, 20);
		flow_release(&flows[i]);
	}
	for (unsigned number = 1; number <= 9; number++)
		assert_int_equal(sim.hosts[0]
					 .node->ports[1]
					 .peer->node->ports[number]
					 .counters.transmit_discards,
				 0);
	sim_check(&sim);
	sim_release(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_cross_a_fat_tree),
		cmocka_unit_test(test_messages_to_the_own_port),
		cmocka_unit_test(test_each_message_once_and_in_order_whatever_links_do),
		cmocka_unit_test(test_incast_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
