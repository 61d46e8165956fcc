/* SPDX-License-Identifier: Apache-2.0 */
/* The channel dependency graph, kept in topological order while it grows, by the algorithm of
 * Pearce and Kelly: only the vertices between the ends of a new edge move. */
#include "mgmt/routing/channels.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 64, FORWARD = 1, BACKWARD = 2 };

static uint32_t outputs_of(const struct channel_graph *channels, uint32_t switch_index)
{
	return channels->first_of[switch_index + 1] - channels->first_of[switch_index];
}

static uint64_t *make_matrix(const struct channel_graph *channels, uint32_t switch_index)
{
	size_t side = outputs_of(channels, switch_index);

	return calloc(side * side / BITS + 1, sizeof(uint64_t));
}

static int make_matrices(struct channel_graph *channels)
{
	for (uint32_t i = 0; i < channels->graph->switch_count; i++) {
		channels->edges[i] = make_matrix(channels, i);
		if (!channels->edges[i])
			return -ENOMEM;
		for (uint32_t channel = channels->first_of[i]; channel < channels->first_of[i + 1];
		     channel++)
			channels->owner[channel] = i;
	}
	for (uint32_t channel = 0; channel < channels->channel_count; channel++)
		channels->order[channel] = channel;
	return 0;
}

int channel_graph_init(struct channel_graph *channels, const struct routing_graph *graph,
		       unsigned lane_count)
{
	assert(lane_count > 0);
	*channels = (struct channel_graph){
		.graph = graph,
		.lane_count = lane_count,
		.first_of = calloc(graph->switch_count + 1u, sizeof(uint32_t)),
		.edges = calloc(graph->switch_count + 1u, sizeof(uint64_t *)),
	};
	if (!channels->first_of || !channels->edges) {
		channel_graph_release(channels);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < graph->switch_count; i++)
		channels->first_of[i + 1] =
			channels->first_of[i] + (graph->switches[i].port_count + 1) * lane_count;

	size_t count = channels->first_of[graph->switch_count];

	channels->channel_count = (uint32_t)count;
	channels->owner = malloc((count + 1) * sizeof(uint32_t));
	channels->order = malloc((count + 1) * sizeof(uint32_t));
	channels->stack = malloc((count + 1) * sizeof(uint32_t));
	channels->forward = malloc((count + 1) * sizeof(uint32_t));
	channels->backward = malloc((count + 1) * sizeof(uint32_t));
	channels->places = malloc((count + 1) * sizeof(uint32_t));
	channels->keys = malloc((count + 1) * sizeof(uint64_t));
	channels->marks = calloc(count + 1, 1);

	int error = channels->owner && channels->order && channels->stack && channels->forward &&
				    channels->backward && channels->places && channels->keys &&
				    channels->marks
			    ? make_matrices(channels)
			    : -ENOMEM;

	if (error)
		channel_graph_release(channels);
	return error;
}

void channel_graph_release(struct channel_graph *channels)
{
	for (uint32_t i = 0; channels->edges && i < channels->graph->switch_count; i++)
		free(channels->edges[i]);
	for (uint32_t i = 0; channels->refused && i < channels->graph->switch_count; i++)
		free(channels->refused[i]);
	free(channels->edges);
	free(channels->refused);
	free(channels->first_of);
	free(channels->owner);
	free(channels->order);
	free(channels->stack);
	free(channels->forward);
	free(channels->backward);
	free(channels->places);
	free(channels->keys);
	free(channels->marks);
	*channels = (struct channel_graph){0};
}

int channel_graph_remember_refusals(struct channel_graph *channels)
{
	channels->refused = calloc(channels->graph->switch_count + 1u, sizeof(uint64_t *));
	for (uint32_t i = 0; channels->refused && i < channels->graph->switch_count; i++) {
		channels->refused[i] = make_matrix(channels, i);
		if (!channels->refused[i])
			return -ENOMEM;
	}
	return channels->refused ? 0 : -ENOMEM;
}

static unsigned port_of(const struct channel_graph *channels, uint32_t channel)
{
	return (channel - channels->first_of[channels->owner[channel]]) / channels->lane_count;
}

static unsigned lane_of(const struct channel_graph *channels, uint32_t channel)
{
	return (channel - channels->first_of[channels->owner[channel]]) % channels->lane_count;
}

/* The switch at which the channel arrives, and its index among that switch's inputs. */
static uint32_t arrival(const struct channel_graph *channels, uint32_t channel, uint32_t *ret_input)
{
	const struct routing_switch *node = &channels->graph->switches[channels->owner[channel]];
	unsigned port = port_of(channels, channel);

	*ret_input = node->neighbor_ports[port] * channels->lane_count + lane_of(channels, channel);
	return node->neighbors[port];
}

static size_t edge_bit(const struct channel_graph *channels, uint32_t from, uint32_t to,
		       uint32_t *ret_switch)
{
	uint32_t input;

	*ret_switch = arrival(channels, from, &input);
	assert(*ret_switch == channels->owner[to]);
	return (size_t)input * outputs_of(channels, *ret_switch) +
	       (to - channels->first_of[*ret_switch]);
}

static bool bit_is_set(const uint64_t *words, size_t bit)
{
	return words[bit / BITS] >> (bit % BITS) & 1;
}

