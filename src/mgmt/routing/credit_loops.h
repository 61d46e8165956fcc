/* SPDX-License-Identifier: Apache-2.0 */
/* Credit loops: whether packets that follow a graph's tables can wait for each other in a cycle
 * (management 3.8). */
#ifndef SOFTIB_MGMT_ROUTING_CREDIT_LOOPS_H
#define SOFTIB_MGMT_ROUTING_CREDIT_LOOPS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/routing/graph.h"

struct credit_loops {
	bool has_loop;
	/* The first cycle closes at this switch, on the path to this LID. */
	uint32_t switch_index;
	uint16_t lid;
	unsigned lane_count; /* VLs used by any path */
};

/* Follows every LID of an adapter from every switch with adapters, with the SLs and VLs of the
 * graph. Traffic to and from switches is management: most of it uses VL15, which needs no credits,
 * and the rest is too little to fill a buffer. -ENOMEM. */
MUST_USE int credit_loops_check(const struct routing_graph *graph, struct credit_loops *ret_loops);

/* The VL of a packet with this SL that arrived by one port (0: started here) and leaves by another.
 */
static inline uint8_t routing_lane(const struct routing_switch *node, unsigned input_port,
				   unsigned output_port, uint8_t sl)
{
	return node->sl_to_vl ? node->sl_to_vl[((size_t)input_port * (node->port_count + 1) +
						output_port) *
						       ROUTING_SL_COUNT +
					       sl]
			      : sl;
}

#endif
