/* SPDX-License-Identifier: Apache-2.0 */
/* A node: channel adapter, switch or router, with its ports and tables (vol 1, chapter 14). */
#ifndef SOFTIB_NET_NODE_NODE_H
#define SOFTIB_NET_NODE_NODE_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "net/link/port.h"
#include "wire/ip_network.h"
#include "wire/subnet_attributes.h"

enum {
	LFT_NO_PORT = 255,
	LFT_BLOCK_ENTRIES = 64,
	LFT_ENTRIES = 0xc000, /* every unicast LID */
	MFT_ENTRIES = 1024,
	MFT_POSITIONS = 16, /* of 16 ports each */
	PKEYS_DEFAULT = 32,
	GUIDS_DEFAULT = 8,
	NODE_PORTS_MAX = 254,
	NODE_VENDOR_ID = 0x025f1b, /* locally administered */
	NODE_DEVICE_CA = 1,
	NODE_DEVICE_SWITCH = 2,
	NODE_DEVICE_ROUTER = 3,
};

struct router_table;

/* IP addresses given to a port; version 0: the default address. */
struct port_networks {
	struct ip_network ipv4;
	struct ip_network ipv6;
};

struct node {
	struct list link; /* in the fabric */
	uint32_t index;	  /* in the fabric, stable */
	struct node_info info;
	char description[NODE_DESCRIPTION_BYTES + 1];
	char name[64];	     /* the node's id in the topology, for messages */
	unsigned port_count; /* external ports */
	struct port *ports;  /* [0] .. [port_count]; [0] is the switch's management port, unused on
				adapters */
	/* switches */
	struct switch_info switch_info;
	uint8_t *lft;	     /* linear_fdb_cap entries */
	uint16_t (*mft)[16]; /* [MLID - 0xc000][position]: port masks */
	/* routers */
	struct router_table *router; /* owned by the fabric: net/router/routing.h */
	/* channel adapters: which virtual host, which adapter on it */
	char host[64];
	uint32_t adapter_index;
	bool is_target;			/* a target channel adapter: it always has an I/O unit */
	struct port_networks *networks; /* [port_number]; NULL: all ports have default addresses */
};

/* Defaults as delivered: 4x EDR ports that are down, no LIDs, P_Key 0xffff, empty forwarding
 * tables. -EINVAL: port_count, node_guid 0; -ENOMEM. */
MUST_USE int node_init(struct node *node, enum node_type type, unsigned port_count,
		       uint64_t node_guid, const char *description);
void node_release(struct node *node);
/* Makes an adapter a target channel adapter: its ports have device management (management 6.3). */
void node_make_target(struct node *node);

static inline bool node_is_switch(const struct node *node)
{
	return node->info.node_type == NODE_SWITCH;
}

static inline bool node_is_router(const struct node *node)
{
	return node->info.node_type == NODE_ROUTER;
}

/* Whether endpoints attach to its ports: not to those of switches and routers. */
static inline bool node_is_adapter(const struct node *node)
{
	return node->info.node_type == NODE_CA;
}

/* The port whose LID, M_Key and GUID stand for the given one: port 0 at a switch, the port itself
 * elsewhere. */
static inline struct port *node_management_port(struct node *node, unsigned port_number)
{
	return node_is_switch(node) ? &node->ports[0] : &node->ports[port_number];
}

#endif
