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
struct flow;
struct qp;
struct send_request;

/* Posts and sends one request of one packet, if softibd relays its flow. now: for completions only,
 * and as old as the last round. false: nothing was done. */
MUST_USE bool relay_send_post(struct adapter *adapter, struct qp *qp, const struct flow *flow,
			      const struct send_request *request, struct fast_packet *packet,
			      time_ns now);

#endif
