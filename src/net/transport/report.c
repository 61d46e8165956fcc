/* SPDX-License-Identifier: Apache-2.0 */
/* How requests end (vol 1, chapter 10; transport 4.6; transport 5.6). */
#include "net/transport/report.h"

#include <string.h>
#include "net/transport/completion_ring.h"
#include "net/transport/qp_state.h"
#include "net/transport/rd/inbound_qp.h"
#include "net/transport/rd/rd_hooks.h"

static const uint8_t completed_opcodes[] = {
	[SEND_RDMA_WRITE] = COMPLETED_WRITE,
	[SEND_RDMA_WRITE_IMMEDIATE] = COMPLETED_WRITE,
	[SEND_SEND] = COMPLETED_SEND,
	[SEND_SEND_IMMEDIATE] = COMPLETED_SEND,
	[SEND_RDMA_READ] = COMPLETED_READ,
	[SEND_COMPARE_SWAP] = COMPLETED_COMPARE_SWAP,
	[SEND_FETCH_ADD] = COMPLETED_FETCH_ADD,
	[SEND_LOCAL_INVALIDATE] = COMPLETED_LOCAL_INVALIDATE,
	[SEND_BIND_WINDOW] = COMPLETED_BIND,
	[SEND_SEND_INVALIDATE] = COMPLETED_SEND,
	[SEND_FLUSH] = COMPLETED_FLUSH,
	[SEND_ATOMIC_WRITE] = COMPLETED_ATOMIC_WRITE,
};

static void deliver(struct qp *qp, enum queue_side side, const struct completion *completion)
{
	if (likely(qp->environment->complete(qp, side, completion)))
		return;
	if (qp->type == QP_EEC)
		qp->eec->overflowed = qp->eec->destination;
	else
		qp->has_failed_to_report = true;
}

/* Completes the request that was done last, and returns its slot and all earlier ones to the
 * consumer. Builds the completion in the ring itself: a copy right after the stores would wait
 * until they have left the store buffer. */
static inline void complete_send(struct qp *qp, time_ns now, uint64_t wr_id,
				 enum completion_status status, enum send_opcode opcode,
				 uint32_t byte_count)
{
	struct send_queue *queue = &qp->requester.queue;
	struct completion_ring *ring = qp->completions[SIDE_SEND];
	struct completion *place = completion_ring_next(ring), here;
	struct completion *completion = likely(place) ? place : &here;

	const struct completion value = {
		.wr_id = wr_id,
		.status = status,
		.opcode = completed_opcodes[opcode],
		.byte_count = byte_count,
		.qpn = qp->qpn,
		.timestamp_ns = now,
	};

	completion_write(completion, value);
	queue->head = queue->done;
	if (likely(place))
		completion_ring_add(ring);
	else
		deliver(qp, SIDE_SEND, completion);
}

void report_send(struct qp *qp, time_ns now, enum completion_status status)
{
	struct send_queue *queue = &qp->requester.queue;
	const struct send_slot *slot = send_queue_slot(queue, queue->done++);

	if (unlikely(qp->type == QP_EEC)) {
		qp->environment->rd->request_done(qp, now);
		return;
	}
	if (unlikely(slot->flags & SEND_BY_ADAPTER)) {
		queue->head = queue->done;
		if (!qp->environment->own_send_done(qp, now, slot->wr_id, status))
			qp->has_failed_to_report = true;
		return;
	}
	/* Errors are always reported; a success only when asked for. */
	if (status == COMPLETION_SUCCESS && report_is_silent(qp, slot))
		return;

	complete_send(qp, now, slot->wr_id, status, (enum send_opcode)slot->opcode,
		      send_slot_is_atomic(slot) ? 8 : slot->byte_count);
}

