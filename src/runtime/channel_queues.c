/* SPDX-License-Identifier: Apache-2.0 */
/* Channels with unpublished records, and queue pairs that waited: see channel_queues.h. */
#include "runtime/channel_queues.h"

#include "runtime/runtime_state.h"

void publish_later(struct process_runtime *runtime, struct channel *channel)
{
	if (!list_is_linked(&channel->unpublished))
		list_append(&runtime->unpublished, &channel->unpublished);
}

void publish_all(struct process_runtime *runtime)
{
	struct list *link;

	while ((link = list_pop(&runtime->unpublished)))
		channel_publish(container_of(link, struct channel, unpublished));
}

void waiting_wake(struct list *waiting)
{
	struct list *link;

	while ((link = list_pop(waiting))) {
		struct qp *qp = container_of(link, struct qp, ready_link);

		hca_ready_add(container_of(qp, struct qp_object, qp)->hca, qp);
	}
}

void waiting_wake_flow(void *context, struct flow *flow)
{
	(void)context;
	waiting_wake(&flow->waiting);
}
