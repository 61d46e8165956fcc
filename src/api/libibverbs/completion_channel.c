/* SPDX-License-Identifier: Apache-2.0 */
/* Completion channels: one descriptor that tells which CQs raised a completion event. */
#include "api/libibverbs/objects/objects.h"

#include <stdbool.h>
#include <stdlib.h>
#include "api/libibverbs/data/event_wait.h"
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "api/libibverbs/objects/operations.h"

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	if (!handle_is_live(HANDLE_CONTEXT, context))
		return verbs_null(-EINVAL);

	int fault = injected_fault(VERB_CREATE_COMP_CHANNEL);

	if (unlikely(fault))
		return verbs_null(fault);

	struct verbs_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return verbs_null(-ENOMEM);

	int error = event_queue_open(&channel->events);

	if (error) {
		free(channel);
		return verbs_null(error);
	}
	list_init(&channel->cqs);
	channel->channel.context = context;
	channel->channel.fd = channel->events.fd;
	handle_add(HANDLE_CHANNEL, &channel->channel);
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *public)
{
	if (!handle_is_live(HANDLE_CHANNEL, public))
		return verbs_result(-EINVAL);

	struct verbs_channel *channel = (struct verbs_channel *)public;
	struct context_object *context = context_of(public->context);

	adapter_lock(context->adapter);

	int cq_count = public->refcnt;

	adapter_unlock(context->adapter);
	if (cq_count) {
		if (unlikely(warnings_are_on))
			misuse_busy("ibv_destroy_comp_channel", (uint32_t) public->fd,
				    (uint32_t)cq_count, "CQs");
		return verbs_result(-EBUSY);
	}
	event_queue_close(&channel->events);
	handle_remove(public);
	free(channel);
	return 0;
}

void verbs_cq_notify(void *context, struct cq *object)
{
	struct verbs_cq *cq = object->context;
	struct verbs_channel *channel = (struct verbs_channel *)cq->cq.channel;

	(void)context;
	if (!channel)
		return;
	event_queue_lock(&channel->events);
	cq->events_waiting++;
	if (!list_is_linked(&cq->event_link))
		list_append(&channel->events.waiting, &cq->event_link);
	event_queue_unlock(&channel->events);
}

/* A CQ that is armed and holds unpolled completions, while the channel has no event. */
static struct verbs_cq *find_unpolled(struct verbs_channel *channel)
{
	if (!list_is_empty(&channel->events.waiting))
		return NULL;
	list_for_each (link, &channel->cqs) {
		struct verbs_cq *cq = container_of(link, struct verbs_cq, channel_link);

		if (cq->object->ring.armed != CQ_NOT_ARMED && !cq->object->unannounced_count &&
		    cq_first(cq->object))
			return cq;
	}
	return NULL;
}

/* The program is about to wait: without an event for completions that were there when the CQ was
 * armed, it would wait for ever. */
static void announce_unpolled(struct verbs_channel *channel)
{
	struct context_object *context = context_of(channel->channel.context);
	struct verbs_cq *cq;

	adapter_lock(context->adapter);
	event_queue_lock(&channel->events);
	cq = find_unpolled(channel);
	event_queue_unlock(&channel->events);
	if (cq)
		cq_announce_present(cq->object);
	adapter_unlock(context->adapter);
}

int ibv_get_cq_event(struct ibv_comp_channel *public, struct ibv_cq **ret_cq, void **ret_context)
{
	if (!public || !ret_cq || !ret_context) {
		errno = EINVAL;
		return -1;
	}

	struct verbs_channel *channel = (struct verbs_channel *)public;

	if (unlikely(warnings_are_on))
		misuse_wait_event(channel);

	if (!arming_is_strict())
		announce_unpolled(channel);

	int error = event_wait(channel);

	if (error) {
		errno = -error;
		return -1;
	}

	/* A CQ with more events goes to the end of the list, so that no CQ starves another. */
	struct verbs_cq *cq =
		container_of(list_pop(&channel->events.waiting), struct verbs_cq, event_link);

	if (--cq->events_waiting)
		list_append(&channel->events.waiting, &cq->event_link);
	cq->events_handed_out++;
	event_queue_unlock(&channel->events);
	*ret_cq = (struct ibv_cq *)&cq->cq;
	*ret_context = cq->cq.cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int event_count)
{
	if (!cq)
		return;
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += event_count;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