void report_unqueued_send(struct qp *qp, time_ns now, enum send_opcode opcode, uint32_t flags,
			  uint64_t wr_id, uint32_t byte_count)
{
	qp->requester.queue.done++;
	if (qp->signal_all || flags & SEND_SIGNALED)
		complete_send(qp, now, wr_id, COMPLETION_SUCCESS, opcode, byte_count);
}

struct receive_slot *report_receive_slot(const struct qp *qp)
{
	if ((qp->responder.has_receive || qp->responder.has_choice) && qp_is_shared(qp))
		return qp->responder.taken;
	return receive_queue_first(qp->receive_queue);
}

void report_receive_take(struct qp *qp)
{
	struct receive_queue *queue = qp->receive_queue;

	qp->responder.has_receive = true;
	if (!qp_is_shared(qp))
		return;
	/* Other queue pairs take from a shared queue and the consumer posts to it, so its slot may
	 * be overwritten before this message ends. */
	if (likely(!qp->responder.has_choice)) {
		const struct receive_slot *slot = receive_queue_slot(queue, queue->head);

		memcpy(qp->responder.taken, slot, receive_slot_bytes(slot->sge_count));
		queue->head++;
	}
	qp->responder.has_choice = false;
	qp->environment->shared_receive_taken(qp);
}

void report_receive(struct qp *qp, time_ns now, struct completion *completion)
{
	if (!qp->responder.has_receive)
		report_receive_take(qp);
	completion->wr_id = report_receive_slot(qp)->wr_id;
	completion->qpn = qp_inbound_qpn(qp);
	completion->timestamp_ns = now;
	qp->responder.has_receive = false;
	if (!qp_is_shared(qp))
		qp->receive_queue->head++;
	deliver(qp, SIDE_RECEIVE, completion);
}

void report_receive_error(struct qp *qp, time_ns now, enum completion_status status)
{
	struct completion completion = {
		.status = (uint8_t)status,
		.opcode = COMPLETED_RECEIVE,
	};

	report_receive(qp, now, &completion);
}

void report_zcopy(struct qp *qp, time_ns now)
{
	const struct send_queue *queue = &qp->requester.queue;

	/* The difference can be negative: a request that failed is done without having been
	 * started. */
	while (qp->type == QP_UD && (int32_t)(queue->started - queue->done) > 0)
		report_send(qp, now, COMPLETION_SUCCESS);
}

void report_revoke_zcopy(struct qp *qp)
{
	if (likely(!qp->requester.has_zcopy))
		return;
	qp->requester.has_zcopy = false;
	qp->environment->take_back(qp);
}

void report_flush_sends(struct qp *qp, time_ns now)
{
	struct requester *requester = &qp->requester;
	struct send_queue *queue = &requester->queue;

	report_revoke_zcopy(qp);
	report_zcopy(qp, now);
	while (queue->done != queue->tail)
		report_send(qp, now, COMPLETION_FLUSHED);
	queue->started = queue->tail;
	requester->cursor = queue->tail;
	requester->cursor_packet = 0;
	requester->reads_outstanding = 0;
	requester->is_awaiting = false;
	requester->oldest_psn = requester->next_psn;
	requester->retry_deadline = TIME_NEVER;
	requester->rnr_deadline = TIME_NEVER;
	requester->pacing_deadline = TIME_NEVER;
}

void report_flush_receives(struct qp *qp, time_ns now)
{
	if (qp->responder.has_receive)
		report_receive_error(qp, now, COMPLETION_FLUSHED);
	if (qp_is_shared(qp))
		return;
	while (receive_queue_count(qp->receive_queue))
		report_receive_error(qp, now, COMPLETION_FLUSHED);
}

void report_drain(struct qp *qp)
{
	const struct send_queue *queue = &qp->requester.queue;

	if (qp->state != QP_SQD || !qp->attributes.is_draining || queue->done != queue->started)
		return;
	qp->attributes.is_draining = false;
	if (qp->attributes.drained_notify)
		qp->environment->event(qp, QP_EVENT_DRAINED);
}
