/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous events (vol 1, chapter 11). */
#include "api/libibverbs/async_events.h"

#include <infiniband/ofa_verbs.h>
#include <stdlib.h>
#include "api/libibverbs/objects/rd_objects.h"
#include "api/libibverbs/diagnostics/misuse.h"

/* One event that waits in one context's queue. */
struct async_record {
	struct list link;
	struct ibv_async_event event;
	uint32_t *handed_out; /* the element's counter; NULL for port and device events */
};

static const void *record_element(const struct async_record *record)
{
	/* ibv_async_event.element is a union: any affiliated object's pointer reads as
	 * element.qp. */
	return record->handed_out ? record->event.element.qp : NULL;
}

static void append(struct context_object *context, const struct ibv_async_event *event,
		   uint32_t *handed_out)
{
	if (context->is_closed)
		return;

	struct async_record *record = calloc(1, sizeof(*record));

	/* Without memory the event is lost: there is no way to report that. */
	if (!record)
		return;
	record->event = *event;
	record->handed_out = handed_out;
	event_queue_lock(&context->events);
	list_append(&context->events.waiting, &record->link);
	event_queue_unlock(&context->events);
}

/* An XRC target may have several handles; each gets the event. */
static void raise_for_qp(struct verbs_qp *first, struct ibv_async_event *public)
{
	struct verbs_qp *qp = first;

	do {
		public->element.qp = &qp->qp;
		append(context_of(qp->qp.context), public, &qp->async_events_handed_out);
		qp = container_of(qp->sharers.next, struct verbs_qp, sharers);
	} while (qp != first);
}

static void raise_for_object(const struct hca_event *event)
{
	struct ibv_async_event public = {.event_type = (enum ibv_event_type)event->type};

	if (event->qp && event->qp->qp.type == QP_EEC) {
		struct verbs_eec *eec = event->qp->context;

		public.event_type = (enum ibv_event_type)eec_event_type(event->type);
		/* ibv_async_event.element is a union: any affiliated object's pointer reads as
		 * element.qp. */
		public.element.qp = (struct ibv_qp *)(void *)&eec->eec;
		append(context_of(eec->eec.context), &public, &eec->async_events_handed_out);
	} else if (event->qp) {
		raise_for_qp(event->qp->context, &public);
	} else if (event->cq) {
		struct verbs_cq *cq = event->cq->context;

		public.element.cq = (struct ibv_cq *)&cq->cq;
		append(context_of(cq->cq.context), &public, &cq->async_events_handed_out);
	} else {
		struct verbs_srq *srq = event->srq->context;

		public.element.srq = &srq->srq;
		append(context_of(srq->srq.context), &public, &srq->async_events_handed_out);
	}
}

void events_raise(void *context, const struct hca_event *event)
{
	struct verbs_device *device = context;
	struct ibv_async_event public = {.event_type = (enum ibv_event_type)event->type};

	if (unlikely(warnings_are_on))
		misuse_event(event);
	if (event->qp || event->cq || event->srq) {
		raise_for_object(event);
		return;
	}
	public.element.port_num = event->port_number;
	for (struct list *link = device->contexts.next; link != &device->contexts;
	     link = link->next)
		append(container_of(link, struct context_object, link), &public, NULL);
}

uint32_t events_forget(struct context_object *context, const void *element,
		       const uint32_t *handed_out)
{
	if (context->is_closed)
		return *handed_out;
	event_queue_lock(&context->events);

	struct list *waiting = &context->events.waiting;

	for (struct list *link = waiting->next, *next = link->next; link != waiting;
	     link = next, next = link->next) {
		struct async_record *record = container_of(link, struct async_record, link);

		if (record_element(record) != element)
			continue;
		list_remove(&record->link);
		if (unlikely(warnings_are_on))
			misuse_event_unread(&record->event, element);
		free(record);
	}

	uint32_t count = *handed_out;

	event_queue_unlock(&context->events);
	return count;
}

void events_forget_all(struct context_object *context)
{
	event_queue_lock(&context->events);
	for (struct list *link = list_pop(&context->events.waiting); link;
	     link = list_pop(&context->events.waiting))
		free(container_of(link, struct async_record, link));
	event_queue_unlock(&context->events);
}

void events_wait_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond,
			      const uint32_t *completed, uint32_t handed_out)
{
	pthread_mutex_lock(mutex);
	while (*completed != handed_out)
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
}

static bool is_of_qp(unsigned event_type)
{
	return (event_type >= IBV_EVENT_QP_FATAL && event_type <= IBV_EVENT_PATH_MIG_ERR) ||
	       event_type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

static bool is_of_old_target(const struct async_record *record)
{
	return record->handed_out && is_of_qp((unsigned)record->event.event_type) &&
	       qp_of(record->event.element.qp)->is_named_by_number;
}

/* Programs built with OFED's header expect a flag in the event type and the QP number where that
 * header has element.xrc_qp_num, at the start of the union. They acknowledge no such event, so
 * destroying the QP does not wait for one. */
static void name_by_number(struct ibv_async_event *event)
{
	int number = (int)event->element.qp->qp_num;

	event->event_type = (enum ibv_event_type)((unsigned)event->event_type |
						  (unsigned)IBV_XRC_QP_EVENT_FLAG);
	event->element.qp = NULL;
	event->element.port_num = number;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *ret_event)
{
	if (!context || !ret_event) {
		errno = EINVAL;
		return -1;
	}

	struct event_queue *events = &context_of(context)->events;
	int error = event_queue_wait(events);

	if (error) {
		errno = -error;
		return -1;
	}

	struct async_record *record =
		container_of(list_pop(&events->waiting), struct async_record, link);

	if (is_of_old_target(record))
		name_by_number(&record->event);
	else if (record->handed_out)
		(*record->handed_out)++;
	*ret_event = record->event;
	event_queue_unlock(events);
	free(record);
	return 0;
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed)
{
	pthread_mutex_lock(mutex);
	(*completed)++;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(mutex);
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	if (!event)
		return;
	switch ((unsigned)event->event_type) {
	case IBV_EVENT_CQ_ERR: {
		struct ibv_cq *cq = event->element.cq;

		acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
		break;
	}
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED: {
		struct ibv_qp *qp = event->element.qp;

		acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
		break;
	}
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED: {
		struct ibv_srq *srq = event->element.srq;

		acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
		break;
	}
	case SOFTIB_EVENT_EEC_FATAL:
	case SOFTIB_EVENT_EEC_COMM_EST:
	case SOFTIB_EVENT_EEC_SQ_DRAINED:
	case SOFTIB_EVENT_EEC_PATH_MIG:
	case SOFTIB_EVENT_EEC_PATH_MIG_ERR: {
		struct softib_eec *eec = softib_event_eec(event);

		acknowledge(&eec->mutex, &eec->cond, &eec->events_completed);
		break;
	}
	default:
		break;
	}
}
