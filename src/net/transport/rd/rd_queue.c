/* SPDX-License-Identifier: Apache-2.0 */
/* An RD queue pair's requests on their way to EE contexts (vol 1, chapter 9). */
#include "net/transport/rd/rd_queue.h"

#include <errno.h>
#include <stdlib.h>
#include "net/transport/rd/ee_context.h"
#include "net/transport/local_operation.h"
#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"
#include "net/transport/rd/rd_responder.h"
#include "net/transport/report.h"

int rd_queue_init(struct qp *qp)
{
	struct rd_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	queue->qp = qp;
	list_init(&queue->turn);
	list_init(&queue->inbound);
	qp->rd_queue = queue;
	return 0;
}

void rd_queue_release(struct qp *qp)
{
	free(qp->rd_queue);
	qp->rd_queue = NULL;
}

/* While draining, only requests that have started are finished. */
static bool may_take_up(const struct qp *qp)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *sends = &requester->queue;

	if (qp->rd_queue->eec || sends->done == sends->tail ||
	    requester->rnr_deadline != TIME_NEVER)
		return false;
	return qp->state == QP_RTS || (qp->state == QP_SQD && sends->started != sends->done);
}

/* Checks the EE context that a request names, in the specified order (transport 9.3). */
static enum completion_status find_context(const struct qp *qp, const struct send_slot *slot,
					   struct eec **ret_eec)
{
	const struct qp *channel = qp->environment->find_qp(qp, slot->eecn);

	if (slot->fault)
		return slot->fault;
	if (!channel || channel->type != QP_EEC)
		return COMPLETION_INVALID_EECN;
	if (channel->eec->domain != qp->rd_queue->domain)
		return COMPLETION_LOCAL_RDD_VIOLATION;
	if (channel->state != QP_RTS && channel->state != QP_SQD)
		return COMPLETION_INVALID_EEC_STATE;
	*ret_eec = channel->eec;
	return COMPLETION_SUCCESS;
}

/* false: no request can be taken up now. */
static bool take_up(struct qp *qp, time_ns now)
{
	struct send_slot *slot = send_queue_slot(&qp->requester.queue, qp->requester.queue.done);
	struct eec *eec;

	if (send_slot_is_local(slot))
		return local_operation_execute(qp, now, slot);

	enum completion_status fault = find_context(qp, slot, &eec);

	if (fault == COMPLETION_SUCCESS)
		eec_join(eec, qp->rd_queue);
	else
		qp_fail_send(qp, now, fault);
	return false;
}

void rd_queue_advance(struct qp *qp, time_ns now)
{
	while (may_take_up(qp))
		if (!take_up(qp, now))
			break;
}

void rd_queue_leave(struct qp *qp, time_ns now)
{
	struct rd_queue *queue = qp->rd_queue;

	if (queue->eec)
		eec_withdraw(queue->eec, queue);
	list_for_each_safe (link, &queue->inbound)
		rd_lose_destination(container_of(link, struct eec, inbound_link), now);
}
