/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A router's gateway to a LAN: raw packets leave the fabric as Ethernet frames, and frames from the
 * LAN become raw packets (vol 1, chapters 3 and 19).
 *
 * An end port has a MAC address on the LAN: 02:5f:1b, the number of the router's port, its LID.
 */
#ifndef SOFTIB_NET_ROUTER_GATEWAY_H
#define SOFTIB_NET_ROUTER_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/link/port.h"
#include "net/router/routing.h"
#include "wire/ethernet.h"
#include "wire/mtu.h"
#include "wire/raw_packet.h"

struct frame;
struct node;

enum {
	GATEWAY_QUEUE_FRAMES = 256,
	GATEWAY_FRAME_BYTES_MAX = ETHERNET_HEADER_BYTES + IPV6_HEADER_BYTES + MTU_BYTES_MAX,
};

struct gateway_frame {
	uint32_t byte_count;
	uint8_t bytes[GATEWAY_FRAME_BYTES_MAX];
};

struct gateway {
	struct gateway_frame *queue; /* GATEWAY_QUEUE_FRAMES, for the LAN: a ring */
	unsigned head, count;
	uint64_t sent;			   /* frames that were taken from the queue */
	uint64_t received;		   /* frames that became packets */
	uint64_t drops[DROP_REASON_COUNT]; /* frames from the LAN */
};

MUST_USE int gateway_create(struct gateway **ret_gateway);
void gateway_destroy(struct gateway *gateway);

/* The MAC address of the end port with this LID in the subnet of a port of the router. */
struct mac gateway_mac(unsigned port_number, uint16_t lid);

/* Whether a raw IPv6 packet that the router has no route for is for the LAN: neither address is
 * link-local, and no subnet of the fabric has the prefix of its destination. */
bool gateway_wants(const struct node *node, const struct routing_header *header);

/* Queues a raw packet for the LAN: with one hop less if it is IPv6, without the pad. The packet
 * stays the caller's. DROP_NO_ROUTE: its EtherType is a length on Ethernet; DROP_NO_FRAME: the
 * queue is full. */
MUST_USE enum drop_reason gateway_leave(struct gateway *gateway, const struct frame *frame,
					const struct lrh *lrh);

/* The oldest frame for the LAN, until the next call of gateway_leave; NULL: none. */
const struct gateway_frame *gateway_next(struct gateway *gateway);

/* A frame from the LAN as a raw packet, before it has addresses of the fabric. */
struct gateway_packet {
	bool is_ipv6;
	struct routing_header header; /* without GIDs if it is not IPv6 */
	uint16_t ethertype;	      /* of others: */
	uint8_t output_port;
	uint16_t dlid;
	uint32_t byte_count; /* with the pad */
	uint8_t bytes[IPV6_HEADER_BYTES + MTU_BYTES_MAX];
};

/*
 * Reads a frame from the LAN, and checks what the router need not look at its routes for.
 * DROP_MALFORMED: too short, too long, no EtherType, not IPv6 though it says so. DROP_NO_ROUTE: to
 * or from an address that no packet from a LAN may have: a group's, a link-local one, from a subnet
 * of the fabric, or to a MAC address that is not an end port's. DROP_HOP_LIMIT.
 */
MUST_USE enum drop_reason gateway_read(const struct node *node, const uint8_t *bytes,
				       size_t byte_count, struct gateway_packet *ret_packet);

#endif
