/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous events: from an adapter to the contexts that opened it, and out to the program. */
#ifndef SOFTIB_API_LIBIBVERBS_ASYNC_EVENTS_H
#define SOFTIB_API_LIBIBVERBS_ASYNC_EVENTS_H

#include "api/libibverbs/objects/objects.h"

/* hca_owner.event; context is the struct verbs_device. The adapter's lock is held. */
void events_raise(void *context, const struct hca_event *event);

/* For objects that are being destroyed: takes back their events that were not handed out, and says
 * how many were. */
uint32_t events_forget(struct context_object *context, const void *element,
		       const uint32_t *handed_out);

/* Until the program has acknowledged what it was handed. */
void events_wait_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond,
			      const uint32_t *completed, uint32_t handed_out);

/* Drops all that wait (the context is closed). */
void events_forget_all(struct context_object *context);

#endif
