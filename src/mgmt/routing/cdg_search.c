/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of Nue (see nue.c): paths to one LID after the other that together close no cycle of
 * the channel dependency graph.
 *
 * The search goes outwards from the LID's switch, one hop a round. A switch takes the lightest port
 * towards a switch of the last round whose dependency closes no cycle. If switches are left without
 * a path, one of their neighbors may take another port, which changes the dependency. If that does
 * not help, the LID gets the paths of the spanning tree. The tree's dependencies were entered
 * first, so they are never refused.
 */
#include "mgmt/routing/cdg_search.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNREACHED UINT32_MAX

static void sort_by_rank(struct cdg_search *search)
{
	const uint32_t *rank = search->ranks->rank;
	uint32_t count = 0, next_rank = 0;

	/* One pass per rank, and a graph has few ranks. Unconnected parts have ranks of their own.
	 */
	while (count < search->graph->switch_count) {
		uint32_t rank_now = next_rank;

		next_rank = UNREACHED;
		for (uint32_t i = 0; i < search->graph->switch_count; i++) {
			if (rank[i] == rank_now)
				search->order[count++] = i;
			else if (rank[i] > rank_now && rank[i] < next_rank)
				next_rank = rank[i];
		}
	}
}

/* Breadth-first from the roots, so that the tree is flat. */
static uint32_t grow_tree(struct cdg_search *search, uint32_t root)
{
	const struct routing_graph *graph = search->graph;
	uint32_t count = 1;

	search->component[root] = root;
	search->queue[0] = root;
	for (uint32_t head = 0; head < count; head++) {
		uint32_t index = search->queue[head];
		const struct routing_switch *node = &graph->switches[index];

		search->member_count[root] += search->has_adapters[index];
		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor == ROUTING_NO_SWITCH ||
			    search->component[neighbor] != UNREACHED)
				continue;
			search->component[neighbor] = root;
			search->is_tree[index][port] = 1;
			search->is_tree[neighbor][node->neighbor_ports[port]] = 1;
			search->queue[count++] = neighbor;
		}
	}
	return count;
}

/* Branches without adapters only forbid turns, so they are removed, from the tips inwards. */
static void prune_tree(struct cdg_search *search, uint32_t count)
{
	const struct routing_graph *graph = search->graph;

	for (uint32_t place = count; place > 0; place--) {
		uint32_t index = search->queue[place - 1];
		const struct routing_switch *node = &graph->switches[index];
		unsigned links = 0, last = 0;

		for (unsigned port = 1; port <= node->port_count; port++) {
			links += search->is_tree[index][port];
			if (search->is_tree[index][port])
				last = port;
		}
		if (search->has_adapters[index] || links != 1)
			continue;
		search->is_tree[index][last] = 0;
		search->is_tree[node->neighbors[last]][node->neighbor_ports[last]] = 0;
	}
}

static void find_trees(struct cdg_search *search)
{
	memset(search->component, 0xff, search->graph->switch_count * sizeof(uint32_t));
	for (uint32_t place = 0; place < search->graph->switch_count; place++) {
		uint32_t root = search->order[place];

		if (search->component[root] == UNREACHED)
			prune_tree(search, grow_tree(search, root));
	}
}

int cdg_search_init(struct cdg_search *search, const struct routing_graph *graph,
		    const struct destination_groups *groups, const struct ranks *ranks)
{
	size_t room = graph->switch_count + 1u, port_count = 0;

	*search = (struct cdg_search){
		.graph = graph,
		.ranks = ranks,
		.has_adapters = groups->has_adapters,
		.order = malloc(room * sizeof(uint32_t)),
		.is_tree = calloc(room, sizeof(uint8_t *)),
		.component = malloc(room * sizeof(uint32_t)),
		.member_count = calloc(room, sizeof(uint32_t)),
		.ports = malloc(room),
		.hops = malloc(room * sizeof(uint32_t)),
		.queue = malloc(room * sizeof(uint32_t)),
		.cost = malloc(room * sizeof(uint64_t)),
		.passing = malloc(room * sizeof(uint64_t)),
	};
	if (!search->order || !search->is_tree || !search->component || !search->member_count ||
	    !search->ports || !search->hops || !search->queue || !search->cost || !search->passing)
		goto release;
	for (uint32_t i = 0; i < graph->switch_count; i++) {
		search->is_tree[i] = calloc(graph->switches[i].port_count + 1u, 1);
		if (!search->is_tree[i])
			goto release;
		port_count += graph->switches[i].port_count;
	}
	/* An edge for each switch that is reached, as many again before a last change (see
	 * make_ways()), and an edge for each port of the switch that changes. */
	search->added = malloc((2 * room + port_count) * sizeof(*search->added));
	if (!search->added)
		goto release;
	sort_by_rank(search);
	find_trees(search);
	return 0;

release:
	cdg_search_release(search);
	return -ENOMEM;
}

