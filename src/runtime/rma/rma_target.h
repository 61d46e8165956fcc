/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs of this process that let their peers act on its memory by themselves. */
#ifndef SOFTIB_RUNTIME_RMA_RMA_TARGET_H
#define SOFTIB_RUNTIME_RMA_RMA_TARGET_H

struct process_runtime;
struct channel;
struct qp;
struct ring_record;

/* A peer asks for a queue pair of it; it is granted, or not answered. */
void rma_target_requested(struct process_runtime *runtime, struct channel *channel,
			  const struct ring_record *record);
/* The queue pair's grant ends: what was placed is taken for received. */
void rma_target_end(struct qp *qp);
/* The same for all of this process: a port is not what it was. */
void rma_target_end_all(struct process_runtime *runtime);
/* The same for all that go by that channel. */
void rma_target_close(struct channel *channel);

#endif
