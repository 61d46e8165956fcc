/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual hosts of a fabric: which adapters each has, under which names and addresses programs
 * know them. */
#ifndef SOFTIB_DAEMON_CORE_HOST_TABLE_H
#define SOFTIB_DAEMON_CORE_HOST_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
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

/* What softibd keeps for a port of an adapter or router; port->endpoint points here. */
struct endpoint {
	struct port *port;
	struct adapter_entry *adapter; /* NULL: of a router or switch, which only has MADs */
	/* By which management programs know it: the adapter; NULL: a router's, not used by any. */
	struct adapter_entry *device;
	uint32_t ordinal;	/* of all adapter ports of the fabric, from 1: makes the address */
	struct ip_network ipv4; /* given in the topology, or by the ordinal */
	struct ip_network ipv6;
	struct list changed_link; /* ports whose programs have not been told yet */
	struct list blocked_link; /* ports with a packet that found no room */
	/* Packets of programs that are in the fabric, by destination; a LID shares its slot with
	 * others. frame->source points here. */
	uint32_t inside[DESTINATION_SLOTS];
	struct list mad_clients;	      /* of QP0 and QP1, those that take requests */
	struct client *raw_owners[RAW_KINDS]; /* who has its raw queue pairs:
						 daemon/packets/raw_owners.h */
	uint32_t sm_count; /* subnet managers that hold the port: IsSM is theirs */
	struct sysfs_port_shown *sysfs_shown; /* the text of its sysfs files; NULL: not rendered */
};

struct adapter_entry {
	struct node *node;
	struct host *host;
	uint32_t index; /* on its host */
	char name[20];	/* softib0 */
	struct qpn_space qpns;
	struct list xrc_domains;    /* that programs share */
	struct endpoint *endpoints; /* [port_number], [0] unused */
};

struct host {
	char name[HOST_NAME_BYTES];
	struct adapter_entry *adapters[ADAPTERS_PER_HOST_MAX];
	uint32_t adapter_count;
	/* A switch or router, which has no adapters: for management programs only. */
	struct adapter_entry *device;
	bool sysfs_is_rendered;		    /* its files have been rendered */
	struct list programs;		    /* clients attached to it */
	struct verb_fault_log *verb_faults; /* NULL: there never were any */
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

/* The switch or router of this name as a host without adapters, made at its first use. NULL: no
 * such node, or no memory. */
struct host *host_table_device(struct host_table *table, const struct fabric *fabric,
			       const char *name);

/* The ports of it that have MADs: port 0 of a switch, all others of other nodes. */
static inline unsigned adapter_first_port(const struct adapter_entry *adapter)
{
	return node_is_switch(adapter->node) ? 0 : 1;
}

static inline unsigned adapter_last_port(const struct adapter_entry *adapter)
{
	return node_is_switch(adapter->node) ? 0 : adapter->node->port_count;
}

/* Adapters, and then the switch or router; NULL: no more. */
static inline struct adapter_entry *host_device(const struct host *host, uint32_t index)
{
	if (index < host->adapter_count)
		return host->adapters[index];
	return index == host->adapter_count ? host->device : NULL;
}

/* The port that a program names as (adapter index << 8 | port number); NULL when its host has none
 * such. */
struct endpoint *host_endpoint(const struct host *host, unsigned adapter_index,
			       unsigned port_number);

static inline uint32_t *endpoint_inside(struct endpoint *endpoint, uint16_t dlid)
{
	return &endpoint->inside[dlid % DESTINATION_SLOTS];
}

/* Its IPv4 or IPv6 address as text, without the prefix. */
void endpoint_address(const struct ip_network *network, char ret_text[static ADDRESS_TEXT_BYTES]);

#endif
