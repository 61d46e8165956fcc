/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port: one end of a link, with its PortInfo, tables, queues, credits and counters (vol 1,
 * chapters 7 and 14).
 *
 * PortInfo and the tables are stored in the layout of the specification: agents answer from them,
 * and forwarding reads the same fields.
 *
 * This header has no .c of its own: each file of this folder implements a part of a port.
 */
#ifndef SOFTIB_NET_LINK_PORT_H
#define SOFTIB_NET_LINK_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "net/link/link_errors.h"
#include "wire/smp_tables.h"
#include "wire/subnet_attributes.h"

struct node;
struct frame;
struct port;

enum { VL_COUNT = 16, VL_MANAGEMENT = 15, VL_ARBITRATION_ENTRIES = 64, CACHE_LINE_BYTES = 64 };

/* Why a packet was discarded. Each reason is counted at the port that discards; the comments name
 * the port counter of the specification (management 6.1). */
enum drop_reason {
	DROP_NONE,
	DROP_MALFORMED,	    /* PortRcvErrors */
	DROP_PORT_INACTIVE, /* PortXmitDiscards */
	DROP_NO_ROUTE,	    /* PortRcvSwitchRelayErrors */
	DROP_LOOPING,	    /* PortRcvSwitchRelayErrors */
	DROP_HOP_LIMIT,	    /* PortRcvSwitchRelayErrors, at routers */
	DROP_VL_MAPPING,    /* PortRcvSwitchRelayErrors at switches, PortXmitDiscards at adapters */
	DROP_MTU,	    /* PortXmitDiscards */
	DROP_LIFETIME,	    /* PortXmitDiscards: too long in the switch */
	DROP_HEAD_OF_QUEUE, /* PortXmitDiscards: too long at the head of its queue */
	DROP_PKEY_INBOUND,  /* PortRcvConstraintErrors */
	DROP_PKEY_OUTBOUND, /* PortXmitConstraintErrors */
	DROP_VL15,	    /* VL15Dropped */
	DROP_NO_LISTENER,   /* arrived, but no endpoint is attached; not a port counter */
	DROP_NO_FRAME,	    /* PortXmitDiscards: no memory for another copy of a multicast */
	DROP_VCRC,	    /* PortRcvErrors */
	DROP_ICRC,	    /* PortRcvErrors, at the destination */
	DROP_OVERRUN,	    /* PortRcvErrors: the sender exceeded its credits */
	DROP_FAULT,	    /* lost by a fault of the link; no port counts it */
	DROP_RECEIVER_FULL, /* its program does not take its packets; not a port counter */
	DROP_REASON_COUNT,
};

const char *drop_reason_name(enum drop_reason reason);

/* Adds one to the specification's counter for this reason and to drops[reason]. */
void port_count_drop(struct port *port, enum drop_reason reason);

/* The words of one service level; the words and packets of the VL with the same number. */
struct level_counters {
	uint64_t sl_words;
	uint64_t vl_words, vl_packets;
};

/* 64 bits each; the performance agent narrows them. Data is in units of 32-bit words. */
struct link_counters {
	/* For SL0 and VL0, a packet that leaves touches one cache line here, and a packet that
	 * arrives another one. */
	_Alignas(CACHE_LINE_BYTES) uint64_t transmit_words;
	uint64_t transmit_packets, unicast_transmit_packets, multicast_transmit_packets;
	struct level_counters transmit_levels[SL_COUNT];
	_Alignas(CACHE_LINE_BYTES) uint64_t receive_words;
	uint64_t receive_packets, unicast_receive_packets, multicast_receive_packets;
	struct level_counters receive_levels[SL_COUNT];
	uint64_t symbol_errors, link_error_recovery, link_downed, receive_errors,
		receive_remote_physical_errors;
	uint64_t receive_switch_relay_errors, transmit_discards, transmit_constraint_errors,
		receive_constraint_errors;
	uint64_t local_link_integrity_errors, excessive_buffer_overruns, vl15_dropped,
		transmit_wait, qp1_dropped;
	uint64_t transmit_flow_packets, receive_flow_packets; /* flow control packets */
	/* Parts of receive_errors and transmit_discards. */
	uint64_t receive_physical_errors, receive_malformed_packets, transmit_lifetime_discards;
	uint64_t drops[DROP_REASON_COUNT];
};

enum port_kind {
	PORT_OF_ADAPTER,
	PORT_OF_SWITCH,	    /* external */
	PORT_OF_MANAGEMENT, /* port 0 of a switch */
};

/* Fields that every packet reads come first. */
struct port {
	_Alignas(CACHE_LINE_BYTES) enum port_kind kind;
	uint8_t number;
	bool cable_is_down; /* "softib link down": the cable is plugged in and carries nothing */
	bool flow_control_is_lost; /* a fault: all flow control packets of this port get lost */
	bool counts_opcode;	   /* details->opcode */
	struct link_errors errors;
	uint32_t tap_count; /* number of captures at this port: fabric/tap.h */
	struct node *node;
	struct port *peer;	    /* NULL: no cable */
	struct port_queues *queues; /* outputs per VL and credits: net/link/port_queues.h */
	/* Of the packets that leave here; NULL: none. fabric/link_faults.h. */
	struct link_faults *faults;
	/* CA: one row; switch: a row per input port, this port being the output. */
	uint8_t (*sl_to_vl)[SL_COUNT];
	struct congestion *congestion; /* NULL: off. net/link/congestion_state.h */
	struct port_info info;
	struct link_counters counters;
	struct detail_counters *details; /* NULL: all zero. net/link/detail_counters.h */
	uint16_t sl_to_vl_row_count;
	uint64_t guid;
	uint64_t *guids; /* GUIDInfo, info.guid_cap entries; end ports only */
	uint16_t *pkeys; /* P_KeyTable */
	uint16_t pkey_count;
	uint8_t vl_arbitration[2][VL_ARBITRATION_ENTRIES][2]; /* [high][entry]{vl, weight} */
	/* Rises with every change that the adapter's owner has to know of. */
	uint32_t state_changes;
	/* CA and router ports, switch port 0: set by the owner (daemon, simulator). */
	void *endpoint;
	bool led_is_on;	   /* LedInfo */
	bool has_no_power; /* its node is switched off: the link does not train */
	bool had_faults;   /* since its link came up: its credits may be out of step */
	struct port_info_extended extended; /* kept by net/link/fec.h */
	/* Settings of the congestion control agent; NULL: none. mgmt/agents/congestion_agent.h */
	struct congestion_agent *congestion_agent;
};

static inline bool port_is_active(const struct port *port)
{
	return port->info.port_state == PORT_ACTIVE;
}

/* VL15 passes in Init, Armed and Active (transport 8.3). */
static inline bool port_carries_management(const struct port *port)
{
	return port->info.port_state >= PORT_INIT;
}

/* Whether a LID is one of the 2^LMC of this end port (transport 8.10). */
static inline bool port_owns_lid(const struct port *port, uint16_t lid)
{
	return port->info.lid != 0 &&
	       (uint16_t)(lid >> port->info.lmc << port->info.lmc) == port->info.lid;
}

#endif