/* Visits the channels that have an edge from or to this one, in the switch where they meet. */
static void visit_neighbors(struct channel_graph *channels, uint32_t channel, uint8_t direction,
			    uint32_t bound, uint32_t *stack_count)
{
	const struct routing_graph *graph = channels->graph;
	bool is_forward = direction == FORWARD;
	uint32_t own_place = channel - channels->first_of[channels->owner[channel]];
	uint32_t meeting =
		is_forward ? arrival(channels, channel, &own_place) : channels->owner[channel];
	uint32_t side = outputs_of(channels, meeting);
	const struct routing_switch *node = &graph->switches[meeting];

	for (uint32_t place = 0; place < side; place++) {
		size_t bit = is_forward ? (size_t)own_place * side + place
					: (size_t)place * side + own_place;

		if (!bit_is_set(channels->edges[meeting], bit))
			continue;

		unsigned port = place / channels->lane_count, lane = place % channels->lane_count;
		uint32_t other = is_forward ? channels->first_of[meeting] + place
					    : channel_of(channels, node->neighbors[port],
							 node->neighbor_ports[port], lane);
		bool is_between = is_forward ? channels->order[other] <= bound
					     : channels->order[other] >= bound;

		if (is_between && !channels->marks[other]) {
			channels->marks[other] = direction;
			channels->stack[(*stack_count)++] = other;
		}
	}
}

/* Collects the channels that are reached from here and lie before (or behind) the bound in the
 * order. */
static uint32_t collect(struct channel_graph *channels, uint32_t start, uint8_t direction,
			uint32_t bound, uint32_t *ret_found)
{
	uint32_t stack_count = 1, found_count = 0;

	channels->stack[0] = start;
	channels->marks[start] = direction;
	while (stack_count > 0) {
		uint32_t channel = channels->stack[--stack_count];

		ret_found[found_count++] = channel;
		visit_neighbors(channels, channel, direction, bound, &stack_count);
	}
	return found_count;
}

static void unmark(struct channel_graph *channels, const uint32_t *found, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		channels->marks[found[i]] = 0;
}

static int compare_places(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void sort_by_order(const struct channel_graph *channels, uint32_t *found, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		channels->keys[i] = (uint64_t)channels->order[found[i]] << 32 | found[i];
	qsort(channels->keys, count, sizeof(uint64_t), compare_keys);
	for (uint32_t i = 0; i < count; i++)
		found[i] = (uint32_t)channels->keys[i];
}

void channel_graph_set_order(struct channel_graph *channels, const uint32_t *keys)
{
	for (uint32_t channel = 0; channel < channels->channel_count; channel++)
		channels->keys[channel] = (uint64_t)keys[channel] << 32 | channel;
	qsort(channels->keys, channels->channel_count, sizeof(uint64_t), compare_keys);
	for (uint32_t place = 0; place < channels->channel_count; place++)
		channels->order[(uint32_t)channels->keys[place]] = place;
}

/* Moves the channels that lead to the new edge before those that it leads to, within the positions
 * that they have now. */
static void reorder(struct channel_graph *channels, uint32_t forward_count, uint32_t backward_count)
{
	uint32_t count = 0;

	sort_by_order(channels, channels->forward, forward_count);
	sort_by_order(channels, channels->backward, backward_count);
	for (uint32_t i = 0; i < backward_count; i++)
		channels->places[count++] = channels->order[channels->backward[i]];
	for (uint32_t i = 0; i < forward_count; i++)
		channels->places[count++] = channels->order[channels->forward[i]];
	qsort(channels->places, count, sizeof(uint32_t), compare_places);
	for (uint32_t i = 0; i < backward_count; i++)
		channels->order[channels->backward[i]] = channels->places[i];
	for (uint32_t i = 0; i < forward_count; i++)
		channels->order[channels->forward[i]] = channels->places[backward_count + i];
}

/* Returns false if the edge would close a cycle. */
static bool make_place(struct channel_graph *channels, uint32_t from, uint32_t to)
{
	if (from == to)
		return false;
	if (channels->order[from] < channels->order[to])
		return true;

	uint32_t forward_count =
		collect(channels, to, FORWARD, channels->order[from], channels->forward);
	bool is_cycle = channels->marks[from] != 0;

	if (!is_cycle) {
		uint32_t backward_count =
			collect(channels, from, BACKWARD, channels->order[to], channels->backward);

		unmark(channels, channels->backward, backward_count);
		reorder(channels, forward_count, backward_count);
	}
	unmark(channels, channels->forward, forward_count);
	return !is_cycle;
}

enum channel_verdict channel_graph_add(struct channel_graph *channels, uint32_t from, uint32_t to)
{
	uint32_t meeting;
	size_t bit = edge_bit(channels, from, to, &meeting);

	if (bit_is_set(channels->edges[meeting], bit))
		return CHANNEL_EDGE_KNOWN;
	if (channels->refused && bit_is_set(channels->refused[meeting], bit))
		return CHANNEL_EDGE_CLOSES_CYCLE;
	if (!make_place(channels, from, to)) {
		if (channels->refused)
			channels->refused[meeting][bit / BITS] |= UINT64_C(1) << (bit % BITS);
		return CHANNEL_EDGE_CLOSES_CYCLE;
	}
	channels->edges[meeting][bit / BITS] |= UINT64_C(1) << (bit % BITS);
	return CHANNEL_EDGE_NEW;
}

void channel_graph_remove(struct channel_graph *channels, uint32_t from, uint32_t to)
{
	uint32_t meeting;
	size_t bit = edge_bit(channels, from, to, &meeting);

	channels->edges[meeting][bit / BITS] &= ~(UINT64_C(1) << (bit % BITS));
}
