/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manager's model of its subnet: nodes by GUID, ports, links, LIDs. It is built only from
 * responses to MADs.
 *
 * A sweep begins with subnet_begin_sweep(). subnet_drop_unseen() removes what the sweep did not
 * find. LIDs belong to port GUIDs and outlive the nodes, so a node that returns gets its former
 * LID.
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
	struct subnet_port *peer; /* as this sweep found it; NULL: unknown */
	uint64_t guid; /* end ports: ports of adapters that were reached, port 0 of switches */
	uint8_t number;
	bool is_known;	     /* its PortInfo was read in this sweep */
	uint16_t lid;	     /* assigned by us: the base LID; 0: none */
	uint8_t lmc;	     /* assigned by us: the port has 2^lmc LIDs */
	uint16_t lid_before; /* during the assignment of LIDs */
	struct port_info info;
	uint64_t mkey;	  /* the M_Key of the port as far as we know; a switch has one, at port 0 */
	bool knows_mkey;  /* the manager on this port sent a request with the M_Key of our port */
	bool is_reported; /* the manager on this port was reported as foreign */
	time_ns mkey_note_at;	/* trap 256 of this port is not logged before this time */
	uint8_t probe_failures; /* consecutive failures: selects the key to try next on the node
				   behind this port */
	/* The P_Key table as it should be, by index; 0: a free entry. */
	uint16_t *pkeys;
	uint16_t pkey_count;
	/* The known contents of the P_Key table: whole blocks from the first one on. */
	uint16_t *pkeys_present;
	uint16_t pkeys_present_count;
	/* Enforcement as we wrote it, so that an operator's change stays: 0, or 1 + inbound + 2 x
	 * outbound. */
	uint8_t enforcement_written;
	bool needs_reregister;	 /* its clients must repeat their joins and subscriptions */
	bool reregister_is_sent; /* a Set with ClientReregister is under way */
	bool is_in_service;	 /* the manager's owner was told that the port is in service */
	/* OperationalVLs for which its SLtoVL and arbitration tables were written; 0: not written.
	 */
	uint8_t maps_vls, arbitration_vls;
	uint8_t wanted_steps; /* bits: extra steps of the next discovery, mgmt/sm/discovery.h */
};

struct subnet_node {
	struct list link;
	struct node_info info;
	char description[NODE_DESCRIPTION_BYTES + 1];
	struct switch_info switch_info; /* switches */
	struct directed_route route;
	uint8_t route_port; /* the port by which the route enters the node */
	uint32_t seen_in_sweep;
	bool is_changed;    /* a switch that must be read again */
	time_ns mute_until; /* traps of this switch are ignored until this time */
	/* The ports were as wanted when the last sweep ended, and no trap came since: nothing has
	 * to be written to them. */
	bool is_settled;
	bool has_failed; /* in this sweep, so it does not become settled */
	uint64_t
		lanes_digest; /* digest of the SLtoVL maps that the routing engine wants; 0: none */
	unsigned port_count;
	struct subnet_port *ports; /* [0] .. [port_count] */
	/* Switches: the known contents of the LFT, and which of its blocks are known. */
	uint8_t *table;
	uint64_t table_blocks_known[LID_MULTICAST_FIRST / 64 / 64];
	uint32_t switch_index; /* in the routing graph of this sweep */
	/* Switches: the multicast forwarding table as it should be, [MLID x positions + position],
	 * for the first multicast_mlid_count MLIDs; and the blocks that must still be written,
	 * [block x positions + position]. A position is 16 ports. */
	uint16_t *multicast;
	uint8_t *multicast_block_is_due;
	uint32_t multicast_mlid_count;
	uint32_t multicast_due_count;
};

