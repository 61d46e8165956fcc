/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An end-to-end context: one end of the connection that the RD queue pairs of two adapters share
 * (vol 1, chapter 9).
 *
 * Its channel is a struct qp of type QP_EEC, which has no queues: PSNs, acknowledgements, retries,
 * duplicates and migration are those of a reliable connection, by the same code. What is added here
 * is whose message travels. One message at a time is under way; the queue pairs that have another
 * wait in line.
 */
#ifndef SOFTIB_NET_TRANSPORT_RD_EE_CONTEXT_H
#define SOFTIB_NET_TRANSPORT_RD_EE_CONTEXT_H

#include "base/attributes.h"
#include "base/time.h"
#include "net/transport/completion.h"
#include "net/transport/rd/rd_state.h"

struct packet;
struct qp;

MUST_USE int eec_init(struct qp *channel);
void eec_release(struct qp *channel);

/* A queue pair has a message for this context; it is next when those before it had their turn. */
void eec_join(struct eec *eec, struct rd_queue *queue);
/* A queue pair has no message any more: if it is under way, it is given up. */
void eec_withdraw(struct eec *eec, struct rd_queue *queue);

/* What the requester's engine tells of the request that it was lent: it has ended, or failed with
 * this status, or its responder had no receive request and asks for a pause. */
void eec_request_done(struct qp *channel, time_ns now);
void eec_request_failed(struct qp *channel, time_ns now, enum completion_status status);
void eec_request_not_ready(struct qp *channel, time_ns now, time_ns pause);

/* DestQP, RDETH and DETH of the request under way. */
void eec_address_request(const struct qp *channel, struct packet *packet);

/* The context stops: whoever used it, or waits for it, hears of it. */
void eec_stop(struct qp *channel, time_ns now);

/* Ends every call on the channel. */
void eec_settle(struct qp *channel, time_ns now);

#endif
