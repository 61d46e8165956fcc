/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses among the ports that are equally good for a LID: spreads the load and keeps present
 * routes (management 3.8, 3.9). */
#ifndef SOFTIB_MGMT_ROUTING_PORT_BALANCE_H
#define SOFTIB_MGMT_ROUTING_PORT_BALANCE_H

#include <stdbool.h>
#include <stdint.h>
#include "mgmt/routing/graph.h"

struct port_candidates {
	unsigned count;
	uint8_t ports[ROUTING_NO_PORT];
};

/* Sets the load of every port to 0. */
void port_balance_reset(struct routing_graph *graph);
/* Counts the load of every port from the present tables. */
void port_balance_recount(struct routing_graph *graph);

/* Chooses a port at this switch for each destination. All of them are attached to one switch: this
 * one (is_target: they get their own port), or another one to which these candidates lead. The LIDs
 * of one end port (LMC) get different ports where possible. No candidates: no route. */
void port_balance_assign(struct routing_graph *graph, uint32_t switch_index, bool is_target,
			 const struct port_candidates *candidates, const uint32_t *destinations,
			 uint32_t destination_count);

/* As port_balance_assign() for tables that have routes: entries that use a candidate stay, and the
 * others get the least loaded one. Entries at the destinations' own switch are not changed. */
void port_balance_mend(struct routing_graph *graph, uint32_t switch_index, bool is_target,
		       const struct port_candidates *candidates, const uint32_t *destinations,
		       uint32_t destination_count);

/* The function with which engines fill tables: port_balance_assign() or port_balance_mend(). */
typedef void port_chooser(struct routing_graph *graph, uint32_t switch_index, bool is_target,
			  const struct port_candidates *candidates, const uint32_t *destinations,
			  uint32_t destination_count);

/* Moves the destination, with its load, to another port. */
void port_balance_move(struct routing_switch *node, const struct routing_destination *destination,
		       uint8_t port_number);

#endif
