/* SPDX-License-Identifier: Apache-2.0 */
/* Completion queues (vol 1, chapter 11). */
#include "api/libibverbs/objects/objects.h"

#include <sched.h>
#include <stdlib.h>
#include "api/libibverbs/async_events.h"
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "api/libibverbs/objects/operations.h"

static int make_object(struct verbs_cq *cq, struct context_object *context, uint32_t cqe_count,
		       struct ibv_comp_channel *channel)
{
	adapter_lock(context->adapter);

	int error = cq_create(adapter_hca(context->adapter), cqe_count, cq, &cq->object);

	if (!error) {
		context->object_count++;
		if (channel) {
			channel->refcnt++;
			list_append(&((struct verbs_channel *)channel)->cqs, &cq->channel_link);
		}
	}
	adapter_unlock(context->adapter);
	return error;
}

/* Uses memory from the parent domain's allocator, if the program gave one. -ENOMEM. */
static int take_queue_memory(struct verbs_cq *cq, struct ibv_pd *pd)
{
	const size_t sizes[QUEUE_MEMORY_PIECES] = {cq->object->ring.slot_count *
						   sizeof(struct completion)};
	int error = queue_memory_allocate(&cq->queue_memory, pd, QUEUE_MEMORY_FOR_CQ, sizes);

	if (error || !cq->queue_memory.pieces[0])
		return error;
	adapter_lock(cq->adapter);
	cq_use_memory(cq->object, cq->queue_memory.pieces[0]);
	adapter_unlock(cq->adapter);
	return 0;
}

static struct verbs_cq *create(struct ibv_context *public, uint32_t cqe_count, void *cq_context,
			       struct ibv_comp_channel *channel, uint32_t vector)
{
	struct context_object *context = context_of(public);
	int fault = injected_fault(VERB_CREATE_CQ);

	if (unlikely(fault))
		return verbs_null(fault);
	if (vector >= (uint32_t) public->num_comp_vectors)
		return verbs_null(-EINVAL);

	struct verbs_cq *cq = calloc(1, sizeof(*cq));

	if (!cq)
		return verbs_null(-ENOMEM);
	cq->adapter = context->adapter;
	list_init(&cq->event_link);
	list_init(&cq->channel_link);
	pthread_mutex_init(&cq->polling, NULL);
	cq->cq.context = public;
	cq->cq.channel = channel;
	cq->cq.cq_context = cq_context;
	pthread_mutex_init(&cq->cq.mutex, NULL);
	pthread_cond_init(&cq->cq.cond, NULL);
	verbs_set_readers(&cq->cq);

	int error = make_object(cq, context, cqe_count, channel);

	if (error) {
		free(cq);
		return verbs_null(error);
	}
	cq->cq.handle = cq->object->handle;
	cq->cq.cqe = (int)cq->object->ring.capacity;
	handle_add(HANDLE_CQ, &cq->cq);
	return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe_count, void *cq_context,
			     struct ibv_comp_channel *channel, int vector)
{
	if (!handle_is_live(HANDLE_CONTEXT, context))
		return verbs_null(-EINVAL);
	if (cqe_count <= 0 || vector < 0)
		return verbs_null(-EINVAL);

	struct verbs_cq *cq =
		create(context, (uint32_t)cqe_count, cq_context, channel, (uint32_t)vector);

	return cq ? (struct ibv_cq *)&cq->cq : NULL;
}

struct ibv_cq_ex *verbs_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	if (!attr)
		return verbs_null(-EINVAL);

	/* Includes Ethernet's VLAN and flow tag, which read 0: programs ask for all fields at
	 * once. */
	const uint64_t known_fields = IBV_CREATE_CQ_SUP_WC_FLAGS;
	const uint32_t known_flags =
		IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;

	if (attr->comp_mask & ~(uint32_t)(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD))
		return verbs_null(-EINVAL);
	if (attr->wc_flags & ~known_fields)
		return verbs_null(-EOPNOTSUPP);

	uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;

	if (flags & ~known_flags)
		return verbs_null(-EOPNOTSUPP);

	struct verbs_cq *cq =
		create(context, attr->cqe, attr->cq_context, attr->channel, attr->comp_vector);

	if (!cq)
		return NULL;
	cq->is_single_threaded = flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	if (attr->wc_flags &
	    (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)) {
		adapter_lock(cq->adapter);
		adapter_want_time(cq->adapter);
		adapter_unlock(cq->adapter);
	}
	if (take_queue_memory(cq, attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ? attr->parent_domain
									     : NULL) != 0) {
		ibv_destroy_cq((struct ibv_cq *)&cq->cq);
		return verbs_null(-ENOMEM);
	}
	return &cq->cq;
}

