/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of switches by distance from the roots: the switch with the lower rank is the upper one
 * (management 3.8). */
#ifndef SOFTIB_MGMT_ROUTING_RANKS_H
#define SOFTIB_MGMT_ROUTING_RANKS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/routing/destination_groups.h"
#include "mgmt/routing/engine.h"

enum ranks_direction { RANKS_ROOTS_ON_TOP, RANKS_ROOTS_AT_BOTTOM };

struct ranks {
	const struct routing_graph *graph;
	enum ranks_direction direction;
	uint32_t *rank;	     /* [switch]: hops from the nearest root */
	uint32_t *component; /* [switch]: connected switches have the same number */
};

/* Uses the roots of the hints that are in the graph. Parts without any get roots of their own.
 * -ENOMEM. */
MUST_USE int ranks_find(struct ranks *ranks, const struct routing_graph *graph,
			const struct destination_groups *groups, const struct routing_hints *hints,
			enum ranks_direction direction);
/* Replaces the ranks by those from one root for each connected part. */
MUST_USE int ranks_from_one_root(struct ranks *ranks, const struct routing_graph *graph,
				 const struct destination_groups *groups,
				 enum ranks_direction direction);
void ranks_release(struct ranks *ranks);

/* Equal ranks: up is towards the lower GUID. Any fixed order will do (management 3.9). */
static inline bool ranks_goes_up(const struct ranks *ranks, uint32_t from, uint32_t to)
{
	bool is_nearer =
		ranks->rank[to] != ranks->rank[from]
			? ranks->rank[to] < ranks->rank[from]
			: (ranks->graph->switches[to].guid != ranks->graph->switches[from].guid
				   ? ranks->graph->switches[to].guid <
					     ranks->graph->switches[from].guid
				   : to < from);

	return is_nearer == (ranks->direction == RANKS_ROOTS_ON_TOP);
}

#endif
