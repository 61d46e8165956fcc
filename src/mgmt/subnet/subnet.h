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
#include "base/time.h"
#include "mgmt/mad/smp_request.h"
#include "mgmt/subnet/multicast_groups.h"
#include "mgmt/subnet/neighbors.h"
#include "mgmt/subnet/partitions.h"
#include "wire/pkey.h"
#include "wire/subnet_attributes.h"

struct subnet_node;

struct subnet_port {
	struct subnet_node *node;
	struct subnet_port *peer; /* as this sweep found it; NULL: nothing known there */
	uint64_t guid; /* end ports: adapters' ports that were reached, switches' port 0 */
	uint8_t number;
	bool is_known;	     /* its PortInfo was read in this sweep */
	uint16_t lid;	     /* given by us: the base LID; 0: none */
	uint8_t lmc;	     /* given by us: it has 2^lmc LIDs */
	uint16_t lid_before; /* while LIDs are given */
	struct port_info info;
	uint64_t mkey;	      /* that opens it, as far as we know; a switch has one, at port 0 */
	bool knows_mkey;      /* the manager there has sent a request with the M_Key of our port */
	bool is_told_of;      /* the manager there was reported as a stranger */
	time_ns mkey_note_at; /* no trap 256 of this port is logged before */
	uint8_t probe_failures; /* in a row: which key is tried next on whoever is behind it */
	/* Its P_Key table as we want it, by index; 0 where an index is free. */
	uint16_t *pkeys;
	uint16_t pkey_count;
	/* As far as we know what is in the table: whole blocks from the first one on. */
	uint16_t *pkeys_present;
	uint16_t pkeys_present_count;
	/* Enforcement as we wrote it, so that an operator's change stays: 0, or 1 + inbound + 2 x
	 * outbound. */
	uint8_t enforcement_written;
	bool needs_reregister;	 /* its clients are to join and subscribe anew */
	bool reregister_is_sent; /* the Set that is on its way says so */
	bool is_in_service;	 /* the owner of the manager was told that it came */
	/* OperationalVLs that its SL to VL and arbitration tables were written for; 0: none were.
	 */
	uint8_t maps_vls, arbitration_vls;
	uint8_t wanted_steps; /* bits: questions that the next discovery asks, mgmt/sm/discovery.h
			       */
};

struct subnet_node {
	struct list link;
	struct node_info info;
	char description[NODE_DESCRIPTION_BYTES + 1];
	struct switch_info switch_info; /* switches */
	struct directed_route route;
	uint8_t route_port; /* by which the route enters it */
	uint32_t seen_in_sweep;
	bool is_changed;    /* a switch that is to be looked at again */
	time_ns mute_until; /* a switch that sent a trap may not send the next before */
	/* Its ports were as wanted when the last sweep ended, and nothing was heard of it since: so
	 * there is nothing to be written to them. */
	bool is_settled;
	bool has_failed;       /* in this sweep: it will not be settled by it */
	uint64_t lanes_digest; /* of what the routing engine wants of its SL to VL maps; 0: nothing
				*/
	unsigned port_count;
	struct subnet_port *ports; /* [0] .. [port_count] */
	/* Switches: the table as we know it to be there, and which of its blocks we know. */
	uint8_t *table;
	uint64_t table_blocks_known[LID_MULTICAST_FIRST / 64 / 64];
	uint32_t switch_index; /* in the routing graph of this sweep */
	/* Switches: the multicast table as we want it, [MLID x positions + position], for the first
	 * multicast_mlid_count MLIDs; and its blocks that are not known to be there, [block x
	 * positions + position]. A position is 16 ports. */
	uint16_t *multicast;
	uint8_t *multicast_block_is_due;
	uint32_t multicast_mlid_count;
	uint32_t multicast_due_count;
};

