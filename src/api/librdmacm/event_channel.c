/* SPDX-License-Identifier: Apache-2.0 */
/* Event channels: a socket that softibd writes events to, readable while an event waits. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/librdmacm/identifier.h"

/* Readers of all channels take it for reading. softibd removes an id's events from a channel by
 * taking all of them out and writing the others back; no thread may read meanwhile, or it would get
 * an event ahead of earlier ones. The lock is not part of the channel, because threads may still
 * wait on a channel that is destroyed. */
static pthread_rwlock_t reading = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct event_channel *channel = calloc(1, sizeof(*channel));
	const struct cm_command command = {.kind = CM_OPEN_CHANNEL};
	struct cm_answer answer;
	int descriptor = -1;

	if (!channel)
		return NULL;
	devices_close_lost();

	int error = cm_session_ask_descriptor(&command, &answer, &descriptor);

	if (!error && descriptor < 0)
		error = -EMFILE;
	if (error) {
		free(channel);
		errno = -error;
		return NULL;
	}
	channel->public.fd = descriptor;
	channel->number = answer.number;
	return &channel->public;
}

/* softibd sees that the socket is closed. A thread that waits in rdma_get_cm_event keeps waiting,
 * as it would in a kernel's read: programs exit with such threads and would report an error as
 * their own. */
void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(event_channel_of(channel));
}

static int try_to_read(int descriptor, struct cm_event_message *ret_event)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_rwlock_rdlock(&reading);

	int error = cm_session_try_event(descriptor, ret_event);

	pthread_rwlock_unlock(&reading);
	pthread_setcancelstate(cancel_state, &cancel_state);
	return error;
}

int event_channel_read(const struct event_channel *channel, struct cm_event_message *ret_event)
{
	struct pollfd watched = {.fd = channel->public.fd, .events = POLLIN};

	for (;;) {
		int error = try_to_read(watched.fd, ret_event);

		if (error != -EAGAIN)
			return error;

		int flags = fcntl(watched.fd, F_GETFL);

		if (flags < 0 || flags & O_NONBLOCK)
			return flags < 0 ? -errno : error;
		if (poll(&watched, 1, -1) < 0)
			return -errno;
	}
}

int event_channel_take_back(const struct event_channel *channel, const struct cm_command *command)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_rwlock_wrlock(&reading);

	int error = cm_session_give_descriptor(command, channel->public.fd);

	pthread_rwlock_unlock(&reading);
	pthread_setcancelstate(cancel_state, &cancel_state);
	return error;
}
