/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an RD queue pair has besides its queues: the place of its next message in the line of an EE
 * context (vol 1, chapter 9).
 *
 * Its messages travel one after the other, each by the context that its request names.
 */
#ifndef SOFTIB_NET_TRANSPORT_RD_QUEUE_H
#define SOFTIB_NET_TRANSPORT_RD_QUEUE_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"

struct eec;
struct qp;

struct rd_queue {
	struct qp *qp;
	const void *domain;  /* its RD domain: compared, never followed */
	struct eec *eec;     /* where its message waits or is under way; NULL: nowhere */
	struct list turn;    /* in eec->waiting */
	struct list inbound; /* struct eec by inbound_link: messages that come in for it */
};

MUST_USE int rd_queue_init(struct qp *qp);
void rd_queue_release(struct qp *qp);

/* Takes up the next request, if it may: after posting, after a pause, after the one before it. */
void rd_queue_advance(struct qp *qp, time_ns now);

/* The queue pair stops: contexts give up what they carry from it and for it. */
void rd_queue_leave(struct qp *qp, time_ns now);

#endif
