/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several subnets in one fabric: routers between them, who learn the way to each prefix from where
 * each other's ports are, and what a source sends to a GID of another subnet.
 */
#ifndef SOFTIB_FABRIC_ROUTERS_H
#define SOFTIB_FABRIC_ROUTERS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/link/port.h"
#include "wire/lrh.h"

struct fabric;
struct frame;
struct gid;
struct node;

/* A node that is a router gets its table and its place among the others. -ENOMEM. */
MUST_USE int routers_add(struct fabric *fabric, struct node *node);

/* A LID, prefix or state changed: routes are found anew before the next packet, and
 * fabric->routers.groups_are_stale. */
void routers_note_change(struct fabric *fabric);

/* Finds the routes anew if that is due. */
void routers_refresh(struct fabric *fabric);

/* A data packet that came to a router's port. True: it was sent on or dropped; false: it is for the
 * router itself. */
MUST_USE bool routers_take(struct fabric *fabric, struct port *input, struct frame *frame,
			   const struct lrh *lrh, time_ns now);

/* Where such a packet goes on, unicast. ret_port is the output, or where it is dropped. */
struct routing_header;
MUST_USE enum drop_reason routers_decide(struct fabric *fabric, struct port *input,
					 const struct routing_header *header,
					 struct port **ret_port, uint16_t *ret_dlid,
					 uint8_t *ret_vl);

/* The same for a packet from a router's gateway, by routes that are not stale. */
MUST_USE enum drop_reason routers_decide_from_gateway(struct fabric *fabric, struct node *node,
						      const struct routing_header *header,
						      struct port **ret_port, uint16_t *ret_dlid);

/*
 * A packet that an adapter is about to send. To a GID of another subnet it goes by a router, with
 * the hops that takes. A program that asked for a path has a router's LID in it already; one that
 * exchanged LIDs with its peer has not, and gets what the path would have said, as a RoCE driver
 * finds the next hop of a GID. A group beyond the subnet whose manager chose no hop limit, as
 * OpenSM does unless its creator asks, gets one too; 1 keeps a packet inside.
 */
void routers_address(struct fabric *fabric, struct port *source, struct frame *frame,
		     const struct lrh *lrh);

/* The router's port in the source's subnet from which the fewest others are left to this prefix;
 * NULL when there is none. */
struct port *routers_towards(struct fabric *fabric, const struct port *source, uint64_t prefix);

/* The end port with this GID; NULL if there is none or it has no LID. */
struct port *fabric_find_gid(struct fabric *fabric, const struct gid *gid);

/* The group goes on into the subnet of a router's port under this MLID; 0: no longer. -ENOMEM. */
MUST_USE int routers_set_group(struct fabric *fabric, struct port *router_port,
			       const struct gid *mgid, uint16_t mlid);

void routers_release(struct fabric *fabric);

#endif
