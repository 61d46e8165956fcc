/* SPDX-License-Identifier: Apache-2.0 */
/* Generated topologies: numbers of nodes, cables and names. */
#include "unit/fabric/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void count(const struct fabric *fabric, unsigned *ret_hosts, unsigned *ret_switches,
		  unsigned *ret_links)
{
	*ret_hosts = *ret_switches = *ret_links = 0;
	for (uint32_t i = 0; i < fabric->node_count; i++) {
		const struct node *node = fabric->by_index[i];

		*(node_is_switch(node) ? ret_switches : ret_hosts) += 1;
		for (unsigned number = 1; number <= node->port_count; number++) {
			const struct port *port = &node->ports[number];

			if (!port->peer)
				continue;
			assert_ptr_equal(port->peer->peer, port);
			assert_int_equal(port->info.port_state, PORT_INIT);
			*ret_links += 1;
		}
	}
	*ret_links /= 2;
}

static void test_each_generator_builds_what_it_says(void **state)
{
	static const struct {
		const char *generator;
		unsigned hosts, switches, links;
	} rows[] = {
		{"star:1", 1, 1, 1},
		{"star:254", 254, 1, 254},
		{"star:255", 255, 11 + 8, 255 + 11 * 8},
		{"star:1000", 1000, 42 + 8, 1000 + 42 * 8},
		{"ring:1", 1, 1, 1},
		{"ring:2", 2, 2, 2 + 2},
		{"ring:5", 5, 5, 5 + 5},
		{"fat-tree:2", 2, 5, 6},
		{"fat-tree:4", 16, 20, 48},
		{"fat-tree:8", 128, 80, 384},
		{"mesh:1x1", 1, 1, 1},
		{"mesh:3x2", 6, 6, 6 + 7},
		{"torus:1x1", 1, 1, 1},
		{"torus:3x4", 12, 12, 12 + 2 * 12},
		{"torus:2x3", 6, 6, 6 + 2 * 6},
		{"torus:4x4x4", 64, 64, 64 + 3 * 64},
		{"torus:3x1x5", 15, 15, 15 + 2 * 15},
		/* with target channel adapters */
		{"star:4+2", 6, 1, 6},
		{"star:4+0", 4, 1, 4},
		{"star:250+10", 260, 11 + 8, 260 + 11 * 8},
		{"ring:3+5", 8, 3, 3 + 8},
		{"fat-tree:4+3", 19, 20, 48 + 3},
		{"mesh:2x2+4", 8, 4, 4 + 8},
		{"torus:2x3+1", 7, 6, 7 + 2 * 6},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
		struct rig rig;
		struct topology_error error;
		unsigned hosts, switches, links;

		rig_init(&rig);
		assert_int_equal(topology_generate(&rig.fabric, rows[i].generator, &error), 0);
		count(&rig.fabric, &hosts, &switches, &links);
		assert_int_equal(hosts, rows[i].hosts);
		assert_int_equal(switches, rows[i].switches);
		assert_int_equal(links, rows[i].links);
		rig_release(&rig);
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static void test_guids_are_unique_and_the_same_every_time(void **state)
{
	struct rig rig;
	uint64_t guids[2000];
	unsigned guid_count = 0;

	(void)state;
	rig_star_bare(&rig, "fat-tree:8");
	for (uint32_t i = 0; i < rig.fabric.node_count; i++) {
		guids[guid_count++] = rig.fabric.by_index[i]->info.node_guid;
		if (!node_is_switch(rig.fabric.by_index[i]))
			guids[guid_count++] = rig.fabric.by_index[i]->ports[1].guid;
	}
	qsort(guids, guid_count, sizeof(*guids), compare);
	for (unsigned i = 1; i < guid_count; i++)
		assert_true(guids[i] > guids[i - 1]);
	assert_int_equal(guids[0], 0x025f1b0100010000);
	assert_string_equal(rig.fabric.by_index[0]->name, "S-025f1b0200010000");
	assert_string_equal(rig.fabric.by_index[0]->description, "switch-1");
	assert_string_equal(fabric_find_guid(&rig.fabric, guids[0])->description, "h1 softib0");
	rig_release(&rig);
}

/* Hosts are as without target channel adapters, which come behind them and on every leaf. */
static void test_target_adapters_are_spread_over_the_leaves(void **state)
{
	struct rig rig, without;

	(void)state;
	rig_star_bare(&rig, "ring:3+4");
	rig_star_bare(&without, "ring:3");
	for (uint32_t i = 0; i < without.fabric.node_count; i++) {
		assert_int_equal(rig.fabric.by_index[i]->info.node_guid,
				 without.fabric.by_index[i]->info.node_guid);
		assert_false(rig.fabric.by_index[i]->is_target);
	}
	for (uint32_t i = 0; i < 4; i++) {
		const struct node *node = rig.fabric.by_index[without.fabric.node_count + i];
		char name[8];

		snprintf(name, sizeof(name), "tca%u", i + 1);
		assert_string_equal(node->host, name);
		assert_true(node->is_target);
		assert_true(node->ports[1].info.capability_mask & CAPABILITY_DEVICE_MANAGEMENT);
		assert_ptr_equal(node->ports[1].peer->node, rig.fabric.by_index[2 * (i % 3)]);
		assert_int_equal(node->ports[1].peer->number, 4 + i / 3);
	}
	rig_release(&rig);
	rig_release(&without);
}

static void test_malformed_generators_are_named(void **state)
{
	static const struct {
		const char *generator, *reason;
	} rows[] = {
		{"star", "unknown topology \"star\""},
		{"cube:3", "unknown topology \"cube:3\""},
		{"torus:3", "\"3\" is not a size that torus takes (AxB or AxBxC)"},
		{"torus:2x2x2x2", "\"2x2x2x2\" is not a size"},
		{"torus:3x0", "torus:AxB[xC] takes 1 to"},
		{"torus:123x4", "this torus has switches more than 63 hops apart"},
		{"torus:40x40x40", "a torus has at most 20000 switches, not 64000"},
		{"star:", "\"\" is not a size that star takes"},
		{"star:4+", "\"4+\" is not a size that star takes"},
		{"star:4+x", "\"4+x\" is not a size"},
		{"star:4+1001", "\"4+1001\" is not a size"},
		{"star:4+2x", "\"4+2x\" is not a size"},
		{"ring:1+252", "252 target channel adapters need more ports"},
		{"star:x", "\"x\" is not a size"},
		{"star:-1", "\"-1\" is not a size"},
		{"star:3x4", "\"3x4\" is not a size"},
		{"star: 3", "\" 3\" is not a size"},
		{"star:0", "star:N takes 1 to"},
		{"star:99999999999999999999", "star:N takes 1 to"},
		{"mesh:3", "\"3\" is not a size that mesh takes (AxB)"},
		{"mesh:3x", "\"3x\" is not a size"},
		{"mesh:3x0", "mesh:AxB takes 1 to"},
		{"mesh:31x33", "mesh:31x33 has corners more than 63 hops apart"},
		{"ring:124", "ring:N takes 1 to 123, not 124"},
		{"fat-tree:5", "fat-tree:K takes an even K, not 5"},
		{"fat-tree:44", "fat-tree:K takes 2 to 42"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
		struct rig rig;
		struct topology_error error;

		rig_init(&rig);
		assert_int_equal(topology_generate(&rig.fabric, rows[i].generator, &error),
				 -EINVAL);
		if (!strstr(error.reason, rows[i].reason))
			fail_msg("%s: %s", rows[i].generator, error.reason);
		assert_int_equal(error.line, 0);
		rig_release(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_generator_builds_what_it_says),
		cmocka_unit_test(test_guids_are_unique_and_the_same_every_time),
		cmocka_unit_test(test_target_adapters_are_spread_over_the_leaves),
		cmocka_unit_test(test_malformed_generators_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
