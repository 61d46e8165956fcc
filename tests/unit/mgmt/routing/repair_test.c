/* SPDX-License-Identifier: Apache-2.0 */
/* Repaired routes are as short as newly made ones, and little else moves. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/engines.h"
#include "mgmt/routing/minhop.h"
#include "mgmt/routing/port_balance.h"
#include "mgmt/routing/ranks.h"
#include "mgmt/routing/repair.h"
#include "mgmt/routing/updown.h"
#include "support/routing_graphs.h"

enum { SWITCHES_MAX = 40, PORTS = 12, HOSTS_PER_SWITCH = 2 };

static uint8_t port_next[SWITCHES_MAX];

static void connect(struct routing_graph *graph, uint32_t a, uint32_t b)
{
	if (a != b && port_next[a] <= PORTS && port_next[b] <= PORTS)
		routing_graph_link(graph, a, port_next[a]++, b, port_next[b]++);
}

/* A tree with as many additional links; hosts have their own ports. */
static void build(struct routing_graph *graph, uint32_t switch_count, struct random *random)
{
	uint32_t destination_count = switch_count * (1 + HOSTS_PER_SWITCH);

	assert_int_equal(routing_graph_init(graph, switch_count, destination_count,
					    (uint16_t)destination_count),
			 0);
	for (uint32_t i = 0; i < switch_count; i++) {
		assert_int_equal(routing_graph_set_ports(graph, i, PORTS + HOSTS_PER_SWITCH), 0);
		port_next[i] = 1;
	}
	for (uint32_t i = 1; i < switch_count; i++)
		connect(graph, i, (uint32_t)random_below(random, i));
	for (uint32_t i = 0; i < 2 * switch_count; i++)
		connect(graph, (uint32_t)random_below(random, switch_count),
			(uint32_t)random_below(random, switch_count));
	for (uint32_t i = 0; i < destination_count; i++) {
		uint32_t kind = i / switch_count;

		graph->destinations[i] = (struct routing_destination){
			.lid = (uint16_t)(i + 1),
			.switch_index = i % switch_count,
			.port_number = (uint8_t)(kind ? PORTS + kind : 0),
			.port_guid = i + 1};
	}
}

static uint32_t hops(const struct routing_graph *graph, uint32_t index,
		     const struct routing_destination *destination)
{
	uint32_t count = 0;

	while (index != destination->switch_index) {
		uint8_t port = graph->switches[index].table[destination->lid];

		if (port == ROUTING_NO_PORT)
			return UINT32_MAX;
		index = graph->switches[index].neighbors[port];
		assert_int_not_equal(index, ROUTING_NO_SWITCH);
		assert_true(++count <= graph->switch_count);
	}
	return count;
}

static bool remove_one(struct routing_graph *graph, struct random *random,
		       struct routing_link *ret_link)
{
	uint32_t a = (uint32_t)random_below(random, graph->switch_count);
	uint8_t port = (uint8_t)(1 + random_below(random, graph->switches[a].port_count));
	uint32_t b = graph->switches[a].neighbors[port];

	if (b == ROUTING_NO_SWITCH)
		return false;
	*ret_link = (struct routing_link){
		.a = a, .a_port = port, .b = b, .b_port = graph->switches[a].neighbor_ports[port]};
	graph->switches[a].neighbors[port] = ROUTING_NO_SWITCH;
	graph->switches[b].neighbors[ret_link->b_port] = ROUTING_NO_SWITCH;
	return true;
}

