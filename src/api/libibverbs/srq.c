/* SPDX-License-Identifier: Apache-2.0 */
/* Shared receive queues (vol 1, chapter 11). */
#include "api/libibverbs/objects.h"

#include <stdlib.h>
#include "api/libibverbs/events.h"
#include "api/libibverbs/operations.h"

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct context_object *context = context_of(pd->context);
	struct verbs_srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return verbs_null(-ENOMEM);
	srq->adapter = context->adapter;
	srq->srq.context = pd->context;
	srq->srq.srq_context = attr->srq_context;
	srq->srq.pd = pd;
	pthread_mutex_init(&srq->srq.mutex, NULL);
	pthread_cond_init(&srq->srq.cond, NULL);
	adapter_lock(context->adapter);

	int error = srq_create(adapter_hca(context->adapter), pd_of(pd)->domain, attr->attr.max_wr,
			       attr->attr.max_sge, attr->attr.srq_limit, srq, &srq->object);

	if (!error)
		context->object_count++;
	adapter_unlock(context->adapter);
	if (error) {
		free(srq);
		return verbs_null(error);
	}
	srq->srq.handle = srq->object->handle;
	attr->attr.max_wr = srq->object->queue.requests_max;
	attr->attr.max_sge = srq->object->queue.sges_max;
	return &srq->srq;
}

struct ibv_srq *verbs_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	(void)context;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) ||
	    attr->comp_mask & ~(uint32_t)(IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE))
		return verbs_null(-EOPNOTSUPP);
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type != IBV_SRQT_BASIC)
		return verbs_null(-EOPNOTSUPP);
	/* The extended attributes begin with the plain ones. */
	return ibv_create_srq(attr->pd, (struct ibv_srq_init_attr *)attr);
}

int ibv_modify_srq(struct ibv_srq *public, struct ibv_srq_attr *attr, int mask)
{
	struct verbs_srq *srq = srq_of(public);
	int error = 0;

	if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return verbs_result(-EINVAL);
	adapter_lock(srq->adapter);
	if (mask & IBV_SRQ_MAX_WR)
		error = srq_resize(srq->object, attr->max_wr);
	if (!error && mask & IBV_SRQ_LIMIT)
		error = srq_set_limit(srq->object, attr->srq_limit);
	adapter_unlock(srq->adapter);
	return verbs_result(error);
}

int ibv_query_srq(struct ibv_srq *public, struct ibv_srq_attr *ret_attr)
{
	struct verbs_srq *srq = srq_of(public);

	adapter_lock(srq->adapter);
	*ret_attr = (struct ibv_srq_attr){
		.max_wr = srq->object->queue.requests_max,
		.max_sge = srq->object->queue.sges_max,
		.srq_limit = srq->object->limit,
	};
	adapter_unlock(srq->adapter);
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *public)
{
	struct verbs_srq *srq = srq_of(public);
	struct context_object *context = context_of(public->context);

	adapter_lock(srq->adapter);

	int error = srq_destroy(srq->object);

	if (!error)
		context->object_count--;
	adapter_unlock(srq->adapter);
	if (error)
		return verbs_result(error);

	uint32_t handed_out = events_forget(context, public, &srq->async_events_handed_out);

	events_wait_acknowledged(&public->mutex, &public->cond, &public->events_completed,
				 handed_out);
	free(srq);
	return 0;
}
