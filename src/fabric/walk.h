/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a unicast packet, found with the functions that forward packets. */
#ifndef SOFTIB_FABRIC_WALK_H
#define SOFTIB_FABRIC_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include "net/link/port.h"

struct fabric;

enum { FABRIC_HOPS_MAX = 64 };

/* One hop of a path that the forwarding code itself walked. */
struct fabric_hop {
	struct port *output;
	struct port *input; /* at the other end of the cable */
	uint8_t vl;
	uint8_t return_vl; /* on which a response with the same SL crosses the same cable */
};

struct fabric_path {
	enum drop_reason verdict; /* DROP_NONE: arrives */
	struct port *destination; /* where it arrives, or where it was dropped */
	unsigned hop_count;	  /* 0: source and destination are one port */
	struct fabric_hop hops[FABRIC_HOPS_MAX];
	uint8_t mtu_code; /* the least on the path */
	bool is_watched;  /* a port on the path is captured, faulty or counts an opcode: no
			     offloading */
};

/* Walks a unicast packet with these header fields from a CA port. */
void fabric_walk(struct fabric *fabric, struct port *source, uint16_t dlid, uint8_t sl,
		 uint16_t pkey, struct fabric_path *ret_path);
/* Walks on from an output that has decided to send the packet: an adapter's, or a router's. */
void fabric_walk_on(struct fabric *fabric, struct port *output, uint8_t vl, uint16_t dlid,
		    uint8_t sl, uint16_t pkey, struct fabric_path *ret_path);

#endif