/* The same graph routed from nothing is the oracle for distances. */
static void check_distances(struct routing_graph *graph)
{
	uint8_t *tables[SWITCHES_MAX];
	uint32_t *repaired =
		calloc(graph->switch_count * graph->destination_count, sizeof(uint32_t));

	assert_non_null(repaired);
	for (uint32_t s = 0; s < graph->switch_count; s++)
		for (uint32_t d = 0; d < graph->destination_count; d++)
			repaired[s * graph->destination_count + d] =
				hops(graph, s, &graph->destinations[d]);
	for (uint32_t s = 0; s < graph->switch_count; s++) {
		tables[s] = malloc(graph->lid_max + 1u);
		memcpy(tables[s], graph->switches[s].table, graph->lid_max + 1u);
		memset(graph->switches[s].table, ROUTING_NO_PORT, graph->lid_max + 1u);
	}
	assert_int_equal(minhop_route(graph), 0);
	for (uint32_t s = 0; s < graph->switch_count; s++)
		for (uint32_t d = 0; d < graph->destination_count; d++)
			assert_int_equal(repaired[s * graph->destination_count + d],
					 hops(graph, s, &graph->destinations[d]));
	for (uint32_t s = 0; s < graph->switch_count; s++) {
		memcpy(graph->switches[s].table, tables[s], graph->lid_max + 1u);
		free(tables[s]);
	}
	free(repaired);
}

static void test_repaired_routes_are_shortest_for_every_seed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct random random = random_seeded(seed);
		struct routing_graph graph;

		build(&graph, 2 + (uint32_t)random_below(&random, SWITCHES_MAX - 1), &random);
		assert_int_equal(minhop_route(&graph), 0);
		for (unsigned round = 0; round < 6; round++) {
			struct routing_link removed[3];
			unsigned removed_count = 0;
			int error;

			for (unsigned i = 0; i <= random_below(&random, 3); i++)
				removed_count +=
					remove_one(&graph, &random, &removed[removed_count]);
			error = minhop_repair(
				&graph, NULL,
				&(const struct routing_change){.removed = removed,
							       .removed_count = removed_count});
			if (error == -EAGAIN)
				error = minhop_route(&graph);
			assert_int_equal(error, 0);
			check_distances(&graph);
			if (!removed_count || !random_below(&random, 2))
				continue;
			/* One of the links returns. */
			routing_graph_link(&graph, removed[0].a, removed[0].a_port, removed[0].b,
					   removed[0].b_port);
			error = minhop_repair(
				&graph, NULL,
				&(const struct routing_change){.added = removed, .added_count = 1});
			if (error == -EAGAIN)
				error = minhop_route(&graph);
			assert_int_equal(error, 0);
			check_distances(&graph);
		}
		routing_graph_release(&graph);
	}
}

/* Two leaves, four spines: only the leaf's entries by the lost link move, and they spread. */
static void test_only_entries_by_the_lost_link_move(void **state)
{
	enum { LEAVES = 2, SPINES = 4, HOSTS = 8 };
	struct routing_graph graph;
	uint8_t before[LEAVES * HOSTS + 1];

	(void)state;
	assert_int_equal(
		routing_graph_init(&graph, LEAVES + SPINES, LEAVES * HOSTS, LEAVES * HOSTS), 0);
	for (uint32_t i = 0; i < LEAVES + SPINES; i++)
		assert_int_equal(routing_graph_set_ports(&graph, i, 12), 0);
	for (uint32_t leaf = 0; leaf < LEAVES; leaf++) {
		for (uint32_t spine = 0; spine < SPINES; spine++)
			routing_graph_link(&graph, leaf, (uint8_t)(spine + 1), LEAVES + spine,
					   (uint8_t)(leaf + 1));
		for (uint32_t i = 0; i < HOSTS; i++)
			graph.destinations[leaf * HOSTS + i] = (struct routing_destination){
				.lid = (uint16_t)(leaf * HOSTS + i + 1),
				.switch_index = leaf,
				.port_number = (uint8_t)(5 + i % 8),
				.port_guid = leaf * HOSTS + i + 1};
	}
	assert_int_equal(minhop_route(&graph), 0);
	memcpy(before, graph.switches[0].table, sizeof(before));

	const struct routing_link removed = {.a = 0, .a_port = 2, .b = LEAVES + 1, .b_port = 1};

	graph.switches[0].neighbors[2] = ROUTING_NO_SWITCH;
	graph.switches[LEAVES + 1].neighbors[1] = ROUTING_NO_SWITCH;
	assert_int_equal(minhop_repair(&graph, NULL,
				       &(const struct routing_change){.removed = &removed,
								      .removed_count = 1}),
			 0);

	unsigned load[5] = {0};

	for (uint16_t lid = HOSTS + 1; lid <= LEAVES * HOSTS; lid++) {
		uint8_t port = graph.switches[0].table[lid];

		assert_int_not_equal(port, 2);
		if (before[lid] != 2)
			assert_int_equal(port, before[lid]);
		load[port]++;
	}
	for (unsigned port = 1; port <= 4; port++)
		assert_in_range(load[port], port == 2 ? 0 : 2, port == 2 ? 0 : 3);

	/* When the link returns it gets its share. */
	routing_graph_link(&graph, 0, 2, LEAVES + 1, 1);
	assert_int_equal(
		minhop_repair(&graph, NULL,
			      &(const struct routing_change){.added = &removed, .added_count = 1}),
		0);
	memset(load, 0, sizeof(load));
	for (uint16_t lid = HOSTS + 1; lid <= LEAVES * HOSTS; lid++)
		load[graph.switches[0].table[lid]]++;
	for (unsigned port = 1; port <= 4; port++)
		assert_in_range(load[port], 1, 3);
	routing_graph_release(&graph);
}

