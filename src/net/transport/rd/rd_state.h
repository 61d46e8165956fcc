/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of Reliable Datagram: EE contexts and what an RD queue pair has besides its queues (vol
 * 1, chapter 9; transport 9.1). ee_context.c and rd_queue.c own it; the engine reads which message
 * the channel carries.
 */
#ifndef SOFTIB_NET_TRANSPORT_RD_RD_STATE_H
#define SOFTIB_NET_TRANSPORT_RD_RD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "net/transport/send_queue.h"

struct eec;
struct qp;

struct rd_queue {
	struct qp *qp;
	const void *domain;  /* its RD domain: compared, never followed */
	struct eec *eec;     /* where its message waits or is in progress; NULL: nowhere */
	struct list turn;    /* in eec->waiting */
	struct list inbound; /* struct eec by inbound_link: messages that come in for it */
};

enum eec_sending {
	EEC_IDLE,
	EEC_MESSAGE,
	EEC_RESYNC, /* a message was abandoned: the responder must learn the next PSN */
};

struct eec {
	struct qp *channel;
	const void *domain; /* its RD domain: compared, never followed */
	/* The requester: */
	struct list waiting;	 /* struct rd_queue by turn; the first is next */
	struct rd_queue *source; /* whose message is in progress; NULL: none */
	uint8_t sending;	 /* enum eec_sending */
	uint32_t source_qpn;	 /* of the message in progress or the last one, like the next two */
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	/* The responder: */
	struct rd_queue *destination; /* whom the incoming message is for; NULL: there is none */
	struct list inbound_link;     /* in destination->inbound */
	struct rd_queue *overflowed;  /* its CQ overflowed; to Error when the call ends */
	uint32_t peer_qpn;	      /* the destination of ACKs and NAKs */
	uint8_t refusal;	      /* the syndrome of the refusal, when is_refusing */
	bool is_refusing;	      /* nothing is accepted at the expected PSN until a RESYNC */
	struct send_slot resync;      /* last: has no data */
};

#endif
