/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of every fabric after every step: credits, routes, LIDs. */
#include "sim/checkers.h"

#include <stdint.h>
#include <stdio.h>
#include "fabric/fabric.h"
#include "net/link/lane_credits.h"
#include "net/link/port_queues.h"
#include "wire/pkey.h"

static bool violated(char *ret_violation, const struct port *port, const char *what,
		     unsigned number)
{
	snprintf(ret_violation, VIOLATION_BYTES, "%s[%u]: %s (%u)", port->node->name, port->number,
		 what, number);
	return false;
}

static unsigned ahead(unsigned later, unsigned earlier)
{
	return (later - earlier) % CREDIT_MODULUS;
}

/* Flow control as both ends of a virtual lane know it, in 64-byte blocks and modulo 4096 (vol 1,
 * chapter 7; transport 8.5): a block that was sent is on the cable or has been received, and FCTBS
 * <= FCCL <= the granted limit. A link that duplicates packets is out of step until its next flow
 * control packet. */
static bool check_equation(const struct port *port, unsigned vl, unsigned granted,
			   char *ret_violation)
{
	const struct vl_queue *lane = port_arrival_lane(port, vl);

	if (port->info.port_state < PORT_INIT || port->peer->had_faults)
		return true;
	if (ahead(lane->fctbs, lane->cable_blocks) != lane->peer_abr)
		return violated(ret_violation, port,
				"blocks that were sent are neither on the cable nor received", vl);
	if (ahead(lane->fccl, lane->fctbs) > VL_BUFFER_BLOCKS)
		return violated(ret_violation, port, "more was sent than the limit allows", vl);
	if (ahead(granted, lane->fccl) > VL_BUFFER_BLOCKS)
		return violated(ret_violation, port, "the sender's limit was never granted", vl);
	if (lane->cable_blocks + lane->peer_buffer_blocks > VL_BUFFER_BLOCKS)
		return violated(ret_violation, port,
				"more blocks are on the cable than the receiver has room for", vl);
	return true;
}

/* Whether a flow control packet is due or on the cable of a paced link. */
static bool is_being_told(const struct port *port, unsigned vl)
{
	const struct port_pacer *pacer = &port->queues->pacer;

	return (unsigned)(pacer->credits_due | pacer->credits_flying) >> vl & 1;
}

static bool check_lane(const struct fabric *fabric, const struct port *port, unsigned vl,
		       char *ret_violation)
{
	const struct vl_queue *lane = port_arrival_lane(port, vl);
	unsigned granted =
		(lane->peer_abr + VL_BUFFER_BLOCKS - lane->peer_buffer_blocks) % CREDIT_MODULUS;

	if (lane->peer_buffer_blocks > VL_BUFFER_BLOCKS)
		return violated(ret_violation, port, "a receive buffer holds more than its size",
				vl);
	if (fabric_is_idle(fabric) && lane->peer_buffer_blocks)
		return violated(ret_violation, port, "a buffer is occupied in an idle fabric", vl);
	if (fabric_is_idle(fabric) && port->info.port_state >= PORT_INIT &&
	    !port->flow_control_is_lost && !is_being_told(port, vl) && lane->fccl != granted)
		return violated(ret_violation, port,
				"the sender's limit differs from the granted one", vl);
	return check_equation(port, vl, granted, ret_violation);
}

bool check_credits(const struct fabric *fabric, char ret_violation[static VIOLATION_BYTES])
{
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];

		for (unsigned number = 1; number <= node->port_count; number++) {
			const struct port *port = &node->ports[number];

			for (unsigned vl = 0; port->peer && vl < VL_MANAGEMENT; vl++)
				if (!check_lane(fabric, port, vl, ret_violation))
					return false;
		}
	}
	return true;
}

/* The next active port of an adapter after (node index, number); NULL: none. */
static struct port *next_end_port(const struct fabric *fabric, uint32_t *index, unsigned *number)
{
	for (; *index < fabric->node_count; ++*index, *number = 0) {
		struct node *node = fabric->by_index[*index];

		while (!node_is_switch(node) && ++*number <= node->port_count)
			if (port_is_active(&node->ports[*number]))
				return &node->ports[*number];
	}
	return NULL;
}

bool check_routes(struct fabric *fabric, char ret_violation[static VIOLATION_BYTES])
{
	uint32_t from_index = 0;
	unsigned from_number = 0;
	struct port *from, *to;

	while ((from = next_end_port(fabric, &from_index, &from_number))) {
		uint32_t to_index = 0;
		unsigned to_number = 0;

		while ((to = next_end_port(fabric, &to_index, &to_number))) {
			struct fabric_path path;

			fabric_walk(fabric, from, to->info.lid, 0, PKEY_DEFAULT_FULL, &path);
			if (path.verdict == DROP_NONE && path.destination == to)
				continue;
			snprintf(ret_violation, VIOLATION_BYTES, "%s to LID %u: %s at %s[%u]",
				 from->node->name, to->info.lid, drop_reason_name(path.verdict),
				 path.destination->node->name, path.destination->number);
			return false;
		}
	}
	return true;
}

bool check_lids(const struct fabric *fabric, char ret_violation[static VIOLATION_BYTES])
{
	uint8_t seen[(LID_UNICAST_LAST + 1) / 8] = {0};

	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];
		unsigned first = node_is_switch(node) ? 0 : 1;
		unsigned last = node_is_switch(node) ? 0 : node->port_count;

		for (unsigned number = first; number <= last; number++) {
			const struct port *port = &node->ports[number];

			if (port->info.lid == 0)
				continue;
			for (unsigned lid = port->info.lid;
			     lid < port->info.lid + (1u << port->info.lmc); lid++) {
				if (!lid_is_unicast((uint16_t)lid) ||
				    (seen[lid / 8] & 1 << (lid % 8)))
					return violated(ret_violation, port,
							"a LID is not unicast or is used twice",
							lid);
				seen[lid / 8] |= (uint8_t)(1 << (lid % 8));
			}
		}
	}
	return true;
}
