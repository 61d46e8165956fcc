/* SPDX-License-Identifier: Apache-2.0 */
/* IP over InfiniBand of one port, as far as address resolution needs it (RFC 4391): membership of
 * the broadcast group of each partition, ARP and neighbour discovery, and a cache of neighbours. */
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

/* Joins broadcast groups, repeats requests, gives up on addresses that do not answer. */
void ipoib_port_run(struct ipoib_port *ip, time_ns now);
time_ns ipoib_port_deadline(const struct ipoib_port *ip);
/* The SA's answer to a join. */
void ipoib_port_joined(struct ipoib_port *ip, const struct sa_client_result *result, time_ns now);
/* ClientReregister: joins all groups again. */
void ipoib_port_restart(struct ipoib_port *ip);
/* The port changed; its partitions may have, too. */
void ipoib_port_changed(struct ipoib_port *ip);

/* Takes a packet for QPN_IPOIB or for a multicast group. */
void ipoib_port_receive(struct ipoib_port *ip, const struct frame *frame, time_ns now);

/* Resolves an address to a GID: calls cm_address_found() or cm_address_not_found(), at once if the
 * address is known. -ENOMEM. */
MUST_USE int ipoib_port_find(struct ipoib_port *ip, const struct cm_address *address,
			     struct cm_id *id, time_ns now);

#endif
