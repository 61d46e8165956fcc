/* SPDX-License-Identifier: Apache-2.0 */
/* Shared receive queues (vol 1, chapter 10; transport 5.7). */
#include "net/hca/hca.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "net/hca/qpn_blocks.h"

int srq_create(struct hca *hca, struct protection_domain *pd, uint32_t requests_max,
	       uint32_t sges_max, uint32_t limit, void *context, struct srq **ret_srq)
{
	if (requests_max == 0 || requests_max > hca->limits.srq_requests_max ||
	    sges_max > hca->limits.srq_sges_max)
		return -EINVAL;
	if (hca->srq_count == hca->limits.srq_count_max)
		return -ENOMEM;

	struct srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return -ENOMEM;

	int error = receive_queue_init(&srq->queue, pd, requests_max, sges_max);

	if (error) {
		free(srq);
		return error;
	}
	srq->hca = hca;
	srq->context = context;
	srq->handle = hca->next_handle++;
	srq->limit = limit;
	pd->users++;
	hca->srq_count++;
	*ret_srq = srq;
	return 0;
}

int srq_join(struct srq *srq, struct xrcd *xrcd, struct cq *cq)
{
	uint32_t srqn;
	int error = qpn_blocks_take(&srq->hca->qpn_blocks, &srqn);

	if (error)
		return error;
	error = index_table_put(&srq->hca->xrc_srqs, srqn, srq);
	if (error) {
		qpn_blocks_give_back(&srq->hca->qpn_blocks, srqn);
		return error;
	}
	srq->srqn = srqn;
	srq->xrcd = xrcd;
	srq->cq = cq;
	xrcd->users++;
	cq->users++;
	return 0;
}

static void leave(struct srq *srq)
{
	struct list *targets = &srq->xrcd->targets;

	for (struct list *link = targets->next; link != targets; link = link->next)
		qp_forget_receive_queue(&container_of(link, struct qp_object, xrcd_link)->qp,
					&srq->queue);
	index_table_remove(&srq->hca->xrc_srqs, srq->srqn);
	qpn_blocks_give_back(&srq->hca->qpn_blocks, srq->srqn);
	srq->xrcd->users--;
	srq->cq->users--;
}

int srq_set_limit(struct srq *srq, uint32_t limit)
{
	if (limit > srq->queue.requests_max)
		return -EINVAL;
	/* The queue is already below the limit and can't fall below it later, so the event is
	 * raised now (transport 5.7). */
	if (limit > receive_queue_count(&srq->queue)) {
		srq->limit = 0;
		srq->hca->owner.event(srq->hca->owner.context,
				      &(struct hca_event){.type = HCA_EVENT_SRQ_LIMIT, .srq = srq});
		return 0;
	}
	srq->limit = limit;
	return 0;
}

int srq_resize(struct srq *srq, uint32_t requests_max)
{
	struct receive_queue *old = &srq->queue;
	uint32_t count = receive_queue_count(old);
	struct receive_queue larger;

	if (requests_max == 0 || requests_max > srq->hca->limits.srq_requests_max ||
	    requests_max < count || requests_max < srq->limit)
		return -EINVAL;

	int error = receive_queue_init(&larger, old->pd, requests_max, old->sges_max);

	if (error)
		return error;
	for (uint32_t i = 0; i < count; i++)
		memcpy(receive_queue_slot(&larger, i), receive_queue_slot(old, old->head + i),
		       old->slot_bytes);
	larger.tail = larger.head + count;
	larger.matches_tags = old->matches_tags;
	receive_queue_release(old);
	*old = larger;
	return 0;
}

int srq_destroy(struct srq *srq)
{
	if (srq->users)
		return -EBUSY;
	if (srq->xrcd)
		leave(srq);
	if (srq->tags)
		srq_stop_matching(srq);
	srq->queue.pd->users--;
	srq->hca->srq_count--;
	receive_queue_release(&srq->queue);
	free(srq);
	return 0;
}

int srq_post(struct srq *srq, const struct receive_request *request)
{
	return receive_queue_post(&srq->queue, request);
}
