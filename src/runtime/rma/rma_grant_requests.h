/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions that a queue pair's peer answers with a grant (ipc/rma_area.h), after which
 * its one-sided requests go past the packets.
 *
 * A program with many connections uses them for the first time one after the other, and each of
 * them would fill its send queue until its own answer has come. So who asks for the second in a
 * row, by number, asks for some of those behind it as well.
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

/* The queue pair's, made if there is none for this channel; NULL: no memory, or too many. */
MUST_USE struct rma *rma_make(struct qp *qp, struct channel *channel);

/* Before the packets of the request that could not go past them. */
void rma_grant_request(struct adapter *adapter, struct qp *qp, struct flow *flow, struct rma *rma,
		       time_ns now);

/* The queue pair was asked for ahead, and its first request found the answer: it is worth going on.
 */
void rma_granted_in_time(struct adapter *adapter, const struct qp *qp, struct flow *flow);

#endif
