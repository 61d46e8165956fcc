/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a port's wire is busy with what it sends, and how far apart a source keeps its packets
 * to a slow destination (vol 1, chapter 9, static rate control).
 */
#ifndef SOFTIB_NET_LINK_LINK_RATE_H
#define SOFTIB_NET_LINK_LINK_RATE_H

#include <stdint.h>
#include "base/time.h"

struct port;

enum {
	LINK_DELAY_NS = 100, /* a few metres of cable and the way through the next node's input */
	FLOW_CONTROL_WIRE_BYTES = 8, /* a link packet with its delimiters */
};

/* LRH .. VCRC and the two delimiters. */
static inline uint32_t frame_wire_bytes(uint32_t byte_count)
{
	enum { ICRC_VCRC_AND_DELIMITERS = 8 };

	return byte_count + ICRC_VCRC_AND_DELIMITERS;
}

/* The link trained: width and speed are what is active now, and the wire is idle. */
void port_pacer_init(struct port *port);

/* The wire takes these bytes as soon as it is free, at the earliest at now. Returns when the last
 * one has left; parts of a nanosecond are carried on to the next, so that rates are exact. */
time_ns port_occupy_wire(struct port *port, uint32_t wire_bytes, time_ns now);

/* From the start of a packet to the earliest start of the next one to the same DLID, for a static
 * rate (a rate code; 0: none). Never less than the packet itself takes. */
time_ns port_static_rate_interval(const struct port *port, unsigned static_rate,
				  uint32_t wire_bytes);

/* Inter-packet delay for a static rate: 0 when this link is not faster. */
unsigned port_static_rate_ipd(const struct port *port, unsigned static_rate);

#endif
