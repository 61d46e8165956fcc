/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things waiting behind a file descriptor that is readable exactly while there are any: completion
 * channels and asynchronous events.
 *
 * One byte in a socket pair is the token that says "not empty"; whoever reads it looks into the
 * list under the lock. A socket rather than an eventfd, because taking the token back must not
 * block even when the program left the descriptor blocking.
 */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_EVENT_QUEUE_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_EVENT_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include "base/attributes.h"
#include "base/list.h"

struct event_queue {
	pthread_mutex_t mutex;
	struct list waiting;
	int fd; /* the program's end */
	int token_fd;
	bool has_token; /* in the socket, or in the hand of a reader that has yet to take the lock
			 */
};

MUST_USE int event_queue_open(struct event_queue *queue);
void event_queue_close(struct event_queue *queue);

/* The list may be changed between these two. */
void event_queue_lock(struct event_queue *queue);
void event_queue_unlock(struct event_queue *queue);

/* With the lock held if there is something, else -EAGAIN without it. */
MUST_USE int event_queue_try(struct event_queue *queue);

/* Waits until the list is not empty, and returns with the lock held. -errno (-EAGAIN on a
 * non-blocking descriptor) without it. */
MUST_USE int event_queue_wait(struct event_queue *queue);

#endif
