/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An end-to-end context: one end of the connection that the RD queue pairs of two adapters share
 * (vol 1, chapter 9; transport 9).
 *
 * Its channel is a struct qp of type QP_EEC, which has no queues: PSNs, acknowledgements, retries,
 * duplicates and migration are those of a reliable connection, by the same code. This file adds the
 * choice of the message that the channel carries. One message is in progress at a time; queue pairs
 * with another message wait in a list.
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

/* A queue pair has a message for this context, which starts after those already waiting. */
void eec_join(struct eec *eec, struct rd_queue *queue);
/* A queue pair withdraws its message: if the message is in progress, it is abandoned. */
void eec_withdraw(struct eec *eec, struct rd_queue *queue);

/* The requester's engine reports the end of the request that the channel carries: it is done, or
 * failed with this status, or its responder sent an RNR NAK with this time. */
void eec_request_done(struct qp *channel, time_ns now);
void eec_request_failed(struct qp *channel, time_ns now, enum completion_status status);
void eec_request_not_ready(struct qp *channel, time_ns now, time_ns pause);

/* Fills in DestQP, RDETH and DETH of the request in progress. */
void eec_address_request(const struct qp *channel, struct packet *packet);

/* The context stops: every queue pair that uses it or waits for it is told. */
void eec_stop(struct qp *channel, time_ns now);

/* Must end every call on the channel. */
void eec_settle(struct qp *channel, time_ns now);

#endif
