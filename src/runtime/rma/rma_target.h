/* SPDX-License-Identifier: Apache-2.0 */
/* The target's side of RMA: grants that let peers access this process's memory for a queue pair. */
#ifndef SOFTIB_RUNTIME_RMA_RMA_TARGET_H
#define SOFTIB_RUNTIME_RMA_RMA_TARGET_H

struct process_runtime;
struct channel;
struct qp;
struct ring_record;

/* A peer asks for a grant for one of its queue pairs. The grant appears in shared memory, or there
 * is no answer. */
void rma_target_requested(struct process_runtime *runtime, struct channel *channel,
			  const struct ring_record *record);
/* Ends the queue pair's grant. Requests that the peer has carried out count as received. */
void rma_target_end(struct qp *qp);
/* Ends all grants of this process, because a port has changed. */
void rma_target_end_all(struct process_runtime *runtime);
/* Takes all grants of the channel back, without waiting for accesses under them. The grants still
 * have to end; until then progress that the peer shows late counts. */
void rma_target_revoke(const struct channel *channel);
/* Ends all grants of the channel. */
void rma_target_close(struct channel *channel);

#endif
