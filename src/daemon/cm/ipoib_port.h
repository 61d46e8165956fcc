/* SPDX-License-Identifier: Apache-2.0 */
/* IP over InfiniBand of one port, as much of it as finds addresses: membership of the broadcast
 * group of each of its partitions, ARP and neighbour discovery, what they found (RFC 4391). */
#ifndef SOFTIB_DAEMON_CM_IPOIB_PORT_H
#define SOFTIB_DAEMON_CM_IPOIB_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/cm/cm_objects.h"

struct frame;

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
