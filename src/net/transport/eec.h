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
#ifndef SOFTIB_NET_TRANSPORT_EEC_H
#define SOFTIB_NET_TRANSPORT_EEC_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "net/transport/completion.h"
#include "net/transport/send_queue.h"

struct packet;
struct qp;
struct rd_queue;

enum eec_sending {
	EEC_IDLE,
	EEC_MESSAGE,
	EEC_RESYNC, /* a message was given up: the responder must hear where to go on */
};

struct eec {
	struct qp *channel;
	const void *domain; /* its RD domain: compared, never followed */
	/* The requester: */
	struct list waiting;	 /* struct rd_queue by turn; the first is next */
	struct rd_queue *source; /* whose message is under way; NULL: none */
	uint8_t sending;	 /* enum eec_sending */
	uint32_t source_qpn;	 /* of what is under way or was last, like the next two */
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	/* The responder: */
	struct rd_queue *destination; /* whom the message that comes in is for; NULL: none does */
	struct list inbound_link;     /* in destination->inbound */
	struct rd_queue *overflowed;  /* its CQ did; to Error when the call in progress ends */
	uint32_t peer_qpn;	      /* whom ACKs and NAKs go to */
	uint8_t refusal;	      /* the syndrome that says why, when is_refusing */
	bool is_refusing;	      /* nothing is taken at the expected PSN until a RESYNC */
	struct send_slot resync;      /* last: has no data */
};

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
