/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rate of a link: how long a port's wire is busy with a packet, and how far apart a source
 * keeps its packets to a slow destination (vol 1, chapter 9, static rate control; transport 8.8,
 * 8.9).
 */
#ifndef SOFTIB_NET_LINK_LINK_RATE_H
#define SOFTIB_NET_LINK_LINK_RATE_H

#include <stdint.h>
#include "base/time.h"

struct port;

enum {
	LINK_DELAY_NS = 100,	     /* a few metres of cable and the input of the next node */
	FLOW_CONTROL_WIRE_BYTES = 8, /* a link packet with its delimiters */
};

/* LRH to VCRC and the two delimiters. */
static inline uint32_t frame_wire_bytes(uint32_t byte_count)
{
	enum { ICRC_VCRC_AND_DELIMITERS = 8 };

	return byte_count + ICRC_VCRC_AND_DELIMITERS;
}

/* The link trained: takes the active width and speed, and the wire is idle. */
void port_pacer_init(struct port *port);

/* The wire sends these bytes as soon as it is free, at the earliest at now. Returns when the last
 * byte has left. The remainder of a nanosecond is carried over, so that rates are exact. */
time_ns port_occupy_wire(struct port *port, uint32_t wire_bytes, time_ns now);

/* Time from the start of a packet to the earliest start of the next one to the same DLID, for a
 * static rate (a rate code; 0: none). Never less than the packet itself takes. */
time_ns port_static_rate_interval(const struct port *port, unsigned static_rate,
				  uint32_t wire_bytes);

/* Inter-packet delay for a static rate (transport 8.8): 0 when this link is not faster. */
unsigned port_static_rate_ipd(const struct port *port, unsigned static_rate);

#endif
