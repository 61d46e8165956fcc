/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RDMA WRITE, READ and atomics that this process carries out directly in its peers' memory, without
 * packets and without work at the peer (docs/architecture.md, "One-sided requests").
 *
 * A request that fails any check goes by packets, and the responder's answer reports the error.
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

/* The peer's rkey export file came with the direct ring. Takes ownership of the file. */
void rma_open(struct channel *channel, int rkey_export_file);
/* The channel closes. */
void rma_close(struct channel *channel);

enum rma_outcome {
	RMA_BY_PACKETS, /* requests that are ready now go by packets */
	RMA_GOES_ON,	/* RMA continues at the next call; responses need not wait for that */
};

/* Carries out the requests at the head of the send queue that RMA allows. Holds back requests that
 * RMA can carry out once the requests before them are acknowledged. */
enum rma_outcome rma_run(struct adapter *adapter, struct qp *qp, struct flow *flow, time_ns now);

/* Like rma_run, right after posting to a queue pair that has used RMA before, if rma_is_next.
 * Returns whether all posted requests were carried out. */
bool rma_send(struct adapter *adapter, struct qp *qp);

/* Carries out a WRITE or READ that is not posted yet. false: nothing was done. */
MUST_USE bool rma_post(struct adapter *adapter, struct qp *qp, const struct rma_request *request,
		       const struct sge *sge);

/* Whether the next request has an opcode that RMA can carry out. */
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

/* The queue pair's route changes, or it has none any more. */
void rma_forget(struct qp *qp);

#endif
