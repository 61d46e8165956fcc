/* SPDX-License-Identifier: Apache-2.0 */
/* IP over InfiniBand of one port, as much of it as finds addresses: membership of the broadcast
 * group of each of its partitions, ARP and neighbour discovery, what they found (RFC 4391). */
#ifndef SOFTIB_DAEMON_CM_IPOIB_PORT_H
#define SOFTIB_DAEMON_CM_IPOIB_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/time.h"
#include "host/cm_protocol.h"
#include "mgmt/sa/sa_client.h"

struct cm_id;
struct cm_port;
struct frame;

/* Of the adapter's special numbers, none of which a program has. */
enum { QPN_IPOIB = 2 };

enum ipoib_state { IPOIB_DOWN, IPOIB_JOINING, IPOIB_JOINED };

enum { IPOIB_PARTITIONS_MAX = 16 };

/* The port in one of its partitions: what Linux has an interface for, ib0 or ib0.8001. */
struct ipoib_partition {
	uint16_t pkey; /* as in the port's table */
	enum ipoib_state state;
	time_ns join_at; /* not before */
	time_ns join_pause;
	struct mc_member_record group; /* the broadcast group, once joined */
};

struct ipoib_port {
	struct cm_port *port;
	/* The first is that of cm_port_pkey(). */
	struct ipoib_partition partitions[IPOIB_PARTITIONS_MAX];
	unsigned partition_count;
	bool partitions_are_stale;    /* the port's P_Key table may have changed */
	struct hash_table neighbours; /* by address */
	struct list asking;	      /* neighbours that have not answered */
	uint32_t psn;
};

void ipoib_port_init(struct ipoib_port *ip, struct cm_port *port);
void ipoib_port_release(struct ipoib_port *ip);

/* Joins the broadcast groups when it can, asks again, gives up on those who don't answer. */
void ipoib_port_run(struct ipoib_port *ip, time_ns now);
time_ns ipoib_port_deadline(const struct ipoib_port *ip);
/* The answer to the join. */
void ipoib_port_joined(struct ipoib_port *ip, const struct sa_client_result *result, time_ns now);
/* The manager asks for all memberships again. */
void ipoib_port_restart(struct ipoib_port *ip);
/* Something about the port changed, its partitions perhaps. */
void ipoib_port_changed(struct ipoib_port *ip);

/* A packet for QPN_IPOIB or for a group. */
void ipoib_port_receive(struct ipoib_port *ip, const struct frame *frame, time_ns now);

/* Whose GID an address is: cm_address_found or cm_address_not_found, at once if it is known.
 * -ENOMEM. */
MUST_USE int ipoib_port_find(struct ipoib_port *ip, const struct cm_address *address,
			     struct cm_id *id, time_ns now);

#endif
