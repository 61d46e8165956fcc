/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners by service id, and requests that wait for a service to open again (management 7.4,
 * 7.6). */
#include <errno.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "mgmt/cm/cm_connection.h"

static const uint64_t whole = UINT64_MAX;

struct cm_listener *listener_find(const struct cm *cm, uint64_t service_id)
{
	struct cm_listener *exact = hash_table_get(&cm->exact_listeners, service_id);

	if (exact)
		return exact;
	list_for_each (link, &cm->masked_listeners) {
		struct cm_listener *listener = container_of(link, struct cm_listener, link);

		if ((service_id & listener->mask) == listener->service_id)
			return listener;
	}
	return NULL;
}

/* Requests that waited for the service are received again. */
static void admit_held(struct cm *cm, time_ns now)
{
	struct list waiting;

	list_init(&waiting);
	while (!list_is_empty(&cm->held)) {
		struct list *link = list_pop(&cm->held);

		list_append(&waiting, link);
	}
	cm->held_count = 0;
	for (struct list *link; (link = list_pop(&waiting));) {
		struct held_request *held = container_of(link, struct held_request, link);

		if (held->deadline > now)
			cm_receive(cm, now, &held->message);
		free(held);
	}
}

static bool overlaps(const struct cm_listener *a, uint64_t service_id, uint64_t mask)
{
	return (a->service_id & mask & a->mask) == (service_id & mask & a->mask);
}

static bool is_taken(const struct cm *cm, uint64_t service_id, uint64_t mask)
{
	list_for_each (link, &cm->masked_listeners) {
		const struct cm_listener *listener = container_of(link, struct cm_listener, link);

		if (overlaps(listener, service_id, mask))
			return true;
	}
	return mask == whole && hash_table_get(&cm->exact_listeners, service_id);
}

int cm_listen(struct cm *cm, time_ns now, uint64_t service_id, uint64_t mask, void *context,
	      struct cm_listener **ret_listener)
{
	if (is_taken(cm, service_id & mask, mask))
		return -EADDRINUSE;

	struct cm_listener *listener = calloc(1, sizeof(*listener));

	if (!listener)
		return -ENOMEM;
	listener->service_id = service_id & mask;
	listener->mask = mask;
	listener->context = context;
	list_init(&listener->link);
	if (mask != whole) {
		list_append(&cm->masked_listeners, &listener->link);
	} else if (hash_table_put(&cm->exact_listeners, service_id, listener) != 0) {
		free(listener);
		return -ENOMEM;
	}
	cm->listener_count++;
	*ret_listener = listener;
	admit_held(cm, now);
	return 0;
}

void cm_unlisten(struct cm *cm, time_ns now, struct cm_listener *listener)
{
	cm->closed[cm->next_closed++ % CLOSED_SERVICES] =
		(struct closed_service){.service_id = listener->service_id,
					.mask = listener->mask,
					.until = now + cm->options.closed_service_grace};
	if (listener->mask == whole)
		hash_table_remove(&cm->exact_listeners, listener->service_id);
	list_remove(&listener->link);
	cm->listener_count--;
	free(listener);
}

void *cm_listener_context(const struct cm_listener *listener)
{
	return listener->context;
}

static bool was_just_closed(const struct cm *cm, time_ns now, uint64_t service_id)
{
	for (unsigned index = 0; index < CLOSED_SERVICES; index++) {
		const struct closed_service *closed = &cm->closed[index];

		if (closed->until > now && (service_id & closed->mask) == closed->service_id)
			return true;
	}
	return false;
}

static bool is_held(const struct cm *cm, const struct cm_message *message)
{
	list_for_each (link, &cm->held) {
		const struct held_request *held = container_of(link, struct held_request, link);

		if (memcmp(held->message.mad.bytes, message->mad.bytes, MAD_BYTES) == 0)
			return true;
	}
	return false;
}

/* Programs close a service and reopen it for the next connection while their peer already calls. */
bool listeners_hold(struct cm *cm, time_ns now, uint64_t service_id,
		    const struct cm_message *message)
{
	if (!was_just_closed(cm, now, service_id))
		return false;
	if (is_held(cm, message))
		return true;

	struct held_request *held =
		cm->held_count < HELD_REQUESTS_MAX ? malloc(sizeof(*held)) : NULL;

	if (!held)
		return false;
	held->message = *message;
	held->deadline = now + cm->options.closed_service_grace;
	list_append(&cm->held, &held->link);
	cm->held_count++;
	return true;
}

/* All wait equally long, so the first is due first. */
void listeners_expire(struct cm *cm, time_ns now)
{
	for (struct list *link; (link = list_first(&cm->held));) {
		struct held_request *held = container_of(link, struct held_request, link);

		if (held->deadline > now)
			return;
		list_remove(link);
		cm->held_count--;
		/* The service is neither open nor just closed any more, so the REQ is rejected. */
		cm_receive(cm, now, &held->message);
		free(held);
	}
}

time_ns listeners_deadline(const struct cm *cm)
{
	struct list *link = list_first(&cm->held);

	return link ? container_of(link, struct held_request, link)->deadline : TIME_NEVER;
}

void listeners_release(struct cm *cm)
{
	for (struct list *link; (link = list_pop(&cm->held));)
		free(container_of(link, struct held_request, link));
	for (struct list *link; (link = list_pop(&cm->masked_listeners));)
		free(container_of(link, struct cm_listener, link));
	for (uint32_t index = 0; index < cm->exact_listeners.capacity; index++)
		free(cm->exact_listeners.entries[index].value);
	hash_table_release(&cm->exact_listeners);
}
