/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the packets and bytes that an RMA request would have put on the links, in both directions.
 */
#ifndef SOFTIB_RUNTIME_RMA_RMA_COUNTERS_H
#define SOFTIB_RUNTIME_RMA_RMA_COUNTERS_H

struct flow;
struct qp;
struct bypass;

void rma_count(struct flow *flow, const struct qp *qp, const struct bypass *bypass);

#endif
