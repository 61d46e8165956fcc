/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of commands: taken and returned by the clients' threads. */
#include "io/nbdkit/transfer_buffers.h"

#include <errno.h>
#include <sys/mman.h>

#define ALL_FREE UINT32_MAX

int transfer_buffers_open(struct transfer_buffers *buffers)
{
	void *memory =
		mmap(NULL, (size_t)TRANSFER_BUFFERS * TRANSFER_BUFFER_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	*buffers = (struct transfer_buffers){.memory = memory, .is_free = ALL_FREE};
	pthread_mutex_init(&buffers->mutex, NULL);
	pthread_cond_init(&buffers->returned, NULL);
	return 0;
}

void transfer_buffers_close(struct transfer_buffers *buffers)
{
	assert(buffers->is_free == ALL_FREE);
	munmap(buffers->memory, (size_t)TRANSFER_BUFFERS * TRANSFER_BUFFER_BYTES);
	pthread_cond_destroy(&buffers->returned);
	pthread_mutex_destroy(&buffers->mutex);
}

uint8_t *transfer_buffers_take(struct transfer_buffers *buffers)
{
	pthread_mutex_lock(&buffers->mutex);
	while (!buffers->is_free)
		pthread_cond_wait(&buffers->returned, &buffers->mutex);

	int index = __builtin_ctz(buffers->is_free);

	buffers->is_free &= buffers->is_free - 1;
	pthread_mutex_unlock(&buffers->mutex);
	return buffers->memory + (size_t)index * TRANSFER_BUFFER_BYTES;
}

void transfer_buffers_return(struct transfer_buffers *buffers, const uint8_t *buffer)
{
	size_t index = (size_t)(buffer - buffers->memory) / TRANSFER_BUFFER_BYTES;

	assert(index < TRANSFER_BUFFERS);
	pthread_mutex_lock(&buffers->mutex);
	assert(!(buffers->is_free >> index & 1));
	buffers->is_free |= 1u << index;
	pthread_mutex_unlock(&buffers->mutex);
	pthread_cond_signal(&buffers->returned);
}
