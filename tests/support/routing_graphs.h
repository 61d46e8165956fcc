/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs for tests of routing, and the checks of every result. */
#ifndef SOFTIB_TESTS_ROUTING_GRAPHS_H
#define SOFTIB_TESTS_ROUTING_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/random.h"
#include "mgmt/routing/engine.h"
#include "mgmt/routing/graph.h"

/* Every switch has a LID of its own, 1 + its index; adapters follow. All have GUIDs. */
void make_star_of_switches(struct routing_graph *ret_graph, uint32_t leaf_count);
void make_ring(struct routing_graph *ret_graph, uint32_t switch_count, unsigned hosts_each);
/* sizes[axis]; wraps: every dimension is a ring. */
void make_grid(struct routing_graph *ret_graph, unsigned axis_count, const uint32_t *sizes,
	       bool wraps);
/* Three levels of switches with k ports each: k*k*k/4 adapters. */
void make_fat_tree(struct routing_graph *ret_graph, unsigned k);
/* Connected, with a few more links than a tree, one adapter on about half of the switches. */
void make_random_graph(struct routing_graph *ret_graph, struct random *random,
		       uint32_t switch_count, uint32_t extra_links);

/* A copy of the graph without one of its switches and its adapters, with 2^lmc LIDs for each
 * adapter; ROUTING_NO_SWITCH: with all switches. Tables are empty. */
void make_copy(struct routing_graph *ret_graph, const struct routing_graph *graph,
	       uint32_t without_switch, unsigned lmc);

void cut_link(struct routing_graph *graph, uint32_t switch_index, unsigned port_number);
/* Removes a random link; false when there is none. */
bool cut_any_link(struct routing_graph *graph, struct random *random);

/* Every LID of an adapter can be reached from every switch with adapters that is connected to it;
 * there is no loop and no credit loop. */
void expect_all_adapters_connected(const struct routing_graph *graph);
void expect_no_credit_loops(const struct routing_graph *graph);
unsigned path_hops(const struct routing_graph *graph, uint32_t from_switch, uint16_t lid);

#endif
