/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous events: an adapter raises them, each context that opened the adapter queues them,
 * and the program reads them. */
#ifndef SOFTIB_API_LIBIBVERBS_ASYNC_EVENTS_H
#define SOFTIB_API_LIBIBVERBS_ASYNC_EVENTS_H

#include "api/libibverbs/objects/objects.h"

/* hca_owner.event; context is the struct verbs_device. The adapter's lock is held. */
void events_raise(void *context, const struct hca_event *event);

/* For an object that is being destroyed: drops its unread events and returns how many the program
 * has read. */
uint32_t events_forget(struct context_object *context, const void *element,
		       const uint32_t *handed_out);

/* Waits until the program has acknowledged every event that it read. */
void events_wait_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond,
			      const uint32_t *completed, uint32_t handed_out);

/* Drops all unread events; called when the context is closed. */
void events_forget_all(struct context_object *context);

#endif
