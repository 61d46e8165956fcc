/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's sending side: posted requests become request packets (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_REQUESTER_H
#define SOFTIB_NET_TRANSPORT_REQUESTER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/transport/completion.h"
#include "net/transport/credits.h"
#include "net/transport/qp_state.h"
#include "wire/packet.h"

/* A receiver tells new packets from duplicates by the half of the PSN space that they are in
 * (transport 4.1). */
enum { PSNS_OUTSTANDING_MAX = (1 << 23) - 1 };

/* Whether the last packet of a SEND or WRITE asks for an ACK (AckReq), for the request that is
 * transmitted next or is being posted. flags are the request's; end is the PSN behind the packet
 * (transport 4.2).
 *
 * A request that reports its completion asks, and its ACK acknowledges all requests before it. An
 * unsignaled request asks only if the send queue might fill up with unacknowledged requests, if the
 * request behind it waits for the ACK, or if no timer would ask later (retry_ask). */
MUST_USE bool requester_asks(const struct qp *qp, uint32_t flags, struct psn end);

/* A request was posted to the send queue. */
void requester_posted(struct qp *qp);

/* Whether requester_transmit would do something now. */
bool requester_is_ready(const struct qp *qp);

/* The route of the request at the cursor. */
void requester_route(const struct qp *qp, struct qp_route *ret_route);

/* May return fewer packets than possible, even none: when a request fails, or the next one has
 * another route. */
unsigned requester_transmit(struct qp *qp, time_ns now, unsigned packets_max,
			    uint32_t train_bytes_max, struct packet ret_packets[]);

/* A request leaves whole: as one record, or by RMA. It takes the next PSNs (transport 4.1) and the
 * next SSN (transport 3.5). */
static inline void requester_issue(struct requester *requester, uint32_t packet_count,
				   bool takes_receive)
{
	requester->queue.started++;
	requester->cursor++;
	credits_use(requester, takes_receive);
	requester->next_psn = psn_add(requester->next_psn, packet_count);
}

/* Also for requests that do not become packets (net/transport/rma/rma_bypass.h): */

/* Why the request can't be sent; leaves the addresses of its bytes in the slot's spans. */
enum completion_status requester_slot_fault(const struct qp *qp, struct send_slot *slot);
/* Assigns the request's PSNs (transport 4.1). */
void requester_start(struct qp *qp, struct send_slot *slot);

#endif
