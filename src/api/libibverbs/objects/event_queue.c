/* SPDX-License-Identifier: Apache-2.0 */
/* A list with a descriptor that is readable while the list is not empty. */
#include "api/libibverbs/objects/event_queue.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int event_queue_open(struct event_queue *queue)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	*queue = (struct event_queue){.fd = fds[0], .token_fd = fds[1]};
	pthread_mutex_init(&queue->mutex, NULL);
	list_init(&queue->waiting);
	return 0;
}

void event_queue_close(struct event_queue *queue)
{
	close(queue->fd);
	close(queue->token_fd);
	pthread_mutex_destroy(&queue->mutex);
}

void event_queue_lock(struct event_queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
}

void event_queue_unlock(struct event_queue *queue)
{
	char token = 0;
	int saved_errno = errno;

	if (!list_is_empty(&queue->waiting) && !queue->has_token) {
		/* At most one byte is ever in the socket, so there is room. */
		if (send(queue->token_fd, &token, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
			queue->has_token = true;
	} else if (list_is_empty(&queue->waiting) && queue->has_token) {
		/* If a reader has taken the byte already, that reader finds the list empty and
		 * waits again. */
		if (recv(queue->fd, &token, 1, MSG_DONTWAIT) == 1)
			queue->has_token = false;
	}
	pthread_mutex_unlock(&queue->mutex);
	errno = saved_errno;
}

int event_queue_try(struct event_queue *queue)
{
	pthread_mutex_lock(&queue->mutex);
	if (!list_is_empty(&queue->waiting))
		return 0;
	pthread_mutex_unlock(&queue->mutex);
	return -EAGAIN;
}

int event_queue_wait(struct event_queue *queue)
{
	char token;

	for (;;) {
		ssize_t byte_count = recv(queue->fd, &token, 1, 0);

		if (byte_count < 0)
			return -errno;
		if (byte_count == 0)
			return -EBADF;
		event_queue_lock(queue);
		queue->has_token = false;
		if (!list_is_empty(&queue->waiting))
			return 0;
		event_queue_unlock(queue);
	}
}
