/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list with a file descriptor that is readable exactly while the list is not empty: for
 * completion channels and asynchronous events.
 *
 * One byte in a socket pair, the token, says "not empty". A reader takes the token, then looks at
 * the list under the lock. It is a socket and not an eventfd, because taking the token back must
 * not block even if the program left the descriptor blocking.
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
	bool has_token; /* in the socket, or taken by a reader that waits for the lock */
};

MUST_USE int event_queue_open(struct event_queue *queue);
void event_queue_close(struct event_queue *queue);

/* The list may be changed only between these two. */
void event_queue_lock(struct event_queue *queue);
void event_queue_unlock(struct event_queue *queue);

/* 0 with the lock held if the list is not empty, else -EAGAIN without the lock. */
MUST_USE int event_queue_try(struct event_queue *queue);

/* Waits until the list is not empty, and returns with the lock held. -errno (-EAGAIN on a
 * non-blocking descriptor) without it. */
MUST_USE int event_queue_wait(struct event_queue *queue);

#endif
