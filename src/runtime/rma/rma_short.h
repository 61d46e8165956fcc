/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path of RMA: WRITEs and READs of one contiguous range of local bytes, up to a limit.
 *
 * This file has no rules of its own. A request that fails one of the quick checks is left unchanged
 * to runtime/rma/rma.c. SOFTIB_FAST=0 turns this path off too.
 */
#ifndef SOFTIB_RUNTIME_RMA_RMA_SHORT_H
#define SOFTIB_RUNTIME_RMA_RMA_SHORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "runtime/rma/rma_state.h"

struct flow;
struct qp;
struct rma_request;

/* Returns the number of bytes of the requests that it carried out; 0: none. Reporting their
 * completions may have put the queue pair into Error and ended its RMA. */
uint32_t rma_short_run(struct rma *rma, struct qp *qp, struct flow *flow, time_ns now);

/* Carries out a WRITE or READ of one SGE instead of posting it. The send queues of many queue pairs
 * are larger than the processor's caches, and a request that never waits needs no slot. false:
 * nothing was done. */
MUST_USE bool rma_short_post(struct rma *rma, struct qp *qp, const struct rma_request *request,
			     const struct sge *sge, time_ns now);

#endif
