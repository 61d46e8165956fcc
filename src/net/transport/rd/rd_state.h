/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of Reliable Datagram: EE contexts and what an RD queue pair has besides its queues (vol
 * 1, chapter 9). ee_context.c and rd_queue.c own it; the engine reads whose message travels.
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
	struct eec *eec;     /* where its message waits or is under way; NULL: nowhere */
	struct list turn;    /* in eec->waiting */
	struct list inbound; /* struct eec by inbound_link: messages that come in for it */
};

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

#endif
