/* SPDX-License-Identifier: Apache-2.0 */
/* The channel dependency graph: it keeps its order and finds cycles, compared with a plain search
 * (management 3.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/routing/channels.h"
#include "support/routing_graphs.h"

/* In one direction around a ring: the last edge closes the cycle. */
static void test_the_edge_that_closes_a_circle_is_refused(void **state)
{
	struct routing_graph graph;
	struct channel_graph channels;

	(void)state;
	make_ring(&graph, 4, 1);
	assert_int_equal(channel_graph_init(&channels, &graph, 1), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(channel_graph_add(&channels, channel_of(&channels, i, 1, 0),
						   channel_of(&channels, i + 1, 1, 0)),
				 CHANNEL_EDGE_NEW);
	assert_int_equal(channel_graph_add(&channels, channel_of(&channels, 0, 1, 0),
					   channel_of(&channels, 1, 1, 0)),
			 CHANNEL_EDGE_KNOWN);
	assert_int_equal(channel_graph_add(&channels, channel_of(&channels, 3, 1, 0),
					   channel_of(&channels, 0, 1, 0)),
			 CHANNEL_EDGE_CLOSES_CYCLE);
	/* Without another edge of the cycle it fits. */
	channel_graph_remove(&channels, channel_of(&channels, 1, 1, 0),
			     channel_of(&channels, 2, 1, 0));
	assert_int_equal(channel_graph_add(&channels, channel_of(&channels, 3, 1, 0),
					   channel_of(&channels, 0, 1, 0)),
			 CHANNEL_EDGE_NEW);
	channel_graph_release(&channels);
	routing_graph_release(&graph);
}

static void test_another_lane_is_another_circle(void **state)
{
	struct routing_graph graph;
	struct channel_graph channels;

	(void)state;
	make_ring(&graph, 4, 1);
	assert_int_equal(channel_graph_init(&channels, &graph, 2), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(
			channel_graph_add(&channels, channel_of(&channels, i, 1, i == 3 ? 1 : 0),
					  channel_of(&channels, (i + 1) % 4, 1, i == 2 ? 1 : 0)),
			i == 3 ? CHANNEL_EDGE_CLOSES_CYCLE : CHANNEL_EDGE_NEW);
	assert_int_equal(channel_graph_add(&channels, channel_of(&channels, 3, 1, 1),
					   channel_of(&channels, 0, 1, 1)),
			 CHANNEL_EDGE_NEW);
	channel_graph_release(&channels);
	routing_graph_release(&graph);
}

/* Even when the cycle is gone. A given order changes no result. */
static void test_a_remembered_refusal_stays(void **state)
{
	struct routing_graph graph;
	struct channel_graph channels;
	uint32_t keys[64] = {0};

	(void)state;
	make_ring(&graph, 4, 1);
	assert_int_equal(channel_graph_init(&channels, &graph, 1), 0);
	assert_int_equal(channel_graph_remember_refusals(&channels), 0);
	assert_true(channels.channel_count <= 64);
	for (uint32_t channel = 0; channel < channels.channel_count; channel++)
		keys[channel] = channels.channel_count - channel;
	channel_graph_set_order(&channels, keys);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(channel_graph_add(&channels, channel_of(&channels, i, 1, 0),
						   channel_of(&channels, (i + 1) % 4, 1, 0)),
				 i == 3 ? CHANNEL_EDGE_CLOSES_CYCLE : CHANNEL_EDGE_NEW);
	channel_graph_remove(&channels, channel_of(&channels, 1, 1, 0),
			     channel_of(&channels, 2, 1, 0));
	assert_int_equal(channel_graph_add(&channels, channel_of(&channels, 3, 1, 0),
					   channel_of(&channels, 0, 1, 0)),
			 CHANNEL_EDGE_CLOSES_CYCLE);
	channel_graph_release(&channels);
	routing_graph_release(&graph);
}

/* The oracle: whether "to" is reached from "from" over accepted edges. */
struct accepted {
	uint32_t from, to;
};

static bool reaches(const struct accepted *edges, unsigned count, uint32_t from, uint32_t to,
		    bool *seen)
{
	if (from == to)
		return true;
	seen[from] = true;
	for (unsigned i = 0; i < count; i++)
		if (edges[i].from == from && !seen[edges[i].to] &&
		    reaches(edges, count, edges[i].to, to, seen))
			return true;
	return false;
}

static void try_edges(uint64_t seed)
{
	enum { EDGES_MAX = 400, CHANNELS_MAX = 1000 };
	struct random random = random_seeded(seed);
	struct routing_graph graph;
	struct channel_graph channels;
	struct accepted edges[EDGES_MAX];
	unsigned count = 0;

	make_random_graph(&graph, &random, 12, 20);
	assert_int_equal(channel_graph_init(&channels, &graph, 1), 0);
	assert_true(channels.channel_count < CHANNELS_MAX);
	for (unsigned i = 0; i < EDGES_MAX; i++) {
		uint32_t first = (uint32_t)random_below(&random, graph.switch_count);
		unsigned input = 1 + (unsigned)random_below(&random, 12);
		unsigned output = 1 + (unsigned)random_below(&random, 12);
		uint32_t middle = graph.switches[first].neighbors[input];
		bool seen[CHANNELS_MAX] = {false};

		if (middle == ROUTING_NO_SWITCH ||
		    graph.switches[middle].neighbors[output] == ROUTING_NO_SWITCH)
			continue;

		uint32_t from = channel_of(&channels, first, input, 0);
		uint32_t to = channel_of(&channels, middle, output, 0);
		bool closes = reaches(edges, count, to, from, seen);
		enum channel_verdict verdict = channel_graph_add(&channels, from, to);

		assert_int_equal(verdict == CHANNEL_EDGE_CLOSES_CYCLE, closes);
		if (verdict == CHANNEL_EDGE_NEW)
			edges[count++] = (struct accepted){from, to};
	}
	for (unsigned i = 0; i < count; i++)
		assert_true(channels.order[edges[i].from] < channels.order[edges[i].to]);
	channel_graph_release(&channels);
	routing_graph_release(&graph);
}

static void test_random_edges_agree_with_a_plain_search(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++)
		try_edges(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_edge_that_closes_a_circle_is_refused),
		cmocka_unit_test(test_another_lane_is_another_circle),
		cmocka_unit_test(test_a_remembered_refusal_stays),
		cmocka_unit_test(test_random_edges_agree_with_a_plain_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