struct unsent_search {
	const struct cq *cq;
	bool found;
};

static void look_for_unsent(struct qp_object *object, void *context)
{
	const struct send_queue *queue = &object->qp.requester.queue;
	struct unsent_search *search = context;

	if (object->send_cq == search->cq && !qp_is_reliable(&object->qp) &&
	    queue->done != queue->tail)
		search->found = true;
}

/*
 * On hardware, a send that needs no ACK completes before the program's next call. Here its first
 * packet may still wait for softibd to resolve the path, and resizing the CQ meanwhile would lose
 * the completion. The adapter's lock is held; the loop releases it between two checks.
 */
static void let_unanswered_sends_complete(struct verbs_cq *cq)
{
	const time_ns wait_ns_max = MILLISECONDS(20);
	time_ns start = adapter_now(cq->adapter);

	for (time_ns now = start; now - start < wait_ns_max; now = adapter_now(cq->adapter)) {
		struct unsent_search search = {.cq = cq->object};

		adapter_progress(cq->adapter, now);
		hca_for_each_qp(adapter_hca(cq->adapter), look_for_unsent, &search);
		if (!search.found)
			return;
		adapter_unlock(cq->adapter);
		sched_yield();
		adapter_lock(cq->adapter);
	}
}

int ibv_resize_cq(struct ibv_cq *public, int cqe_count)
{
	if (!handle_is_live(HANDLE_CQ, public))
		return verbs_result(-EINVAL);

	struct verbs_cq *cq = cq_of(public);

	if (cqe_count <= 0)
		return verbs_result(-EINVAL);
	adapter_lock(cq->adapter);
	if ((uint32_t)cqe_count < cq->object->ring.capacity)
		let_unanswered_sends_complete(cq);

	int error = cq_resize(cq->object, (uint32_t)cqe_count);

	if (!error)
	public->cqe = (int)cq->object->ring.capacity;
	adapter_unlock(cq->adapter);
	return verbs_result(error);
}

int verbs_modify_cq(struct ibv_cq *public, struct ibv_modify_cq_attr *attr)
{
	if (!attr)
		return verbs_result(-EINVAL);

	struct verbs_cq *cq = cq_of(public);

	if (attr->attr_mask != IBV_CQ_ATTR_MODERATE)
		return verbs_result(-EINVAL);
	adapter_lock(cq->adapter);
	cq_moderate(cq->object, attr->moderate.cq_count, MICROSECONDS(attr->moderate.cq_period));
	adapter_unlock(cq->adapter);
	return 0;
}

/* Drops the CQ's unread events, and returns how many the program has read and must acknowledge. */
static uint32_t forget_channel_events(struct verbs_cq *cq)
{
	struct verbs_channel *channel = (struct verbs_channel *)cq->cq.channel;

	if (!channel)
		return 0;
	event_queue_lock(&channel->events);
	if (list_is_linked(&cq->event_link))
		list_remove(&cq->event_link);

	uint32_t handed_out = cq->events_handed_out;

	event_queue_unlock(&channel->events);
	return handed_out;
}

int ibv_destroy_cq(struct ibv_cq *public)
{
	if (!handle_is_live(HANDLE_CQ, public))
		return verbs_result(-EINVAL);

	struct verbs_cq *cq = cq_of(public);
	struct context_object *context = context_of(public->context);

	adapter_lock(cq->adapter);

	uint32_t user_count = cq->object->users;
	int error = cq_destroy(cq->object);

	if (!error && list_is_linked(&cq->channel_link))
		list_remove(&cq->channel_link);
	adapter_unlock(cq->adapter);
	if (unlikely(warnings_are_on && error == -EBUSY))
		misuse_busy("ibv_destroy_cq", public->handle, user_count,
			    "queues that complete into it");
	if (error)
		return verbs_result(error);

	uint32_t handed_out = forget_channel_events(cq);

	if (unlikely(warnings_are_on))
		misuse_wait_acknowledged("ibv_destroy_cq", public->handle,
					 public->comp_events_completed, handed_out);
	events_wait_acknowledged(&public->mutex, &public->cond, &public->comp_events_completed,
				 handed_out);
	handed_out = events_forget(context, public, &cq->async_events_handed_out);
	events_wait_acknowledged(&public->mutex, &public->cond, &public->async_events_completed,
				 handed_out);
	if (public->channel) {
		adapter_lock(cq->adapter);
		public->channel->refcnt--;
		adapter_unlock(cq->adapter);
	}
	pthread_mutex_destroy(&cq->polling);
	queue_memory_free(&cq->queue_memory);
	handle_remove(public);
	free(cq);
	context_object_gone(context);
	return 0;
}
