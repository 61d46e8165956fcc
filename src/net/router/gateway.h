/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A router's gateway to a LAN: raw packets leave the fabric as Ethernet frames, and frames from the
 * LAN become raw packets (vol 1, chapters 3 and 19; transport 9.4).
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
	struct gateway_frame *queue; /* a ring of GATEWAY_QUEUE_FRAMES frames for the LAN */
	unsigned head, count;
	uint64_t sent;			   /* frames that were taken from the queue */
	uint64_t received;		   /* frames that became packets */
	uint64_t drops[DROP_REASON_COUNT]; /* frames from the LAN */
};

MUST_USE int gateway_create(struct gateway **ret_gateway);
void gateway_destroy(struct gateway *gateway);

/* The MAC address of the end port with this LID in the subnet of a port of the router. */
struct mac gateway_mac(unsigned port_number, uint16_t lid);

/* Whether a raw IPv6 packet without a route is for the LAN: neither address is link-local, and no
 * subnet of the fabric has the prefix of its destination. */
bool gateway_wants(const struct node *node, const struct routing_header *header);

/* Queues a raw packet for the LAN: without the pad, and with the hop limit of IPv6 lowered by one.
 * The packet stays the caller's. DROP_NO_ROUTE: its EtherType would be a length on Ethernet;
 * DROP_NO_FRAME: the queue is full. */
MUST_USE enum drop_reason gateway_leave(struct gateway *gateway, const struct frame *frame,
					const struct lrh *lrh);

/* The oldest frame for the LAN, valid until the next call of gateway_leave(); NULL: none. */
const struct gateway_frame *gateway_next(struct gateway *gateway);

/* A frame from the LAN as a raw packet, before it has LIDs. */
struct gateway_packet {
	bool is_ipv6;
	struct routing_header header; /* has no GIDs if the packet is not IPv6 */
	uint16_t ethertype;	      /* not IPv6: */
	uint8_t output_port;
	uint16_t dlid;
	uint32_t byte_count; /* with the pad */
	uint8_t bytes[IPV6_HEADER_BYTES + MTU_BYTES_MAX];
};

/*
 * Decodes a frame from the LAN, and makes the checks that need no routes. DROP_MALFORMED: too
 * short, too long, no EtherType, or not IPv6 although its type says so. DROP_NO_ROUTE: an address
 * that no packet from a LAN may have: multicast, link-local, a source in a subnet of the fabric, or
 * a MAC address that is not an end port's. DROP_HOP_LIMIT.
 */
MUST_USE enum drop_reason gateway_read(const struct node *node, const uint8_t *bytes,
				       size_t byte_count, struct gateway_packet *ret_packet);

#endif
