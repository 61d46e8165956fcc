/* SPDX-License-Identifier: Apache-2.0 */
/* What a request that went past the packets would have weighed on the links, there and back. */
#ifndef SOFTIB_RUNTIME_RMA_RMA_COUNTERS_H
#define SOFTIB_RUNTIME_RMA_RMA_COUNTERS_H

struct flow;
struct qp;
struct bypass;

void rma_count(struct flow *flow, const struct qp *qp, const struct bypass *bypass);

#endif
