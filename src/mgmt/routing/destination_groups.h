/* SPDX-License-Identifier: Apache-2.0 */
/* The destinations of a graph grouped by the switch they are attached to, so that one search serves
 * all destinations of a switch. */
#ifndef SOFTIB_MGMT_ROUTING_DESTINATION_GROUPS_H
#define SOFTIB_MGMT_ROUTING_DESTINATION_GROUPS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/routing/graph.h"

struct destination_groups {
	uint32_t *first_of; /* [switch]: index of its first entry in destinations; one more at the
			       end */
	uint32_t *destinations; /* indexes into the graph's destinations, in its order within a
				   switch */
	bool *has_adapters;	/* [switch]: traffic starts and ends there */
};

MUST_USE int destination_groups_init(struct destination_groups *groups,
				     const struct routing_graph *graph);
void destination_groups_release(struct destination_groups *groups);

#endif
