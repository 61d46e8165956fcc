/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwarding of a switch (vol 1, chapter 18; transport 8.11).
 *
 * Decisions are pure functions of the tables: the same code forwards packets and walks the paths of
 * offloaded flows.
 */
#ifndef SOFTIB_NET_SWITCH_FORWARDING_H
#define SOFTIB_NET_SWITCH_FORWARDING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/link/forwarding_header.h"
#include "net/link/frame.h"
#include "net/link/port.h"
#include "net/node/node.h"
#include "wire/lrh.h"

struct forwarding_decision {
	enum drop_reason verdict; /* DROP_NONE: forwarded */
	uint8_t output_port;	  /* 0: to the switch's own management port */
	uint8_t vl;
	uint8_t blamed_port; /* the port that counts a drop */
};

/* A packet with a unicast DLID that came in by input_port (0: from the management port). */
struct forwarding_decision forwarding_unicast(const struct node *node, unsigned input_port,
					      const struct forwarding_header *header);

/* A packet with a multicast DLID: a bit per port that gets a copy, never the input's.
 * forwarding_output() checks each copy. DROP_NO_ROUTE when there is no port. */
struct port_set {
	uint64_t words[4];
};
MUST_USE enum drop_reason forwarding_multicast(const struct node *node, unsigned input_port,
					       const struct forwarding_header *header,
					       struct port_set *ret_outputs);

/* The checks of one output: looping, port state, MTU, VL, partition. */
struct forwarding_decision forwarding_output(const struct node *node, unsigned input_port,
					     unsigned output_port,
					     const struct forwarding_header *header);

/* Whether a member with the port's table may receive a packet with this P_Key: an entry has the
 * same base, and one of the two is full (transport 10.3). */
bool port_pkey_matches(const struct port *port, uint16_t pkey);
/* Whether a member with the port's table may send a packet with this P_Key: see pkey_may_send(). */
bool port_pkey_may_send(const struct port *port, uint16_t pkey);
/* Whether the table holds exactly this P_Key, as an adapter's own packets need. */
bool port_pkey_is_own(const struct port *port, uint16_t pkey);

/* The VL on which a packet leaves this port; VL_MANAGEMENT: none, the packet is dropped. */
uint8_t port_output_vl(const struct port *output, unsigned input_port, uint8_t sl);

static inline bool port_set_has(const struct port_set *set, unsigned port_number)
{
	return set->words[port_number / 64] >> (port_number % 64) & 1;
}

#endif
