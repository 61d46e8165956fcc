/* SPDX-License-Identifier: Apache-2.0 */
/* Shared receive queues (vol 1, chapter 11). */
#include "api/libibverbs/objects/objects.h"

#include <stdlib.h>
#include "api/libibverbs/async_events.h"
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "api/libibverbs/objects/operations.h"
#include "api/libibverbs/objects/qpn_supply.h"

/* Creates a plain SRQ, an XRC SRQ if a domain is given, or one that matches tags. The adapter's
 * lock is held. */
static int make_object(struct verbs_srq *srq, const struct ibv_srq_init_attr_ex *attr,
		       struct xrcd *domain)
{
	int error =
		srq_create(adapter_hca(srq->adapter), pd_of(attr->pd)->domain, attr->attr.max_wr,
			   attr->attr.max_sge, attr->attr.srq_limit, srq, &srq->object);

	if (error)
		return error;
	if (domain)
		error = srq_join(srq->object, domain, cq_of(attr->cq)->object);
	else if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TM)
		error = srq_match_tags(srq->object, attr->tm_cap.max_num_tags,
				       cq_of(attr->cq)->object);
	/* A new SRQ has no users, so destroying it cannot fail. */
	if (error && srq_destroy(srq->object))
		error = -EBUSY;
	return error;
}

/* Uses memory from the parent domain's allocator, if the program gave one. -ENOMEM. */
static int take_queue_memory(struct verbs_srq *srq)
{
	const size_t sizes[QUEUE_MEMORY_PIECES] = {receive_queue_bytes(&srq->object->queue)};
	int error =
		queue_memory_allocate(&srq->queue_memory, srq->srq.pd, QUEUE_MEMORY_FOR_SRQ, sizes);

	if (error || !srq->queue_memory.pieces[0])
		return error;
	adapter_lock(srq->adapter);
	receive_queue_use_memory(&srq->object->queue, srq->queue_memory.pieces[0]);
	adapter_unlock(srq->adapter);
	return 0;
}

static struct ibv_srq *create(struct ibv_context *public, struct ibv_srq_init_attr_ex *attr,
			      struct xrcd *domain)
{
	struct context_object *context = context_of(public);
	int fault = injected_fault(VERB_CREATE_SRQ);

	if (unlikely(fault))
		return verbs_null(fault);

	struct verbs_srq *srq = calloc(1, sizeof(*srq));

	if (!srq)
		return verbs_null(-ENOMEM);
	srq->adapter = context->adapter;
	srq->srq.context = public;
	srq->srq.srq_context = attr->srq_context;
	srq->srq.pd = attr->pd;
	pthread_mutex_init(&srq->srq.mutex, NULL);
	pthread_cond_init(&srq->srq.cond, NULL);
	adapter_lock(context->adapter);

	unsigned tries = 0;
	int error;

	/* The number of an XRC SRQ is one of the process's QPNs. */
	do
		error = make_object(srq, attr, domain);
	while (qpn_supply_refilled(context->adapter, &tries, &error));
	if (!error)
		context->object_count++;
	adapter_unlock(context->adapter);
	if (error) {
		free(srq);
		return verbs_null(error);
	}
	handle_add(HANDLE_SRQ, &srq->srq);
	if (take_queue_memory(srq) != 0) {
		ibv_destroy_srq(&srq->srq);
		return verbs_null(-ENOMEM);
	}
	srq->srq.handle = srq->object->handle;
	attr->attr.max_wr = srq->object->queue.requests_max;
	attr->attr.max_sge = srq->object->queue.sges_max;
	return &srq->srq;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	if (!handle_is_live(HANDLE_PD, pd) || !attr)
		return verbs_null(-EINVAL);

	struct ibv_srq_init_attr_ex extended = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.pd = pd,
	};

	struct ibv_srq *srq = create(pd->context, &extended, NULL);

	if (srq)
		attr->attr = extended.attr;
	return srq;
}

static struct ibv_srq *create_tag_matching(struct ibv_context *context,
					   struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t needed = IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;

	if ((attr->comp_mask & needed) != needed || !attr->cq ||
	    attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD || attr->tm_cap.max_ops > TAG_OPERATIONS_MAX)
		return verbs_null(-EINVAL);
	/* A tagged buffer needs at least one SGE. */
	if (attr->attr.max_sge == 0)
		attr->attr.max_sge = 1;
	return create(context, attr, NULL);
}

struct ibv_srq *verbs_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t xrc_needs = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	enum ibv_srq_type type =
		attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE ? attr->srq_type : IBV_SRQT_BASIC;

	if (attr->comp_mask >= IBV_SRQ_INIT_ATTR_RESERVED || (unsigned)type > IBV_SRQT_TM)
		return verbs_null(-EINVAL);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd)
		return verbs_null(-EINVAL);
	if (type == IBV_SRQT_TM)
		return create_tag_matching(context, attr);
	if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TM)
		return verbs_null(-EINVAL);
	if (type == IBV_SRQT_BASIC)
		return create(context, attr, NULL);
	if ((attr->comp_mask & xrc_needs) != xrc_needs || !attr->xrcd || !attr->cq)
		return verbs_null(-EINVAL);
	return create(context, attr, xrcd_of(attr->xrcd)->domain);
}

int verbs_get_srq_num(struct ibv_srq *public, uint32_t *ret_number)
{
	if (!ret_number)
		return verbs_result(-EINVAL);

	const struct srq *object = srq_of(public)->object;

	if (!object->xrcd) /* only XRC SRQs have a number */
		return verbs_result(-EINVAL);
	*ret_number = object->srqn;
	return 0;
}

int ibv_modify_srq(struct ibv_srq *public, struct ibv_srq_attr *attr, int mask)
{
	if (!handle_is_live(HANDLE_SRQ, public) || !attr)
		return verbs_result(-EINVAL);

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
	if (!handle_is_live(HANDLE_SRQ, public) || !ret_attr)
		return verbs_result(-EINVAL);

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
	if (!handle_is_live(HANDLE_SRQ, public))
		return verbs_result(-EINVAL);

	struct verbs_srq *srq = srq_of(public);
	struct context_object *context = context_of(public->context);

	adapter_lock(srq->adapter);

	uint32_t user_count = srq->object->users;
	int error = srq_destroy(srq->object);

	adapter_unlock(srq->adapter);
	if (unlikely(warnings_are_on && error == -EBUSY))
		misuse_busy("ibv_destroy_srq", public->handle, user_count,
			    "queue pairs that receive from it");
	if (error)
		return verbs_result(error);

	uint32_t handed_out = events_forget(context, public, &srq->async_events_handed_out);

	if (unlikely(warnings_are_on))
		misuse_wait_acknowledged("ibv_destroy_srq", public->handle,
					 public->events_completed, handed_out);
	events_wait_acknowledged(&public->mutex, &public->cond, &public->events_completed,
				 handed_out);
	queue_memory_free(&srq->queue_memory);
	handle_remove(public);
	free(srq);
	context_object_gone(context);
	return 0;
}
