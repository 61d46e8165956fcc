/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manager with each routing engine on the topologies that it is for: after bring-up, after a link
 * and a switch were lost, and with all of it back, every pair of adapters exchanges packets; where
 * the engine promises it, the tables and SL to VL maps that the switches hold have no credit loop.
 */
#include "manager_proofs.h"

static struct rig rig;

static const struct {
	const char *engine, *topology;
	bool survives; /* stays connected without one switch, or falls back to min-hop */
} cases[] = {
	{"minhop", "fat-tree:4", true},	   {"updn", "mesh:3x3", true},
	{"dnup", "ring:5", false},	   {"ftree", "fat-tree:4", true},
	{"lash", "ring:6", true},	   {"lash", "torus:3x3", true},
	{"dor", "torus:4x3", false},	   {"sssp", "star:4", true},
	{"sssp", "fat-tree:4", true},	   {"dfsssp", "ring:7", true},
	{"dfsssp", "torus:4x4", true},	   {"dfsssp", "mesh:3x3", true},
	{"torus-2QoS", "torus:5x4", true}, {"torus-2QoS", "torus:3x3x3", true},
	{"torus-2QoS", "mesh:3x3", true},  {"nue", "torus:3x3x3", true},
	{"nue", "ring:6", true},	   {"nue", "fat-tree:4", true},
	{"random", "fat-tree:4", true},	   {"random", "torus:3x3", true},
};

/* Dimension order uses two lanes, and two more around a lost switch; other engines use all. */
static unsigned lanes_max(const char *engine)
{
	return strcmp(engine, "dor") == 0 ? 2 : strcmp(engine, "torus-2QoS") == 0 ? 4 : 8;
}

static void prove(const char *engine)
{
	struct sm_status status;

	sm_status(rig.managers[0].sm, &status);
	assert_string_equal(status.engine, engine);
	rig_check(&rig);
	rig_exchange(&rig);
	if (rig_is_promised_no_loops(&rig))
		rig_check_credit_loops(&rig, lanes_max(engine));
}

static void start(unsigned index, uint8_t lmc)
{
	const struct sm_options options = {
		.sweep_interval = SECONDS(1), .routing_engine = cases[index].engine, .lmc = lmc};
	struct topology_error error;

	rig_init(&rig, index + 1);
	assert_int_equal(topology_generate(&rig.fabric, cases[index].topology, &error), 0);
	for (uint32_t i = 0; i < rig.fabric.node_count && !rig.manager_count; i++)
		if (!node_is_switch(rig.fabric.by_index[i]))
			rig_start(&rig, rig.fabric.by_index[i], &options);
	rig_run(&rig, rig.now + SECONDS(20));
}

static void set_cables(struct node *node, bool is_up)
{
	for (unsigned i = 1; i <= node->port_count; i++)
		if (node->ports[i].peer)
			fabric_set_cable(&rig.fabric, &node->ports[i], is_up, rig.now);
	rig_run(&rig, rig.now + SECONDS(20));
}

/* The last switch: the manager's host is on the first. */
static struct node *last_switch(void)
{
	for (uint32_t i = rig.fabric.node_count; i > 0; i--)
		if (node_is_switch(rig.fabric.by_index[i - 1]))
			return rig.fabric.by_index[i - 1];
	return NULL;
}

static void test_every_engine_brings_its_topologies_up(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		start(i, 0);
		prove(cases[i].engine);
		rig_release(&rig);
	}
}

static void test_every_engine_gives_several_lids_different_paths(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		start(i, 1);
		prove(cases[i].engine);
		rig_release(&rig);
	}
}

static void test_a_lost_switch_is_routed_around_and_taken_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		start(i, 0);
		set_cables(last_switch(), false);
		prove(cases[i].survives ? cases[i].engine : "minhop");
		set_cables(last_switch(), true);
		prove(cases[i].engine);
		rig_release(&rig);
	}
}

/* SL to VL maps are written where there is a link. A link that comes later gets maps of its own. */
static void test_a_link_that_comes_later_has_its_lanes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct topology_error error;
		const struct sm_options options = {.sweep_interval = SECONDS(1),
						   .routing_engine = cases[i].engine};
		struct port *port;

		if (strncmp(cases[i].topology, "torus", 5) != 0)
			continue;
		rig_init(&rig, i + 1);
		assert_int_equal(topology_generate(&rig.fabric, cases[i].topology, &error), 0);
		/* The cable over the dateline of the first ring. */
		port = &fabric_find_guid(&rig.fabric, 0x025f1b0200010000)->ports[2];
		fabric_set_cable(&rig.fabric, port, false, rig.now);
		for (uint32_t k = 0; k < rig.fabric.node_count && !rig.manager_count; k++)
			if (!node_is_switch(rig.fabric.by_index[k]))
				rig_start(&rig, rig.fabric.by_index[k], &options);
		rig_run(&rig, rig.now + SECONDS(20));
		fabric_set_cable(&rig.fabric, port, true, rig.now);
		rig_run(&rig, rig.now + SECONDS(20));
		prove(cases[i].engine);
		if (strcmp(cases[i].engine, "torus-2QoS") == 0)
			rig_check_credit_loops(&rig, 2);
		rig_release(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_engine_brings_its_topologies_up),
		cmocka_unit_test(test_every_engine_gives_several_lids_different_paths),
		cmocka_unit_test(test_a_lost_switch_is_routed_around_and_taken_back),
		cmocka_unit_test(test_a_link_that_comes_later_has_its_lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
