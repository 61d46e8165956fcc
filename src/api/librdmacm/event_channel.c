/* SPDX-License-Identifier: Apache-2.0 */
/* Event channels: a socket that softibd writes to, readable while an event waits. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/librdmacm/identifier.h"

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct event_channel *channel = calloc(1, sizeof(*channel));
	const struct cm_command command = {.kind = CM_OPEN_CHANNEL};
	struct cm_answer answer;
	int descriptor = -1;

	if (!channel)
		return NULL;

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

/* softibd sees the end of the socket. A thread that waits in rdma_get_cm_event goes on waiting, as
 * it would in a kernel's read: programs end with such threads and take an error for one of theirs.
 */
void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(event_channel_of(channel));
}
