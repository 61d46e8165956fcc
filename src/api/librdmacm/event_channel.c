/* SPDX-License-Identifier: Apache-2.0 */
/* Event channels: a descriptor that poll shows readable while an event waits. */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel = malloc(sizeof(*channel));

	if (!channel)
		return NULL;
	/* One count per event; reading takes one. */
	channel->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (channel->fd < 0) {
		int error = errno;

		free(channel);
		errno = error;
		return NULL;
	}
	return channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}
