/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What routing works on: switches, the links between them, and where each LID is attached; and its
 * result, a linear forwarding table per switch. Plain numbers, no MADs.
 */
#ifndef SOFTIB_MGMT_ROUTING_GRAPH_H
#define SOFTIB_MGMT_ROUTING_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

enum { ROUTING_NO_PORT = 255 };

#define ROUTING_NO_SWITCH UINT32_MAX

struct routing_switch {
	unsigned port_count;
	uint32_t *neighbors; /* [port number]: the switch at the other end, or ROUTING_NO_SWITCH */
	uint8_t *table; /* [LID]: output port; what is there before is kept where it is as good */
	uint32_t *load; /* [port number]: LIDs of adapters that leave by it */
};

struct routing_destination {
	uint16_t lid;
	uint32_t switch_index; /* it is attached to */
	uint8_t port_number;   /* there; 0 when it is the switch itself */
};

struct routing_graph {
	uint32_t switch_count;
	struct routing_switch *switches;
	uint32_t destination_count;
	struct routing_destination *destinations;
	uint16_t lid_max; /* tables have lid_max + 1 entries */
};

/* Switches without ports yet, tables without routes. -ENOMEM. */
MUST_USE int routing_graph_init(struct routing_graph *graph, uint32_t switch_count,
				uint32_t destination_count, uint16_t lid_max);
MUST_USE int routing_graph_set_ports(struct routing_graph *graph, uint32_t switch_index,
				     unsigned port_count);
void routing_graph_release(struct routing_graph *graph);

/* A link, seen from both its ends. */
void routing_graph_link(struct routing_graph *graph, uint32_t a, uint8_t a_port, uint32_t b,
			uint8_t b_port);

enum routing_fault { ROUTING_SOUND, ROUTING_DEAD_END, ROUTING_LOOP };

struct routing_verdict {
	enum routing_fault fault;
	uint32_t switch_index; /* the first that has it */
	uint16_t lid;
	uint32_t unreachable_count; /* pairs of switch and LID without a route; no fault if the
				       graph has no path either */
};

/* Follows every LID from every switch. */
MUST_USE int routing_check(const struct routing_graph *graph, struct routing_verdict *ret_verdict);

#endif
