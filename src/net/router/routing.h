/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a router sends a packet: by the prefix of its destination GID into a subnet that it is
 * attached to, or to the next router on the way (vol 1, chapter 19).
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
	uint8_t router_count; /* still to pass; 0: the subnet is attached */
	uint16_t next_lid;    /* of the next router; 0: the destination itself, by its GUID */
};

/* A multicast group that goes on into other subnets. */
struct router_group {
	struct gid mgid;
	uint16_t *mlids; /* by port number; 0: not there */
};

struct gateway;

struct router_table {
	struct router_route *routes;
	unsigned route_count, route_capacity;
	struct router_group *groups;
	unsigned group_count, group_capacity;
	struct gateway *gateway; /* owned: net/router/gateway.h; NULL: it has none */
};

MUST_USE int router_table_create(struct router_table **ret_table);
void router_table_destroy(struct router_table *table);

void router_table_clear_routes(struct router_table *table);
/* A prefix that is there already keeps its route: the shorter one comes first. -ENOMEM. */
MUST_USE int router_table_add(struct router_table *table, const struct router_route *route);
const struct router_route *router_table_find(const struct router_table *table, uint64_t prefix);

void router_table_clear_groups(struct router_table *table);
/* The group's MLID in the subnet of a port; 0 takes it out. -ENOMEM. */
MUST_USE int router_table_set_group(struct router_table *table, const struct gid *mgid,
				    unsigned port_count, unsigned port_number, uint16_t mlid);
const struct router_group *router_table_find_group(const struct router_table *table,
						   const struct gid *mgid);

/* A prefix that names one subnet among several: neither link-local (FE80::/10) nor empty. */
bool gid_prefix_is_routable(uint64_t prefix);
/* A group that may leave its subnet. */
bool gid_multicast_is_routable(const struct gid *mgid);

/* What routing looks at. */
struct routing_header {
	struct gid sgid, dgid;
	uint8_t hop_limit;
	uint8_t sl;
	bool is_raw; /* no P_Key */
	uint16_t pkey;
	uint32_t payload_bytes;
};

/* False: no GRH, or too short for one. */
MUST_USE bool routing_header_read(const struct frame *frame, const struct lrh *lrh,
				  struct routing_header *ret_header);

struct routing_decision {
	enum drop_reason verdict; /* counted at the port that the packet came in by */
	const struct router_route *route;
};

/* Enforcement of the port that a packet comes in by: a router's port is a member like any end port,
 * here the one that receives. */
MUST_USE enum drop_reason routing_check_inbound(const struct port *input,
						const struct routing_header *header);

/* A packet with a unicast DGID that came in by this port and is not for the router itself. */
struct routing_decision routing_unicast(const struct node *node, unsigned input_port,
					const struct routing_header *header);

/* The same for a packet that came in by no port: from the router's gateway. */
struct routing_decision routing_from_gateway(const struct node *node,
					     const struct routing_header *header);

/* The checks of one output: state, MTU, lane, partition. ret_vl on DROP_NONE. */
MUST_USE enum drop_reason routing_output(const struct node *node, unsigned output_port,
					 const struct routing_header *header, uint8_t *ret_vl);

/* Whether the GID is one of the router's own. */
bool router_owns_gid(const struct node *node, const struct gid *gid);

/* The new LRH addresses, and one hop less. BTH and ICRC stay as they are. */
void routing_rewrite(struct frame *frame, uint16_t slid, uint16_t dlid);

#endif
