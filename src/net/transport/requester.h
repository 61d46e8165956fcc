/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's sending side: posted requests become request packets (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_REQUESTER_H
#define SOFTIB_NET_TRANSPORT_REQUESTER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/transport/completion.h"
#include "wire/packet.h"

/* A receiver tells new packets from old ones by the half of the PSNs that they are in. */
enum { PSNS_OUTSTANDING_MAX = (1 << 23) - 1 };

struct qp;
struct qp_route;
struct send_slot;

/* Whether the last packet of a SEND or WRITE asks for an ACK (AckReq), of the request that is
 * transmitted next or is only now posted: flags are the request's, end is the PSN behind the
 * packet.
 *
 * A request that reports its completion asks, and its ACK acknowledges all before it. One that does
 * not asks only if the send queue might fill up with requests of which nobody knows whether they
 * arrived, if a request waits behind it until it is acknowledged, or if no timer would ask later
 * (retry_ask). */
MUST_USE bool requester_asks(const struct qp *qp, uint32_t flags, struct psn end);

/* A request was posted to the send queue. */
void requester_posted(struct qp *qp);

/* Whether requester_transmit would do something now. */
bool requester_is_ready(const struct qp *qp);

/* Where the request at the cursor goes. */
void requester_route(const struct qp *qp, struct qp_route *ret_route);

/* May return fewer packets than it could, even none: when a request fails, or the next goes
 * elsewhere. */
unsigned requester_transmit(struct qp *qp, time_ns now, unsigned packets_max,
			    uint32_t train_bytes_max, struct packet ret_packets[]);

/* Of a request, for those that do not become packets (net/transport/rma/rma_bypass.h) as well. */

/* Why it can't be sent; leaves in the slot's spans where its bytes are. */
enum completion_status requester_slot_fault(const struct qp *qp, struct send_slot *slot);
/* Gives it its PSNs. */
void requester_start(struct qp *qp, struct send_slot *slot);

#endif
