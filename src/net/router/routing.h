/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwarding of a router: by the prefix of the destination GID into an attached subnet, or to the
 * next router (vol 1, chapter 19; transport 8.12).
 */
#ifndef SOFTIB_NET_ROUTER_ROUTING_H
#define SOFTIB_NET_ROUTER_ROUTING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/link/frame.h"
#include "net/link/port.h"
#include "net/node/node.h"
#include "wire/gid.h"
#include "wire/lrh.h"

struct router_route {
	uint64_t prefix;
	uint8_t output_port;
	uint8_t router_count; /* routers still to pass; 0: the subnet is attached */
	uint16_t next_lid;    /* of the next router; 0: the destination itself, by its GUID */
};

/* A multicast group that spans subnets. */
struct router_group {
	struct gid mgid;
	uint16_t *mlids; /* by port number; 0: not in that subnet */
};

struct gateway;

struct router_table {
	struct router_route *routes;
	unsigned route_count, route_capacity;
	struct router_group *groups;
	unsigned group_count, group_capacity;
	struct gateway *gateway; /* owned: net/router/gateway.h; NULL: none */
};

MUST_USE int router_table_create(struct router_table **ret_table);
void router_table_destroy(struct router_table *table);

void router_table_clear_routes(struct router_table *table);
/* A prefix that is in the table keeps its route, because shorter routes are added first.
 * -ENOMEM. */
MUST_USE int router_table_add(struct router_table *table, const struct router_route *route);
const struct router_route *router_table_find(const struct router_table *table, uint64_t prefix);

void router_table_clear_groups(struct router_table *table);
/* Sets the group's MLID in the subnet of a port; 0 removes it. -ENOMEM. */
MUST_USE int router_table_set_group(struct router_table *table, const struct gid *mgid,
				    unsigned port_count, unsigned port_number, uint16_t mlid);
const struct router_group *router_table_find_group(const struct router_table *table,
						   const struct gid *mgid);

/* Whether the prefix names one subnet among several: neither link-local (FE80::/10) nor empty. */
bool gid_prefix_is_routable(uint64_t prefix);
/* Whether the scope of the group allows it to leave its subnet (transport 10.2). */
bool gid_multicast_is_routable(const struct gid *mgid);

/* The header fields that routing reads. */
struct routing_header {
	struct gid sgid, dgid;
	uint8_t hop_limit;
	uint8_t sl;
	bool is_raw; /* no P_Key */
	uint16_t pkey;
	uint32_t payload_bytes;
};

/* False: no GRH, or the packet is too short for one. */
MUST_USE bool routing_header_read(const struct frame *frame, const struct lrh *lrh,
				  struct routing_header *ret_header);

struct routing_decision {
	enum drop_reason verdict; /* counted at the input port */
	const struct router_route *route;
};

/* P_Key enforcement of the input port: a router's port receives as a member, like any end port. */
MUST_USE enum drop_reason routing_check_inbound(const struct port *input,
						const struct routing_header *header);

/* A packet with a unicast DGID that came in by this port and is not for the router itself. */
struct routing_decision routing_unicast(const struct node *node, unsigned input_port,
					const struct routing_header *header);

/* routing_unicast() for a packet from the router's gateway, which has no input port. */
struct routing_decision routing_from_gateway(const struct node *node,
					     const struct routing_header *header);

/* The checks of one output: state, MTU, VL, partition. ret_vl on DROP_NONE. */
MUST_USE enum drop_reason routing_output(const struct node *node, unsigned output_port,
					 const struct routing_header *header, uint8_t *ret_vl);

/* Whether the GID is one of the router's own. */
bool router_owns_gid(const struct node *node, const struct gid *gid);

/* Writes new LIDs and lowers the hop limit by one. BTH and ICRC stay unchanged (transport 8.12). */
void routing_rewrite(struct frame *frame, uint16_t slid, uint16_t dlid);

#endif