/* Fails if a switch with adapters takes more hops than the engine would with the same ranks, or if
 * an entry moved without need. */
static void check_against_ranks(struct routing_graph *graph)
{
	struct destination_groups groups;
	uint32_t *ranks = malloc(graph->switch_count * sizeof(*ranks));
	const struct ranks kept = {.graph = graph,
				   .rank = ranks,
				   .direction = graph->roots_are_at_bottom ? RANKS_ROOTS_AT_BOTTOM
									   : RANKS_ROOTS_ON_TOP};
	uint32_t pair_count = graph->switch_count * graph->destination_count;
	uint32_t *repaired = calloc(pair_count, sizeof(uint32_t));
	uint8_t *tables = malloc((size_t)graph->switch_count * (graph->lid_max + 1u));

	assert_true(ranks && repaired && tables);
	memcpy(ranks, graph->ranks, graph->switch_count * sizeof(*ranks));
	assert_int_equal(destination_groups_init(&groups, graph), 0);
	for (uint32_t s = 0; s < graph->switch_count; s++) {
		for (uint32_t d = 0; d < graph->destination_count; d++)
			repaired[s * graph->destination_count + d] =
				path_hops(graph, s, graph->destinations[d].lid);
		memcpy(tables + (size_t)s * (graph->lid_max + 1u), graph->switches[s].table,
		       graph->lid_max + 1u);
	}
	assert_int_equal(updown_route_ranked(graph, &groups, &kept), 0);
	for (uint32_t s = 0; s < graph->switch_count; s++) {
		for (uint32_t d = 0; d < graph->destination_count; d++)
			if (groups.has_adapters[s] && graph->destinations[d].port_number)
				assert_int_equal(repaired[s * graph->destination_count + d],
						 path_hops(graph, s, graph->destinations[d].lid));
		memcpy(graph->switches[s].table, tables + (size_t)s * (graph->lid_max + 1u),
		       graph->lid_max + 1u);
	}
	port_balance_recount(graph);
	destination_groups_release(&groups);
	free(ranks);
	free(repaired);
	free(tables);
}

enum outcome { REPAIRED, ROUTED_ANEW, CUT_IN_TWO };

static enum outcome reroute(const struct routing_engine *engine, struct routing_graph *graph,
			    const struct routing_change *change)
{
	const struct routing_hints hints = {.lane_count = 1};
	int error = engine->reroute(graph, &hints, change);
	bool is_repaired = error == 0;

	if (error == -EAGAIN)
		error = engine->route(graph, &hints);
	/* The graph is cut in two, so no engine can route it. */
	if (error == -EOPNOTSUPP)
		return CUT_IN_TWO;
	assert_int_equal(error, 0);
	expect_all_adapters_connected(graph);
	expect_no_credit_loops(graph);
	if (is_repaired)
		check_against_ranks(graph);
	return is_repaired ? REPAIRED : ROUTED_ANEW;
}

