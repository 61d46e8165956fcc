/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manager's model of its subnet: nodes by GUID, ports, links, LIDs. Built only from answers to
 * MADs.
 *
 * A sweep begins with subnet_begin_sweep(); whatever it does not see again is gone after
 * subnet_drop_unseen(). LIDs belong to port GUIDs and outlive the nodes, so that one that comes
 * back has the LID it had.
 */
#ifndef SOFTIB_MGMT_SUBNET_SUBNET_H
#define SOFTIB_MGMT_SUBNET_SUBNET_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "mgmt/mad/smp_request.h"
#include "wire/pkey.h"
#include "wire/subnet_attributes.h"

struct subnet_node;

struct subnet_port {
	struct subnet_node *node;
	struct subnet_port *peer; /* as this sweep found it; NULL: nothing known there */
	uint64_t guid; /* end ports: adapters' ports that were reached, switches' port 0 */
	uint8_t number;
	bool is_known; /* its PortInfo was read in this sweep */
	uint16_t lid;  /* given by us; 0: none */
	struct port_info info;
};

struct subnet_node {
	struct list link;
	struct node_info info;
	char description[NODE_DESCRIPTION_BYTES + 1];
	struct switch_info switch_info; /* switches */
	struct directed_route route;
	uint32_t seen_in_sweep;
	unsigned port_count;
	struct subnet_port *ports; /* [0] .. [port_count] */
	/* Switches: the table as we know it to be there, and which of its blocks we know. */
	uint8_t *table;
	uint64_t table_blocks_known[LID_MULTICAST_FIRST / 64 / 64];
	uint32_t switch_index; /* in the routing graph of this sweep */
};

struct subnet {
	struct list nodes; /* in the order in which they were found */
	struct hash_table by_guid;
	uint32_t node_count;
	uint32_t switch_count;
	uint32_t sweep;			    /* the number of the present one */
	struct hash_table lid_by_port_guid; /* remembered for the whole run */
	struct subnet_port *by_lid[LID_UNICAST_LAST + 1];
	bool lid_is_remembered[LID_UNICAST_LAST + 1];
	uint16_t lid_max;
};

void subnet_init(struct subnet *subnet);
void subnet_release(struct subnet *subnet);

void subnet_begin_sweep(struct subnet *subnet);

/* NULL when this sweep has not met the node. */
struct subnet_node *subnet_find(const struct subnet *subnet, uint64_t node_guid);

enum { SUBNET_PORTS_MAX = 254 };

enum subnet_meeting {
	SUBNET_NEW,	  /* first seen in this sweep: ask it about itself */
	SUBNET_KNOWN,	  /* met before in this sweep */
	SUBNET_DUPLICATE, /* another node with this GUID is already there */
	SUBNET_NONSENSE,  /* the NodeInfo contradicts itself */
	SUBNET_OUT_OF_MEMORY,
};

/* A NodeInfo that came from the end of this route. A duplicate is one that differs from the node
 * met before, or that claims a port which already has its cable. via: the port at the near end of
 * the last hop; NULL for the own node. */
MUST_USE enum subnet_meeting subnet_meet(struct subnet *subnet, const struct node_info *info,
					 const struct directed_route *route,
					 struct subnet_port *via, struct subnet_node **ret_node);

/* Nodes that this sweep did not meet. Returns how many went. */
uint32_t subnet_drop_unseen(struct subnet *subnet);

static inline bool subnet_node_is_switch(const struct subnet_node *node)
{
	return node->info.node_type == NODE_SWITCH;
}

/* Has a LID of its own: a reached port of an adapter, a switch's port 0. */
static inline bool subnet_port_is_end_port(const struct subnet_port *port)
{
	return port->is_known &&
	       (subnet_node_is_switch(port->node) ? port->number == 0 : port->number != 0);
}

/*
 * A LID for every end port: the one it had in this run, else the one that it has already, else the
 * lowest that is free. Returns how many got none, because there were no more.
 */
uint32_t subnet_assign_lids(struct subnet *subnet);

#endif
