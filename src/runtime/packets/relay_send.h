/* SPDX-License-Identifier: Apache-2.0 */
/* The commonest requests of connections whose packets go through softibd: written straight into its
 * ring, as the express lane writes into a peer's. */
#ifndef SOFTIB_RUNTIME_PACKETS_RELAY_SEND_H
#define SOFTIB_RUNTIME_PACKETS_RELAY_SEND_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"

struct adapter;
struct fast_packet;
struct qp;
struct qp_route;
struct send_request;

/* Posts and sends one request that fast_may_post() found plain. now: for completions only, and
 * as old as the last round. false: nothing was done. */
MUST_USE bool relay_send_post(struct adapter *adapter, struct qp *qp,
			      const struct send_request *request, const struct fast_packet *found,
			      time_ns now);

/* Sends what was posted, as far as it is plain; there is room for packets_max of the largest.
 * Returns how many went. */
unsigned relay_send_queued(struct adapter *adapter, struct qp *qp, const struct qp_route *route,
			   unsigned packets_max, time_ns now);

#endif
