/* SPDX-License-Identifier: Apache-2.0 */
/* A manager brings up every kind of topology, by real SMPs over the fabric itself. */
#include "fabric_flow.h"

static void expect_all_active(struct sim *sim)
{
	for (uint32_t index = 0; index < sim->fabric.node_count; index++) {
		struct node *node = sim->fabric.by_index[index];

		assert_int_not_equal(node_management_port(node, 1)->info.lid, 0);
		for (unsigned number = 1; number <= node->port_count; number++)
			if (node->ports[number].peer)
				assert_true(port_is_active(&node->ports[number]));
	}
}

static void test_every_topology_comes_up(void **state)
{
	static const char *const topologies[] = {
		"star:1",     "star:2",	  "star:40",   "star:300",   "ring:1",
		"ring:2",     "ring:9",	  "ring:123",  "fat-tree:2", "fat-tree:4",
		"fat-tree:6", "mesh:1x5", "mesh:1x62", "mesh:4x3"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(topologies); i++) {
		struct sim sim;

		sim_up(&sim, topologies[i], i);
		expect_all_active(&sim);
		sim_release(&sim);
	}
}

/* Two hosts with two adapters of two ports each, and no switch in between. */
static void test_hosts_back_to_back_come_up(void **state)
{
	struct sim sim;

	(void)state;
	sim_up(&sim, "Ca 1 \"a\" # \"left\"\n[1] \"b\"\nCa 1 \"b\" # \"right\"\n", 1);
	expect_all_active(&sim);
	sim_release(&sim);
}

static void test_thousand_hosts_come_up(void **state)
{
	struct topology_error error;
	struct sim sim;

	(void)state;
	assert_int_equal(sim_init(&sim, "star:1000", 1, &error), 0);
	assert_int_equal(sim_start_sm(&sim, &sim.hosts[0], 0, 0), 0);
	assert_true(sim_bring_up(&sim, SECONDS(60)));
	expect_all_active(&sim);
	sim_release(&sim);
}

static void test_same_seed_gives_the_same_run(void **state)
{
	uint64_t words[2][2];

	(void)state;
	for (unsigned run = 0; run < 2; run++) {
		struct sim sim;

		sim_up(&sim, "fat-tree:4", 77);
		words[run][0] = sim.hosts[0].node->ports[1].counters.transmit_words;
		words[run][1] = sim.now;
		sim_release(&sim);
	}
	assert_memory_equal(words[0], words[1], sizeof(words[0]));
	assert_int_not_equal(words[0][0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_topology_comes_up),
		cmocka_unit_test(test_hosts_back_to_back_come_up),
		cmocka_unit_test(test_thousand_hosts_come_up),
		cmocka_unit_test(test_same_seed_gives_the_same_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
