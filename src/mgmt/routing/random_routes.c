/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random routing: each switch sends each LID over a random port among those on a shortest path, as
 * OpenSM's min-hop does with its option scatter_ports. It spreads load without counting it, and is
 * the baseline for engines that count.
 *
 * Each candidate port draws a number from the switch's GUID, the port and the LID, and the highest
 * number wins (rendezvous hashing; Thaler and Ravishankar, 1998). So a lost link moves only the
 * LIDs that used it, and they move back when the link returns.
 */
#include "mgmt/routing/random_routes.h"

#include "mgmt/routing/minhop.h"
#include "mgmt/routing/port_balance.h"

/* The last step of splitmix64: every input bit flips every output bit with probability one half. */
static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

static uint8_t draw(uint64_t guid, const struct port_candidates *candidates, uint16_t lid)
{
	uint8_t best = ROUTING_NO_PORT;
	uint64_t highest = 0;

	for (unsigned i = 0; i < candidates->count; i++) {
		uint64_t number =
			mix(guid + ((uint64_t)lid << 8 | candidates->ports[i]) * 0x9e3779b9u);

		if (best == ROUTING_NO_PORT || number > highest) {
			highest = number;
			best = candidates->ports[i];
		}
	}
	return best;
}

static void choose(struct routing_graph *graph, uint32_t switch_index, bool is_target,
		   const struct port_candidates *candidates, const uint32_t *destinations,
		   uint32_t destination_count)
{
	struct routing_switch *node = &graph->switches[switch_index];
	uint64_t guid = mix(node->guid);

	for (uint32_t i = 0; i < destination_count; i++) {
		const struct routing_destination *destination =
			&graph->destinations[destinations[i]];

		node->table[destination->lid] = is_target
							? destination->port_number
							: draw(guid, candidates, destination->lid);
	}
}

int random_routes(struct routing_graph *graph, const struct routing_hints *hints)
{
	(void)hints;
	return minhop_route_by(graph, choose);
}
