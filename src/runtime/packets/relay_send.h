/* SPDX-License-Identifier: Apache-2.0 */
/* The most frequent requests of connections whose packets softibd relays: written straight into the
 * up ring, as short_send.h writes into a peer's ring. */
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

/* Sends queued requests as long as they are plain. The ring has room for packets_max of the largest
 * packets. Returns how many packets it sent. */
unsigned relay_send_queued(struct adapter *adapter, struct qp *qp, const struct qp_route *route,
			   unsigned packets_max, time_ns now);

#endif