static void make_some_graph(struct routing_graph *graph, struct random *random, uint64_t seed)
{
	static const uint32_t sizes[] = {4, 5};

	if (seed % 3 == 0)
		make_fat_tree(graph, 4 + 2 * (unsigned)(seed / 3 % 3));
	else if (seed % 3 == 1)
		make_random_graph(graph, random, 4 + (uint32_t)random_below(random, 20), 16);
	else
		make_grid(graph, 2, sizes, seed % 2);
}

/* Up/down, down/up and fat trees: after each of several lost and restored links every adapter
 * reaches every other, by the shortest paths that the ranks allow, without credit loops. */
static void test_ranked_routes_stay_legal_and_short_for_every_seed(void **state)
{
	static const char *const names[] = {"updn", "dnup", "ftree"};
	unsigned repaired_count[3] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 180; seed++) {
		const struct routing_engine *engine = routing_engine_find(names[seed / 3 % 3]);
		const struct routing_hints hints = {.lane_count = 1};
		struct random random = random_seeded(seed);
		struct routing_link link;
		struct routing_graph graph;

		make_some_graph(&graph, &random, seed);

		enum outcome outcome = engine->route(&graph, &hints) ? CUT_IN_TWO : ROUTED_ANEW;

		for (unsigned round = 0; round < 8 && outcome != CUT_IN_TWO; round++) {
			if (!remove_one(&graph, &random, &link))
				continue;
			outcome = reroute(engine, &graph,
					  &(const struct routing_change){.removed = &link,
									 .removed_count = 1});
			repaired_count[seed / 3 % 3] += outcome == REPAIRED;
			if (outcome == CUT_IN_TWO || random_below(&random, 2))
				continue;
			routing_graph_link(&graph, link.a, link.a_port, link.b, link.b_port);
			outcome = reroute(
				engine, &graph,
				&(const struct routing_change){.added = &link, .added_count = 1});
			repaired_count[seed / 3 % 3] += outcome == REPAIRED;
		}
		routing_graph_release(&graph);
	}
	for (unsigned i = 0; i < 3; i++)
		assert_true(repaired_count[i] >= 20);
}

/* A repair marks the blocks that it changes for the writer of the tables. */
static void test_changed_entries_are_in_marked_blocks(void **state)
{
	static const char *const names[] = {"minhop", "updn", "ftree"};
	const struct routing_hints hints = {.lane_count = 1};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct routing_engine *engine = routing_engine_find(names[i]);
		struct random random = random_seeded(i + 1);
		struct routing_graph graph;
		struct routing_link link;
		unsigned moved_count = 0;

		make_fat_tree(&graph, 8);
		assert_int_equal(engine->route(&graph, &hints), 0);

		uint8_t *tables = malloc((size_t)graph.switch_count * (graph.lid_max + 1u));

		assert_non_null(tables);
		for (uint32_t s = 0; s < graph.switch_count; s++)
			memcpy(tables + s * (graph.lid_max + 1u), graph.switches[s].table,
			       graph.lid_max + 1u);
		while (!remove_one(&graph, &random, &link))
			;
		assert_int_equal(engine->reroute(&graph, &hints,
						 &(const struct routing_change){
							 .removed = &link, .removed_count = 1}),
				 0);
		for (uint32_t s = 0; s < graph.switch_count; s++) {
			for (unsigned lid = 1; lid <= graph.lid_max; lid++) {
				unsigned block = lid / ROUTING_LIDS_PER_BLOCK;

				if (graph.switches[s].table[lid] ==
				    tables[s * (graph.lid_max + 1u) + lid])
					continue;
				moved_count++;
				assert_true(graph.switches[s].moved_blocks[block / 64] >>
						    (block % 64) &
					    1);
			}
		}
		assert_true(moved_count > 0);
		free(tables);
		routing_graph_release(&graph);
	}
}

/* The tables are restored to the byte: a fat tree's promise is about whole tables. */
static void expect_tables(const struct routing_graph *graph, const uint8_t *tables)
{
	for (uint32_t s = 0; s < graph->switch_count; s++)
		assert_memory_equal(graph->switches[s].table + 1,
				    tables + s * (graph->lid_max + 1u) + 1, graph->lid_max);
}

