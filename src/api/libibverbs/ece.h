/* SPDX-License-Identifier: Apache-2.0 */
/* Enhanced connection establishment: what a queue pair does before two adapters agree on options. */
#ifndef SOFTIB_API_LIBIBVERBS_ECE_H
#define SOFTIB_API_LIBIBVERBS_ECE_H

struct qp;

/* Of a new queue pair. */
void ece_set_default(struct qp *qp);

#endif
