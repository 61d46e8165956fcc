/* SPDX-License-Identifier: Apache-2.0 */
/* Input of routing: switches, the links between them, and the switch of each LID. Output: a linear
 * forwarding table per switch. Plain numbers, no MADs. */
#ifndef SOFTIB_MGMT_ROUTING_GRAPH_H
#define SOFTIB_MGMT_ROUTING_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

enum { ROUTING_NO_PORT = 255, ROUTING_SL_COUNT = 16 };

#define ROUTING_NO_SWITCH UINT32_MAX

struct routing_switch {
	uint64_t guid;		    /* of the node */
	uint64_t system_image_guid; /* 0: none */
	unsigned port_count;
	uint32_t *neighbors; /* [port number]: the switch at the other end, or ROUTING_NO_SWITCH */
	uint8_t *neighbor_ports; /* [port number]: the port at the other end */
	uint8_t *table;		 /* [LID]: output port; the present entry stays if it is as good */
	uint32_t *load;		 /* [port number]: LIDs of adapters that leave by it */
	/* A bit for each block of 64 LIDs in which a repair changed entries. The writer of the
	 * tables clears it. */
	uint64_t *moved_blocks;
	/* NULL: every SL uses the VL of its number. Otherwise, from an engine that needs it,
	 * [(input x (port_count + 1) + output) x ROUTING_SL_COUNT + SL]; see
	 * routing_graph_use_lanes(). */
	uint8_t *sl_to_vl;
};

/* A switch's part of the saved routes: see saved_routes.h. */
struct saved_switch {
	uint8_t *table;		 /* [LID] */
	uint32_t *neighbors;	 /* [port number] */
	uint8_t *neighbor_ports; /* [port number] */
};

struct routing_destination {
	uint16_t lid;
	uint32_t switch_index; /* the switch it is attached to */
	uint8_t port_number;   /* on that switch; 0: the switch itself */
	uint8_t path_index;    /* which of the 2^LMC LIDs of its port; 0: the base LID */
	uint64_t port_guid;
	uint64_t node_guid;
};

struct routing_graph {
	uint32_t switch_count;
	struct routing_switch *switches;
	uint32_t destination_count;
	struct routing_destination *destinations;
	uint16_t lid_max; /* tables have lid_max + 1 entries */
	/* From engines that use several VLs: the SL for packets from an end port of this switch to
	 * this LID, [source switch x (lid_max + 1) + LID]. NULL: SL 0 for all. */
	uint8_t *service_levels;
	/* SL bits that do not change the VL: policy may set them on any path. */
	uint8_t policy_sl_bits;
	/* From engines whose paths go up, then down: [switch] its rank, for repairs; see ranks.h.
	 * NULL: any path is legal. */
	uint32_t *ranks;
	bool roots_are_at_bottom;
	struct saved_switch *saved_routes; /* [switch]; NULL: none are saved */
};

enum { ROUTING_LIDS_PER_BLOCK = 64 };

/* Creates switches without ports and tables without routes. -ENOMEM. */
MUST_USE int routing_graph_init(struct routing_graph *graph, uint32_t switch_count,
				uint32_t destination_count, uint16_t lid_max);
MUST_USE int routing_graph_set_ports(struct routing_graph *graph, uint32_t switch_index,
				     unsigned port_count);
void routing_graph_release(struct routing_graph *graph);
/* Frees the saved routes, if there are any. */
void routing_graph_drop_saved_routes(struct routing_graph *graph);

static inline void routing_switch_mark_moved(struct routing_switch *node, uint16_t lid)
{
	unsigned block = lid / ROUTING_LIDS_PER_BLOCK;

	node->moved_blocks[block / 64] |= UINT64_C(1) << (block % 64);
}

/* Adds a link to both of its switches. */
void routing_graph_link(struct routing_graph *graph, uint32_t a, uint8_t a_port, uint32_t b,
			uint8_t b_port);

/* Allocates an SL per pair, all 0. -ENOMEM. */
MUST_USE int routing_graph_use_service_levels(struct routing_graph *graph);
/* Allocates a map from SL to VL per pair of ports of this switch; each SL maps to the VL of its
 * number. -ENOMEM. */
MUST_USE int routing_graph_use_lanes(struct routing_graph *graph, uint32_t switch_index);

/* Back to the default: every packet on SL 0, every SL on the VL of its number. */
void routing_graph_drop_lanes(struct routing_graph *graph);

static inline uint8_t routing_graph_service_level(const struct routing_graph *graph,
						  uint32_t source_switch, uint16_t lid)
{
	return graph->service_levels
		       ? graph->service_levels[(size_t)source_switch * (graph->lid_max + 1u) + lid]
		       : 0;
}

enum routing_fault { ROUTING_SOUND, ROUTING_DEAD_END, ROUTING_LOOP };

struct routing_verdict {
	enum routing_fault fault;
	uint32_t switch_index; /* the first switch with the fault */
	uint16_t lid;
	uint32_t unreachable_count; /* pairs of switch and LID without a route; not a fault if the
				       graph has no path either */
};

/* Follows every LID from every switch. */
MUST_USE int routing_check(const struct routing_graph *graph, struct routing_verdict *ret_verdict);

#endif
