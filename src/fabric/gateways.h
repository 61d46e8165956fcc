/* SPDX-License-Identifier: Apache-2.0 */
/* Gateways of routers to a LAN: raw packets that leave the fabric, Ethernet frames that enter it.
 * The fabric's owner carries the Ethernet frames (net/router/gateway.h: gateway_next). */
#ifndef SOFTIB_FABRIC_GATEWAYS_H
#define SOFTIB_FABRIC_GATEWAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

struct fabric;
struct frame;
struct lrh;
struct node;
struct port;

/* A raw packet that came to a router's port leaves by its gateway, or is dropped there. */
void gateways_send(struct fabric *fabric, struct port *input, struct frame *frame,
		   const struct lrh *lrh);

/* A packet without GIDs. False: it is not a raw EtherType packet for a LID of a router with a
 * gateway, and nothing was done. */
MUST_USE bool gateways_take(struct fabric *fabric, struct port *input, struct frame *frame,
			    const struct lrh *lrh);

/* An Ethernet frame from the LAN of this router, which has a gateway. What may not enter or finds
 * no room is dropped and counted at the gateway. */
void gateways_receive(struct fabric *fabric, struct node *router, const uint8_t *bytes,
		      size_t byte_count, time_ns now);

#endif