void cdg_search_release(struct cdg_search *search)
{
	if (search->channels.graph)
		channel_graph_release(&search->channels);
	for (uint32_t i = 0; search->is_tree && i < search->graph->switch_count; i++)
		free(search->is_tree[i]);
	free(search->order);
	free(search->is_tree);
	free(search->component);
	free(search->member_count);
	free(search->ports);
	free(search->hops);
	free(search->queue);
	free(search->cost);
	free(search->passing);
	free(search->added);
	*search = (struct cdg_search){0};
}

/* First the channels that go up, the farthest from the roots first, then the channels that go down.
 * In this order neither up/down paths nor the paths of a fat tree need a search for cycles. */
static int order_channels(struct cdg_search *search)
{
	const struct routing_graph *graph = search->graph;
	uint32_t *keys = calloc(search->channels.channel_count + 1u, sizeof(uint32_t));

	if (!keys)
		return -ENOMEM;
	for (uint32_t place = 0; place < graph->switch_count; place++) {
		uint32_t index = search->order[place];
		const struct routing_switch *node = &graph->switches[index];

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor == ROUTING_NO_SWITCH)
				continue;
			keys[channel_of(&search->channels, index, port, 0)] =
				ranks_goes_up(search->ranks, index, neighbor)
					? graph->switch_count - 1 - place
					: graph->switch_count + place;
		}
	}
	channel_graph_set_order(&search->channels, keys);
	free(keys);
	return 0;
}

/* Paths along a tree never close a cycle, whatever their ends. */
static void enter_trees(struct cdg_search *search)
{
	const struct routing_graph *graph = search->graph;

	for (uint32_t index = 0; index < graph->switch_count; index++) {
		const struct routing_switch *node = &graph->switches[index];

		for (unsigned input = 1; input <= node->port_count; input++) {
			for (unsigned output = 1; output <= node->port_count; output++) {
				if (input == output || !search->is_tree[index][input] ||
				    !search->is_tree[index][output])
					continue;

				enum channel_verdict verdict = channel_graph_add(
					&search->channels,
					channel_of(&search->channels, node->neighbors[input],
						   node->neighbor_ports[input], 0),
					channel_of(&search->channels, index, output, 0));

				assert(verdict == CHANNEL_EDGE_NEW);
			}
		}
	}
}

int cdg_search_begin(struct cdg_search *search)
{
	int error;

	if (search->channels.graph)
		channel_graph_release(&search->channels);
	error = channel_graph_init(&search->channels, search->graph, 1);
	if (!error)
		error = channel_graph_remember_refusals(&search->channels);
	if (!error)
		error = order_channels(search);
	if (!error)
		enter_trees(search);
	return error;
}

/* Whether a packet that arrives at the neighbor by this port may leave it by that one. */
static bool may_turn(struct cdg_search *search, uint32_t index, unsigned port, uint8_t next_port)
{
	const struct routing_switch *node = &search->graph->switches[index];
	struct cdg_edge edge = {
		channel_of(&search->channels, index, port, 0),
		channel_of(&search->channels, node->neighbors[port], next_port, 0),
	};
	enum channel_verdict verdict = channel_graph_add(&search->channels, edge.from, edge.to);

	if (verdict == CHANNEL_EDGE_NEW)
		search->added[search->added_count++] = edge;
	return verdict != CHANNEL_EDGE_CLOSES_CYCLE;
}

static void take_back(struct cdg_search *search, uint32_t added_count)
{
	while (search->added_count > added_count) {
		const struct cdg_edge *edge = &search->added[--search->added_count];

		channel_graph_remove(&search->channels, edge->from, edge->to);
	}
}

struct search_goal {
	uint32_t *const *weight;
	uint32_t target;
	uint16_t lid;
};

/* The lightest port towards a switch with this number of hops whose dependency closes no cycle. */
static bool choose_port(struct cdg_search *search, const struct search_goal *goal, uint32_t index,
			uint32_t hops)
{
	const struct routing_switch *node = &search->graph->switches[index];
	uint8_t present = node->table[goal->lid];
	uint64_t tried[ROUTING_NO_PORT / 64 + 1] = {0};

	for (unsigned tries = 0; tries <= node->port_count; tries++) {
		uint8_t best = ROUTING_NO_PORT;
		uint64_t best_cost = UINT64_MAX;

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor == ROUTING_NO_SWITCH || search->hops[neighbor] != hops ||
			    tried[port / 64] >> (port % 64) & 1)
				continue;

			uint64_t cost = search->cost[neighbor] + goal->weight[index][port];

			if (cost < best_cost || (cost == best_cost && port == present)) {
				best_cost = cost;
				best = (uint8_t)port;
			}
		}
		if (best == ROUTING_NO_PORT)
			return false;

		uint32_t neighbor = node->neighbors[best];

		if (neighbor == goal->target ||
		    may_turn(search, index, best, search->ports[neighbor])) {
			search->ports[index] = best;
			search->cost[index] = best_cost;
			return true;
		}
		tried[best / 64] |= UINT64_C(1) << (best % 64);
	}
	return false;
}

