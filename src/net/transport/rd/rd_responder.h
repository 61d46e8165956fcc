/* SPDX-License-Identifier: Apache-2.0 */
/* The responder of an EE context: finds the queue pair that a request is for, and handles faults
 * that end the request but not the context (vol 1, chapter 9; transport 9.3). */
#ifndef SOFTIB_NET_TRANSPORT_RD_RD_RESPONDER_H
#define SOFTIB_NET_TRANSPORT_RD_RD_RESPONDER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"
#include "net/transport/inbound.h"

struct eec;
struct packet;
struct protection_domain;
struct qp;

/* A request packet that has passed admission. */
void rd_responder_receive(struct qp *channel, time_ns now, const struct packet *packet);

/* Whether the queue pair that the request names exists, is of this service and domain, takes
 * requests and has this Q_Key; and whether no earlier request was refused. */
enum verdict rd_check_destination(struct qp *channel, const struct inbound *inbound);
/* For the whole message, the destination's queue, rights and protection domain are used. */
enum verdict rd_choose_destination(struct qp *channel, const struct inbound *inbound);

/* Until a RESYNC comes, every request at the expected PSN gets this response. The requester
 * abandons the message, so no late copy of it may be executed. */
void rd_refuse(struct qp *channel, uint8_t syndrome);
void rd_refuse_again(struct qp *channel);
/* Handles a request that can't be executed. */
void rd_fault(struct qp *channel, time_ns now, const struct inbound *inbound, enum verdict verdict,
	      unsigned nak_code);

/* Drops the incoming message and the receive request that it holds, because its destination stops.
 */
void rd_lose_destination(struct eec *eec, time_ns now);
/* The same, because the sender abandoned the message. */
void rd_abort_inbound(struct eec *eec, time_ns now);

/* The protection domain for the key of an executed READ; NULL: its queue pair is gone. */
const struct protection_domain *rd_saved_domain(const struct qp *channel, uint32_t qpn);

#endif
