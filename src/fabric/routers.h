/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several subnets in one fabric: routers learn the path to each prefix from the ports of the other
 * routers, and a source finds the router for a GID of another subnet.
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

/* Gives a router node its table and adds it to the fabric's routers. -ENOMEM. */
MUST_USE int routers_add(struct fabric *fabric, struct node *node);

/* A LID, prefix or state changed: the routes are computed anew before the next packet, and
 * fabric->routers.groups_are_stale is set. */
void routers_note_change(struct fabric *fabric);

/* Computes the routes anew if they are stale. */
void routers_refresh(struct fabric *fabric);

/* A data packet that came to a router's port. True: it was forwarded or dropped; false: it is for
 * the router itself. */
MUST_USE bool routers_take(struct fabric *fabric, struct port *input, struct frame *frame,
			   const struct lrh *lrh, time_ns now);

/* Where a unicast packet goes on. ret_port is the output, or the port where it is dropped. */
struct routing_header;
MUST_USE enum drop_reason routers_decide(struct fabric *fabric, struct port *input,
					 const struct routing_header *header,
					 struct port **ret_port, uint16_t *ret_dlid,
					 uint8_t *ret_vl);

/* routers_decide() for a packet from a router's gateway. The routes must not be stale. */
MUST_USE enum drop_reason routers_decide_from_gateway(struct fabric *fabric, struct node *node,
						      const struct routing_header *header,
						      struct port **ret_port, uint16_t *ret_dlid);

/*
 * A packet that an adapter is about to send. To a GID of another subnet it goes by a router, with
 * the hop limit that this takes. A program that asked for a path has the router's LID already. A
 * program that exchanged LIDs with its peer has not, so the packet gets the DLID and hop limit of a
 * path record, as a RoCE driver resolves the next hop of a GID. A group that spans subnets but has
 * no hop limit gets one too (OpenSM sets none unless the creator of the group asks); a hop limit of
 * 1 keeps a packet inside.
 */
void routers_address(struct fabric *fabric, struct port *source, struct frame *frame,
		     const struct lrh *lrh);

/* The router port in the source's subnet with the fewest routers between it and this prefix; NULL
 * when there is none. */
struct port *routers_towards(struct fabric *fabric, const struct port *source, uint64_t prefix);

/* The end port with this GID; NULL if there is none or it has no LID. */
struct port *fabric_find_gid(struct fabric *fabric, const struct gid *gid);

/* Forwards the group into the subnet of a router's port with this MLID; 0: no longer. -ENOMEM. */
MUST_USE int routers_set_group(struct fabric *fabric, struct port *router_port,
			       const struct gid *mgid, uint16_t mlid);

void routers_release(struct fabric *fabric);

#endif
