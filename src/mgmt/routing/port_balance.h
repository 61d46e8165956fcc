/* SPDX-License-Identifier: Apache-2.0 */
/* One port out of those that are equally good for a LID, so that the load is spread and what is
 * there stays. */
#ifndef SOFTIB_MGMT_ROUTING_PORT_BALANCE_H
#define SOFTIB_MGMT_ROUTING_PORT_BALANCE_H

#include <stdbool.h>
#include <stdint.h>
#include "mgmt/routing/graph.h"

struct port_candidates {
	unsigned count;
	uint8_t ports[ROUTING_NO_PORT];
};

/* Nobody has any load yet. */
void port_balance_reset(struct routing_graph *graph);
/* Everybody has the load of the tables as they are. */
void port_balance_recount(struct routing_graph *graph);

/*
 * A port at this switch for each of the destinations, which are all attached to one switch: that
 * one (is_target: their own port there), or another, which has these candidates towards it. The
 * LIDs of one end port (LMC) go different ways where there are any. No candidates: no route.
 */
void port_balance_assign(struct routing_graph *graph, uint32_t switch_index, bool is_target,
			 const struct port_candidates *candidates, const uint32_t *destinations,
			 uint32_t destination_count);

/* The same where there are routes already: those that lead by a candidate stay, and only the others
 * get the least loaded one. Entries at the switch that they are attached to are left alone. */
void port_balance_mend(struct routing_graph *graph, uint32_t switch_index, bool is_target,
		       const struct port_candidates *candidates, const uint32_t *destinations,
		       uint32_t destination_count);

/* What engines fill tables with: port_balance_assign() or port_balance_mend(). */
typedef void port_chooser(struct routing_graph *graph, uint32_t switch_index, bool is_target,
			  const struct port_candidates *candidates, const uint32_t *destinations,
			  uint32_t destination_count);

/* Leads the destination by another port, with its load. */
void port_balance_move(struct routing_switch *node, const struct routing_destination *destination,
		       uint8_t port_number);

#endif