struct subnet {
	struct list nodes; /* in the order of discovery */
	struct hash_table by_guid;
	struct hash_table by_port_guid; /* end ports that have a LID */
	uint64_t gid_prefix;
	uint8_t lmc; /* for adapters and routers */
	struct partitions partitions;
	struct multicast_groups
		multicast_groups; /* changed by the SA: see sm_multicast_changed() */
	/* From an engine that uses several VLs: [switch index x (lid_max + 1) + LID]; NULL: SL 0.
	 */
	uint8_t *service_levels;
	uint32_t service_levels_switch_count;
	uint16_t service_levels_lid_max;
	uint8_t policy_sl_bits; /* bits of the SL that policy may set in addition */
	uint32_t node_count;
	uint32_t switch_count;
	struct neighbors neighbors;	    /* kept for the whole run */
	uint32_t sweep;			    /* the number of the present sweep */
	struct hash_table lid_by_port_guid; /* kept for the whole run */
	bool lids_changed;		    /* by the last subnet_assign_lids() */
	bool prefers_present_lids;	    /* to saved ones: another manager assigned them */
	struct subnet_port *by_lid[LID_UNICAST_LAST + 1]; /* every LID of each port */
	uint64_t lid_owner[LID_UNICAST_LAST + 1]; /* the port GUID for which the LID is saved */
	uint16_t lid_max; /* the highest LID ever assigned: tables that end there need not shrink */
};

void subnet_init(struct subnet *subnet);
void subnet_release(struct subnet *subnet);

void subnet_begin_sweep(struct subnet *subnet);

/* NULL: this sweep has not found the node. */
struct subnet_node *subnet_find(const struct subnet *subnet, uint64_t node_guid);

enum { SUBNET_PORTS_MAX = 254 };

enum subnet_add_result {
	SUBNET_NEW,	  /* first seen in this sweep: read its attributes */
	SUBNET_KNOWN,	  /* already found in this sweep */
	SUBNET_DUPLICATE, /* another node has this GUID */
	SUBNET_INVALID,	  /* the NodeInfo contradicts itself */
	SUBNET_OUT_OF_MEMORY,
};

/* Takes a NodeInfo from the end of this route. It is a duplicate if it differs from that of the
 * node found before, or if it claims a port that already has a link. via: the port at the near end
 * of the last hop; NULL for our own node. */
MUST_USE enum subnet_add_result subnet_add_node(struct subnet *subnet, const struct node_info *info,
						const struct directed_route *route,
						struct subnet_port *via,
						struct subnet_node **ret_node);

/* Removes the nodes that this sweep did not find, and returns their number. */
uint32_t subnet_drop_unseen(struct subnet *subnet);

/* The next sweep checks every port of every node. */
void subnet_unsettle(struct subnet *subnet);

/* The link of this port, if it has one, is gone. The known state of adapter ports at its ends is no
 * longer valid. */
void subnet_unlink(struct subnet_port *port);

/* The LFT and VL tables that were written to the node may be lost. */
void subnet_forget_tables(struct subnet_node *node);
void subnet_forget_lanes(struct subnet_node *node);

/* Begins a sweep that counts the nodes behind known links as found, and gives them their shortest
 * routes. */
void subnet_begin_linked_sweep(struct subnet *subnet, struct subnet_port *own_port);

/* Assigns the P_Keys of every end port that is not settled and, if switches enforce partitions, of
 * the switch port that faces it. Keys keep their indexes (management 3.5). Returns the number of
 * tables that are too small or without memory. */
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

/* The port whose M_Key is checked for requests to this port. */
static inline struct subnet_port *subnet_port_guard(struct subnet_port *port)
{
	return subnet_node_is_switch(port->node) ? &port->node->ports[0] : port;
}

/* The M_Key for requests to the node along its route. */
static inline uint64_t subnet_node_mkey(const struct subnet_node *node)
{
	return node->ports[subnet_node_is_switch(node) ? 0 : node->route_port].mkey;
}

/* Whether it has a LID: a reached port of an adapter, or port 0 of a switch. */
static inline bool subnet_port_is_end_port(const struct subnet_port *port)
{
	return port->is_known &&
	       (subnet_node_is_switch(port->node) ? port->number == 0 : port->number != 0);
}

/* Assigns a LID to every end port: the one it had in this run, else the one in its PortInfo, else
 * the lowest free one (management 3.3). Returns the number of ports without a LID, because there
 * are no more. */
uint32_t subnet_assign_lids(struct subnet *subnet);

/* The saved LIDs, as lines "0x<port guid> 0x<lowest LID> 0x<highest LID>". The caller frees the
 * text. NULL: no memory. */
char *subnet_lids_text(const struct subnet *subnet);
/* Reads such a text. Lines that are malformed or contradict earlier ones are ignored; returns their
 * number. */
uint32_t subnet_lids_remember(struct subnet *subnet, const char *text, size_t text_bytes);

/* NULL: no end port has it. */
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
