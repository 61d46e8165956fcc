/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-sided requests of this process that it carries out at its peers' memory by itself, with no
 * packet and no work of the peer's (docs/architecture.md, "One-sided requests").
 *
 * Whatever is not as it should be goes by packets: the responder's answer says what is wrong.
 */
#ifndef SOFTIB_RUNTIME_RMA_RMA_H
#define SOFTIB_RUNTIME_RMA_RMA_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/transport/qp.h"

struct adapter;
struct channel;
struct flow;

/* The peer's exposure has come with the ring; its file becomes the channel's. */
void rma_open(struct channel *channel, int rkey_export_file);
/* The channel goes. */
void rma_close(struct channel *channel);

enum rma_outcome {
	RMA_BY_PACKETS, /* what is ready now goes by packets */
	RMA_GOES_ON,	/* it goes past them, the next time; answers do not wait for that */
};

/* Carries out what it can of the requests at the head of the queue, and holds back what will be
 * carried out when those before it have been acknowledged. */
enum rma_outcome rma_run(struct adapter *adapter, struct qp *qp, struct flow *flow, time_ns now);

/* The same at once, for what was just posted to a queue pair that has gone past the packets before,
 * if rma_is_next. Returns whether that was all of it. */
bool rma_send(struct adapter *adapter, struct qp *qp);

/* The same for a WRITE or READ that is not posted yet, if nothing about it is unusual. false:
 * nothing was done. */
MUST_USE bool rma_post(struct adapter *adapter, struct qp *qp, const struct send_request *request);

/* Whether the next request is of a kind that could be carried out. */
static inline bool rma_is_next(const struct qp *qp)
{
	enum {
		KINDS = 1 << SEND_RDMA_WRITE | 1 << SEND_RDMA_READ | 1 << SEND_COMPARE_SWAP |
			1 << SEND_FETCH_ADD
	};
	const struct requester *requester = &qp->requester;

	if (requester->cursor == requester->queue.tail || (qp->type != QP_RC && qp->type != QP_UC))
		return false;
	return KINDS >> send_queue_slot(&requester->queue, requester->cursor)->opcode & 1;
}

/* The queue pair's way is another from now on, or it has none. */
void rma_forget(struct qp *qp);

#endif