static void start(struct cdg_search *search, uint32_t target)
{
	memset(search->hops, 0xff, search->graph->switch_count * sizeof(uint32_t));
	search->hops[target] = 0;
	search->cost[target] = 0;
	search->ports[target] = 0;
	search->queue[0] = target;
	search->queue_count = 1;
}

/* Switches that got their path in the last round offer it to their neighbors. A neighbor that can't
 * use it may find a longer path in a later round. */
static void spread(struct cdg_search *search, const struct search_goal *goal, uint32_t round_first,
		   uint32_t hops)
{
	const struct routing_graph *graph = search->graph;

	for (; round_first < search->queue_count; hops++) {
		uint32_t round_end = search->queue_count;

		for (uint32_t place = round_first; place < round_end; place++) {
			const struct routing_switch *node = &graph->switches[search->queue[place]];

			for (unsigned port = 1; port <= node->port_count; port++) {
				uint32_t index = node->neighbors[port];

				if (index == ROUTING_NO_SWITCH ||
				    search->hops[index] != UNREACHED ||
				    !choose_port(search, goal, index, hops))
					continue;
				search->hops[index] = hops + 1;
				search->queue[search->queue_count++] = index;
			}
		}
		round_first = round_end;
	}
}

static bool path_passes(const struct cdg_search *search, uint32_t index, uint32_t target,
			uint32_t passed)
{
	while (index != target && index != passed)
		index = search->graph->switches[index].neighbors[search->ports[index]];
	return index == passed;
}

/* Whether a switch may change to another port, for all switches that send through it and for one
 * more. */
static bool can_change(struct cdg_search *search, const struct search_goal *goal, uint32_t index,
		       unsigned port, uint32_t newcomer, unsigned newcomer_port)
{
	const struct routing_switch *node = &search->graph->switches[index];
	uint32_t next = node->neighbors[port];
	uint32_t added_count = search->added_count;

	if (next == ROUTING_NO_SWITCH || search->hops[next] == UNREACHED ||
	    port == search->ports[index] || path_passes(search, next, goal->target, index))
		return false;

	bool is_fine =
		(next == goal->target || may_turn(search, index, port, search->ports[next])) &&
		may_turn(search, newcomer, newcomer_port, (uint8_t)port);

	for (unsigned input = 1; is_fine && input <= node->port_count; input++) {
		uint32_t sender = node->neighbors[input];

		if (sender != ROUTING_NO_SWITCH && sender != goal->target &&
		    search->hops[sender] != UNREACHED &&
		    search->ports[sender] == node->neighbor_ports[input])
			is_fine = may_turn(search, sender, node->neighbor_ports[input],
					   (uint8_t)port);
	}
	if (!is_fine)
		take_back(search, added_count);
	return is_fine;
}

/* A neighbor that has a path changes its port so that this switch gets one. */
static bool make_way(struct cdg_search *search, const struct search_goal *goal, uint32_t index)
{
	const struct routing_switch *node = &search->graph->switches[index];

	for (unsigned port = 1; port <= node->port_count; port++) {
		uint32_t neighbor = node->neighbors[port];

		if (neighbor == ROUTING_NO_SWITCH || search->hops[neighbor] == UNREACHED ||
		    neighbor == goal->target)
			continue;
		for (unsigned other = 1; other <= search->graph->switches[neighbor].port_count;
		     other++) {
			if (!can_change(search, goal, neighbor, other, index, port))
				continue;
			search->ports[neighbor] = (uint8_t)other;
			search->ports[index] = (uint8_t)port;
			search->hops[index] = search->hops[neighbor] + 1;
			search->cost[index] = search->cost[neighbor] + goal->weight[index][port];
			search->queue[search->queue_count++] = index;
			return true;
		}
	}
	return false;
}

static bool is_left_out(const struct cdg_search *search, uint32_t index, uint32_t target)
{
	return search->hops[index] == UNREACHED && search->has_adapters[index] &&
	       search->component[index] == search->component[target];
}

/* Whether every switch with adapters has a path at the end. Each successful change reaches one more
 * switch. */
