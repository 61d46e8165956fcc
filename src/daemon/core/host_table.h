/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual hosts of a fabric: the adapters of each, and the names and addresses by which
 * programs know them. */
#ifndef SOFTIB_DAEMON_CORE_HOST_TABLE_H
#define SOFTIB_DAEMON_CORE_HOST_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "daemon/core/qpn_space.h"
#include "net/node/node.h"
#include "wire/ip_network.h"
#include "wire/raw_packet.h"

struct client;
struct fabric;
struct sysfs_port_shown;
struct verb_fault_log;

enum {
	HOST_NAME_BYTES = 64,
	ADAPTERS_PER_HOST_MAX = 32,
	ADDRESS_TEXT_BYTES = 46,
	DESTINATION_SLOTS = 64
};

/* softibd's state for a port of an adapter, router or switch; port->endpoint points here. */
struct endpoint {
	struct port *port;
	struct adapter_entry
		*adapter; /* NULL: a port of a router or switch, which receives MADs only */
	/* The device by which management programs know the port: its adapter, switch or router.
	 * NULL: a router that no program uses. */
	struct adapter_entry *device;
	uint32_t ordinal; /* among all adapter ports of the fabric, from 1: the default addresses
			     are made of it */
	struct ip_network ipv4; /* from the topology, or else made of the ordinal */
	struct ip_network ipv6;
	struct list changed_link; /* daemon_core.changed_endpoints */
	struct list blocked_link; /* packet_plane.blocked */
	/* Packets of programs that are inside the fabric, counted by destination; several LIDs
	 * share a slot. frame->source points here. */
	uint32_t inside[DESTINATION_SLOTS];
	struct list mad_clients; /* clients of QP0 and QP1 that registered for requests */
	struct client *raw_owners[RAW_KINDS]; /* owners of its raw queue pairs
						 (daemon/packets/raw_owners.h) */
	uint32_t sm_count; /* subnet managers that hold the port; IsSM is set while there are any */
	struct sysfs_port_shown *sysfs_shown; /* the text of its sysfs files; NULL: not rendered */
};

struct adapter_entry {
	struct node *node;
	struct host *host;
	uint32_t index; /* on its host */
	char name[20];	/* softib0 */
	struct qpn_space qpns;
	struct list xrc_domains;      /* struct xrc_domain, shared between programs */
	struct hash_table xrc_blocks; /* their struct xrc_block, by number */
	struct endpoint *endpoints;   /* [port_number], [0] unused */
};

struct host {
	char name[HOST_NAME_BYTES];
	struct adapter_entry *adapters[ADAPTERS_PER_HOST_MAX];
	uint32_t adapter_count;
	/* The switch or router that this host stands for: it has no adapters and serves management
	 * programs only. NULL: a host. */
	struct adapter_entry *device;
	bool sysfs_is_rendered;		    /* the host's sysfs files exist */
	struct list programs;		    /* clients attached to it */
	struct verb_fault_log *verb_faults; /* NULL: no verb fault was ever injected */
	struct cm_host *cm;		    /* its connection manager; NULL until the first use */
};

struct host_table {
	struct host **hosts; /* in the order of the topology */
	uint32_t host_count;
	struct adapter_entry **adapters;
	uint32_t adapter_count;
	/* Switches and routers that programs were started on so far. */
	struct host **devices;
	uint32_t device_count;
};

MUST_USE int host_table_build(struct host_table *table, const struct fabric *fabric);
void host_table_release(struct host_table *table);

struct host *host_table_find(const struct host_table *table, const char *name);

/* The switch or router of this name as a host without adapters, created at its first use. NULL: no
 * such node, or no memory. */
struct host *host_table_device(struct host_table *table, const struct fabric *fabric,
			       const char *name);

/* The range of ports that receive MADs: port 0 of a switch, ports 1 and up of other nodes. */
static inline unsigned adapter_first_port(const struct adapter_entry *adapter)
{
	return node_is_switch(adapter->node) ? 0 : 1;
}

static inline unsigned adapter_last_port(const struct adapter_entry *adapter)
{
	return node_is_switch(adapter->node) ? 0 : adapter->node->port_count;
}

/* The host's adapters by index, then its switch or router; NULL behind the last. */
static inline struct adapter_entry *host_device(const struct host *host, uint32_t index)
{
	if (index < host->adapter_count)
		return host->adapters[index];
	return index == host->adapter_count ? host->device : NULL;
}

/* The port that a program names as (adapter index << 8 | port number); NULL when its host has no
 * such port. */
struct endpoint *host_endpoint(const struct host *host, unsigned adapter_index,
			       unsigned port_number);

static inline uint32_t *endpoint_inside(struct endpoint *endpoint, uint16_t dlid)
{
	return &endpoint->inside[dlid % DESTINATION_SLOTS];
}

/* An IPv4 or IPv6 address as text, without the prefix length. */
void endpoint_address(const struct ip_network *network, char ret_text[static ADDRESS_TEXT_BYTES]);

#endif
