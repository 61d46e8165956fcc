/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs of this process that let their peers act on its memory by themselves. */
#ifndef SOFTIB_RUNTIME_RMA_RMA_TARGET_H
#define SOFTIB_RUNTIME_RMA_RMA_TARGET_H

struct attachment;
struct channel;
struct qp;
struct ring_record;

/* A peer asks for a queue pair of it; it is granted, or not answered. */
void placement_target_asked(struct attachment *attachment, struct channel *channel,
			    const struct ring_record *record);
/* The queue pair's grant ends: what was placed is taken for received. */
void placement_target_end(struct qp *qp);
/* The same for all of this process: a port is not what it was. */
void placement_target_end_all(struct attachment *attachment);
/* The same for all that go by that channel. */
void placement_target_close(struct channel *channel);

#endif