static bool make_ways(struct cdg_search *search, const struct search_goal *goal)
{
	bool has_changed = true, is_complete = false;

	while (has_changed && !is_complete) {
		has_changed = false;
		is_complete = true;
		for (uint32_t index = 0; index < search->graph->switch_count; index++) {
			uint32_t first = search->queue_count;

			if (!is_left_out(search, index, goal->target))
				continue;
			/* Room for the edges of any change. */
			if (search->added_count > search->graph->switch_count ||
			    !make_way(search, goal, index)) {
				is_complete = false;
				continue;
			}
			has_changed = true;
			spread(search, goal, first, search->hops[index]);
		}
	}
	return is_complete;
}

/* The LID gets the paths of the spanning tree instead of those that were found. */
static void take_tree(struct cdg_search *search, uint32_t target)
{
	const struct routing_graph *graph = search->graph;

	take_back(search, 0);
	start(search, target);
	for (uint32_t head = 0; head < search->queue_count; head++) {
		uint32_t index = search->queue[head];
		const struct routing_switch *node = &graph->switches[index];

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (!search->is_tree[index][port] || search->hops[neighbor] != UNREACHED)
				continue;
			search->hops[neighbor] = search->hops[index] + 1;
			search->ports[neighbor] = node->neighbor_ports[port];
			search->queue[search->queue_count++] = neighbor;
		}
	}
}

/* Counts hops and lists switches again, along the chosen ports. */
static void follow_ports(struct cdg_search *search, uint32_t target)
{
	const struct routing_graph *graph = search->graph;

	search->queue[0] = target;
	search->queue_count = 1;
	for (uint32_t head = 0; head < search->queue_count; head++) {
		uint32_t index = search->queue[head];
		const struct routing_switch *node = &graph->switches[index];

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t sender = node->neighbors[port];

			if (sender == ROUTING_NO_SWITCH || sender == target ||
			    search->hops[sender] == UNREACHED ||
			    search->ports[sender] != node->neighbor_ports[port])
				continue;
			search->hops[sender] = search->hops[index] + 1;
			search->queue[search->queue_count++] = sender;
		}
	}
}

/* Removes the dependencies of paths that were given up or that carry no adapter's packets, so that
 * they forbid nothing. */
static void keep_used_edges(struct cdg_search *search, const uint32_t *adapter_count)
{
	const struct routing_graph *graph = search->graph;
	const struct channel_graph *channels = &search->channels;
	uint32_t kept = 0;

	for (uint32_t place = 0; place < search->queue_count; place++)
		search->passing[search->queue[place]] = adapter_count[search->queue[place]];
	for (uint32_t place = search->queue_count - 1; place > 0; place--) {
		uint32_t index = search->queue[place];
		uint32_t next = graph->switches[index].neighbors[search->ports[index]];

		search->passing[next] += search->passing[index];
	}
	for (uint32_t i = 0; i < search->added_count; i++) {
		struct cdg_edge edge = search->added[i];
		uint32_t index = channels->owner[edge.from], next = channels->owner[edge.to];

		if (search->passing[index] &&
		    edge.from == channel_of(channels, index, search->ports[index], 0) &&
		    edge.to == channel_of(channels, next, search->ports[next], 0))
			search->added[kept++] = edge;
		else
			channel_graph_remove(&search->channels, edge.from, edge.to);
	}
	search->added_count = kept;
}

/* Switches without adapters that have no path yet take any path: only management traffic starts
 * there. */
static void reach_rest(struct cdg_search *search)
{
	const struct routing_graph *graph = search->graph;

	for (uint32_t head = 0; head < search->queue_count; head++) {
		uint32_t index = search->queue[head];
		const struct routing_switch *node = &graph->switches[index];

		for (unsigned port = 1; port <= node->port_count; port++) {
			uint32_t neighbor = node->neighbors[port];

			if (neighbor == ROUTING_NO_SWITCH || search->hops[neighbor] != UNREACHED)
				continue;
			search->hops[neighbor] = search->hops[index] + 1;
			search->ports[neighbor] = node->neighbor_ports[port];
			search->passing[neighbor] = 0;
			search->queue[search->queue_count++] = neighbor;
		}
	}
}

void cdg_search_run(struct cdg_search *search, uint32_t *const *weight,
		    const uint32_t *adapter_count, uint32_t target, uint16_t lid)
{
	const struct search_goal goal = {.weight = weight, .target = target, .lid = lid};

	assert(search->has_adapters[target]);
	search->added_count = 0;
	start(search, target);
	spread(search, &goal, 0, 0);
	if (!make_ways(search, &goal))
		take_tree(search, target);
	follow_ports(search, target);
	keep_used_edges(search, adapter_count);
	reach_rest(search);
}

void cdg_search_run_unchecked(struct cdg_search *search, uint32_t target)
{
	start(search, target);
	search->passing[target] = 0;
	reach_rest(search);
}
