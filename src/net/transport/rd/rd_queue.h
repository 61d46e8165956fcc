/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an RD queue pair has besides its queues: the place of its next message in the list of an EE
 * context (vol 1, chapter 9; transport 9.1).
 *
 * Its messages are sent one after the other, each by the EE context that its request names.
 */
#ifndef SOFTIB_NET_TRANSPORT_RD_RD_QUEUE_H
#define SOFTIB_NET_TRANSPORT_RD_RD_QUEUE_H

#include "base/attributes.h"
#include "base/time.h"
#include "net/transport/rd/rd_state.h"

struct qp;

MUST_USE int rd_queue_init(struct qp *qp);
void rd_queue_release(struct qp *qp);

/* Takes up the next request, if possible: after posting, after an RNR wait, after the request
 * before it. */
void rd_queue_advance(struct qp *qp, time_ns now);

/* The queue pair stops: EE contexts abandon the messages from it and for it. */
void rd_queue_leave(struct qp *qp, time_ns now);

#endif
