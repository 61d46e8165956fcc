/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for the grant (ipc/rma_area.h) after which a queue pair's one-sided requests use RMA.
 *
 * A program with many connections uses them for the first time one after the other, and each send
 * queue would fill up until its own grant has come. So when the second of two queue pairs with
 * consecutive QPNs asks, grants for some of the following QPNs are requested too.
 */
#ifndef SOFTIB_RUNTIME_RMA_RMA_GRANT_REQUESTS_H
#define SOFTIB_RUNTIME_RMA_RMA_GRANT_REQUESTS_H

#include "base/attributes.h"
#include "base/time.h"

struct adapter;
struct channel;
struct flow;
struct rma;
struct qp;

/* The queue pair's RMA state, created if there is none for this channel. NULL: no memory, or no
 * free index. */
MUST_USE struct rma *rma_make(struct qp *qp, struct channel *channel);

/* Called before the packets of a request that could not use RMA. */
void rma_grant_request(struct adapter *adapter, struct qp *qp, struct flow *flow, struct rma *rma,
		       time_ns now);

/* The first request of a queue pair found the grant that was requested ahead, so requesting ahead
 * is worth continuing. */
void rma_granted_in_time(struct adapter *adapter, const struct qp *qp, struct flow *flow);

#endif
