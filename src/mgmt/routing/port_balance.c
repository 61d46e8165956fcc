/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses among the ports that are equally good for a LID. */
#include "mgmt/routing/port_balance.h"

#include <string.h>

struct port_bits {
	uint64_t words[4];
};

/* State of the choices at one switch for one group of LIDs. */
struct choice {
	const struct routing_switch *node;
	const struct port_candidates *candidates;
	struct port_bits is_candidate;
	struct port_bits is_taken; /* used by other LIDs of the same end port */
	uint64_t port_guid;	   /* of that end port */
	/* The candidates with the least load, in order; the first of them are used up. So a choice
	 * seldom looks at all candidates. */
	uint32_t load_min;
	unsigned least_count, least_used;
	uint8_t least[ROUTING_NO_PORT];
};

static bool has(const struct port_bits *bits, uint8_t port)
{
	return bits->words[port / 64] >> (port % 64) & 1;
}

static void set(struct port_bits *bits, uint8_t port)
{
	bits->words[port / 64] |= UINT64_C(1) << (port % 64);
}

void port_balance_reset(struct routing_graph *graph)
{
	for (uint32_t i = 0; i < graph->switch_count; i++)
		memset(graph->switches[i].load, 0,
		       (graph->switches[i].port_count + 1) * sizeof(uint32_t));
}

static void begin(struct choice *choice, const struct routing_switch *node,
		  const struct port_candidates *candidates)
{
	choice->node = node;
	choice->candidates = candidates;
	choice->is_candidate = choice->is_taken = (struct port_bits){0};
	choice->port_guid = 0;
	choice->least_count = choice->least_used = 0;
	for (unsigned i = 0; i < candidates->count; i++)
		set(&choice->is_candidate, candidates->ports[i]);
}

static void find_least(struct choice *choice)
{
	const uint32_t *load = choice->node->load;

	choice->load_min = UINT32_MAX;
	choice->least_count = choice->least_used = 0;
	for (unsigned i = 0; i < choice->candidates->count; i++) {
		uint8_t port = choice->candidates->ports[i];

		if (load[port] < choice->load_min) {
			choice->load_min = load[port];
			choice->least_count = 0;
		}
		if (load[port] == choice->load_min)
			choice->least[choice->least_count++] = port;
	}
}

static uint8_t least_loaded(struct choice *choice)
{
	const uint32_t *load = choice->node->load;

	while (choice->least_used < choice->least_count &&
	       load[choice->least[choice->least_used]] != choice->load_min)
		choice->least_used++;
	if (choice->least_used == choice->least_count)
		find_least(choice);
	return choice->least_count ? choice->least[choice->least_used] : ROUTING_NO_PORT;
}

/* A port that no LID of the same end port uses yet is preferred to an even load (management 3.9).
 */
static uint8_t least_loaded_of_others(const struct choice *choice)
{
	const uint32_t *load = choice->node->load;
	uint8_t best = ROUTING_NO_PORT;

	for (unsigned i = 0; i < choice->candidates->count; i++) {
		uint8_t port = choice->candidates->ports[i];

		if (!has(&choice->is_taken, port) &&
		    (best == ROUTING_NO_PORT || load[port] < load[best]))
			best = port;
	}
	return best;
}

static uint8_t choose(struct choice *choice, bool is_first_of_port, uint8_t present)
{
	uint8_t best = is_first_of_port ? ROUTING_NO_PORT : least_loaded_of_others(choice);
	const uint32_t *load = choice->node->load;

	if (best == ROUTING_NO_PORT)
		best = least_loaded(choice);
	/* An unnecessary change interrupts traffic, but links that returned must get their share
	 * again. */
	if (best != ROUTING_NO_PORT && has(&choice->is_candidate, present) &&
	    has(&choice->is_taken, present) == has(&choice->is_taken, best) &&
	    load[present] <= load[best] + 1)
		return present;
	return best;
}

void port_balance_assign(struct routing_graph *graph, uint32_t switch_index, bool is_target,
			 const struct port_candidates *candidates, const uint32_t *destinations,
			 uint32_t destination_count)
{
	struct routing_switch *node = &graph->switches[switch_index];
	struct choice choice;

	begin(&choice, node, candidates);
	for (uint32_t i = 0; i < destination_count; i++) {
		const struct routing_destination *destination =
			&graph->destinations[destinations[i]];
		uint8_t *entry = &node->table[destination->lid];
		bool is_first =
			destination->path_index == 0 || destination->port_guid != choice.port_guid;

		if (is_first) {
			choice.port_guid = destination->port_guid;
			choice.is_taken = (struct port_bits){0};
		}
		*entry = is_target ? destination->port_number : choose(&choice, is_first, *entry);
		if (*entry == ROUTING_NO_PORT)
			continue;
		set(&choice.is_taken, *entry);
		/* Only traffic of adapters is balanced. A switch's own LID gets management traffic
		 * only. */
		if (destination->port_number)
			node->load[*entry]++;
	}
}

void port_balance_move(struct routing_switch *node, const struct routing_destination *destination,
		       uint8_t port_number)
{
	uint8_t *entry = &node->table[destination->lid];

	if (destination->port_number) {
		if (*entry <= node->port_count && node->load[*entry])
			node->load[*entry]--;
		if (port_number != ROUTING_NO_PORT)
			node->load[port_number]++;
	}
	*entry = port_number;
	routing_switch_mark_moved(node, destination->lid);
}

void port_balance_recount(struct routing_graph *graph)
{
	port_balance_reset(graph);
	for (uint32_t i = 0; i < graph->switch_count; i++) {
		struct routing_switch *node = &graph->switches[i];

		for (uint32_t j = 0; j < graph->destination_count; j++) {
			uint8_t entry = node->table[graph->destinations[j].lid];

			if (graph->destinations[j].port_number && entry <= node->port_count)
				node->load[entry]++;
		}
	}
}

/* Marks the ports that the remaining LIDs of this end port already use. */
static void note_taken(struct choice *choice, const struct routing_graph *graph,
		       const uint32_t *destinations, uint32_t destination_count)
{
	choice->port_guid = graph->destinations[destinations[0]].port_guid;
	choice->is_taken = (struct port_bits){0};
	for (uint32_t i = 0; i < destination_count; i++) {
		const struct routing_destination *destination =
			&graph->destinations[destinations[i]];
		uint8_t entry = choice->node->table[destination->lid];

		if (destination->port_guid != choice->port_guid ||
		    (i && destination->path_index == 0))
			return;
		if (has(&choice->is_candidate, entry))
			set(&choice->is_taken, entry);
	}
}

void port_balance_mend(struct routing_graph *graph, uint32_t switch_index, bool is_target,
		       const struct port_candidates *candidates, const uint32_t *destinations,
		       uint32_t destination_count)
{
	struct routing_switch *node = &graph->switches[switch_index];
	struct choice choice;

	if (is_target)
		return;
	begin(&choice, node, candidates);
	for (uint32_t i = 0; i < destination_count; i++) {
		const struct routing_destination *destination =
			&graph->destinations[destinations[i]];
		bool is_first =
			destination->path_index == 0 || destination->port_guid != choice.port_guid;
		uint8_t best;

		if (is_first)
			note_taken(&choice, graph, destinations + i, destination_count - i);
		if (has(&choice.is_candidate, node->table[destination->lid]))
			continue;
		best = least_loaded_of_others(&choice);
		if (best == ROUTING_NO_PORT)
			best = least_loaded(&choice);
		port_balance_move(node, destination, best);
		if (best != ROUTING_NO_PORT)
			set(&choice.is_taken, best);
	}
}