static void expect_counted_load(struct routing_graph *graph)
{
	for (uint32_t s = 0; s < graph->switch_count; s++) {
		const struct routing_switch *node = &graph->switches[s];
		uint32_t load[256] = {0};

		for (uint32_t d = 0; d < graph->destination_count; d++)
			load[node->table[graph->destinations[d].lid]] +=
				graph->destinations[d].port_number != 0 &&
				graph->destinations[d].switch_index != s;
		for (unsigned port = 1; port <= node->port_count; port++)
			if (node->neighbors[port] != ROUTING_NO_SWITCH)
				assert_int_equal(node->load[port], load[port]);
	}
}

/* Up to three links go one after the other and return in another order. */
static void test_fat_tree_is_what_it_was_when_all_links_are_back(void **state)
{
	const struct routing_engine *engine = routing_engine_find("ftree");
	const struct routing_hints hints = {.lane_count = 1};
	unsigned repaired_count = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct random random = random_seeded(seed);
		struct routing_link links[3];
		struct routing_graph graph;
		unsigned link_count = 0, back_count = 0;
		bool is_repaired = true;

		make_fat_tree(&graph, 6 + 2 * (unsigned)(seed % 2));
		assert_int_equal(engine->route(&graph, &hints), 0);

		size_t table_bytes = graph.lid_max + 1u;
		uint8_t *tables = malloc(graph.switch_count * table_bytes);

		assert_non_null(tables);
		for (uint32_t s = 0; s < graph.switch_count; s++)
			memcpy(tables + s * table_bytes, graph.switches[s].table, table_bytes);
		while (link_count < 1 + seed % 3 && is_repaired) {
			if (!remove_one(&graph, &random, &links[link_count]))
				continue;
			is_repaired &= reroute(engine, &graph,
					       &(const struct routing_change){
						       .removed = &links[link_count],
						       .removed_count = 1}) == REPAIRED;
			link_count++;
		}
		for (; is_repaired && back_count < link_count; back_count++) {
			const struct routing_link *link = &links[(back_count + seed) % link_count];

			routing_graph_link(&graph, link->a, link->a_port, link->b, link->b_port);
			is_repaired &= reroute(engine, &graph,
					       &(const struct routing_change){.added = link,
									      .added_count = 1}) ==
				       REPAIRED;
		}
		if (is_repaired) {
			expect_tables(&graph, tables);
			expect_counted_load(&graph);
			repaired_count++;
		}
		free(tables);
		routing_graph_release(&graph);
	}
	assert_in_range(repaired_count, 15, 30);
}

/* A link that did not exist when the tree was routed: it may be another tree now. */
static void test_fat_tree_with_a_link_that_is_new_is_routed_anew(void **state)
{
	const struct routing_engine *engine = routing_engine_find("ftree");
	const struct routing_hints hints = {.lane_count = 1};
	struct routing_graph graph;
	struct routing_link link = {0};
	struct random random = random_seeded(7);

	(void)state;
	make_fat_tree(&graph, 4);
	while (!remove_one(&graph, &random, &link))
		;
	assert_int_equal(engine->route(&graph, &hints), 0);
	routing_graph_link(&graph, link.a, link.a_port, link.b, link.b_port);
	assert_int_equal(
		engine->reroute(&graph, &hints,
				&(const struct routing_change){.added = &link, .added_count = 1}),
		-EAGAIN);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repaired_routes_are_shortest_for_every_seed),
		cmocka_unit_test(test_only_entries_by_the_lost_link_move),
		cmocka_unit_test(test_ranked_routes_stay_legal_and_short_for_every_seed),
		cmocka_unit_test(test_changed_entries_are_in_marked_blocks),
		cmocka_unit_test(test_fat_tree_is_what_it_was_when_all_links_are_back),
		cmocka_unit_test(test_fat_tree_with_a_link_that_is_new_is_routed_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