struct subnet {
	struct list nodes; /* in the order in which they were found */
	struct hash_table by_guid;
	struct hash_table by_port_guid; /* end ports that have a LID */
	uint64_t gid_prefix;
	uint8_t lmc; /* for adapters and routers */
	struct partitions partitions;
	struct multicast_groups
		multicast_groups; /* changed by the SA: see sm_multicast_changed() */
	/* From an engine that uses lanes: [switch index x (lid_max + 1) + LID]; NULL: SL 0. */
	uint8_t *service_levels;
	uint32_t service_levels_switch_count;
	uint16_t service_levels_lid_max;
	uint8_t policy_sl_bits; /* those that policy may set beside them */
	uint32_t node_count;
	uint32_t switch_count;
	struct neighbors neighbors;	    /* who was behind which port, for the whole run */
	uint32_t sweep;			    /* the number of the present one */
	struct hash_table lid_by_port_guid; /* remembered for the whole run */
	bool lids_changed;		    /* by the last subnet_assign_lids() */
	bool prefers_present_lids; /* over those that are remembered: another manager gave them */
	struct subnet_port *by_lid[LID_UNICAST_LAST + 1]; /* every LID of each port */
	uint64_t lid_owner[LID_UNICAST_LAST + 1]; /* the port GUID for which it is remembered */
	uint16_t lid_max; /* ever given: tables that end there need not shrink */
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

/* All of them are to be looked at port by port. */
void subnet_unsettle(struct subnet *subnet);

/* The cable of this port, if it has one, is gone: what is known of adapters' ports at its ends is
 * worth nothing then. */
void subnet_unlink(struct subnet_port *port);

/* Routes and lanes that were written to the node may not be there any more. */
void subnet_forget_tables(struct subnet_node *node);
void subnet_forget_lanes(struct subnet_node *node);

/* Begins a sweep that has met already whoever the known links lead to, and gives all of those their
 * shortest routes. */
void subnet_meet_linked(struct subnet *subnet, struct subnet_port *own_port);

/* The P_Keys of every end port that is not settled and, where switches are to enforce them, of the
 * switch ports that face them. Keys keep their indexes. Returns how many tables are too small, or
 * without memory. */
uint32_t subnet_assign_pkeys(struct subnet *subnet, const struct subnet_port *own_port);

static inline bool subnet_table_block_is_known(const struct subnet_node *node, unsigned block)
{
	return node->table_blocks_known[block / 64] >> (block % 64) & 1;
}

static inline unsigned subnet_multicast_positions(const struct subnet_node *node)
{
	return node->port_count / 16 + 1;
}

static inline bool subnet_node_is_switch(const struct subnet_node *node)
{
	return node->info.node_type == NODE_SWITCH;
}

/* The port whose M_Key guards this one. */
static inline struct subnet_port *subnet_port_guard(struct subnet_port *port)
{
	return subnet_node_is_switch(port->node) ? &port->node->ports[0] : port;
}

/* The M_Key that opens the node for requests along its route. */
static inline uint64_t subnet_node_mkey(const struct subnet_node *node)
{
	return node->ports[subnet_node_is_switch(node) ? 0 : node->route_port].mkey;
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

/* The LIDs that are remembered, as lines "0x<port guid> 0x<lowest LID> 0x<highest LID>". The text
 * is the caller's to free; NULL without memory. */
char *subnet_lids_text(const struct subnet *subnet);
/* Remembers the LIDs of such a text; lines that make no sense, or contradict earlier ones, are left
 * out. Returns how many those were. */
uint32_t subnet_lids_remember(struct subnet *subnet, const char *text, size_t text_bytes);

/* NULL when no end port has it. */
static inline struct subnet_port *subnet_port_by_lid(const struct subnet *subnet, uint16_t lid)
{
	return lid_is_unicast(lid) ? subnet->by_lid[lid] : NULL;
}

static inline struct subnet_port *subnet_port_by_guid(const struct subnet *subnet,
						      uint64_t port_guid)
{
	return hash_table_get(&subnet->by_port_guid, port_guid);
}

#endif
