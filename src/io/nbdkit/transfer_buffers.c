/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of commands: taken and returned by the clients' threads. */
#include "io/nbdkit/transfer_buffers.h"

#include <errno.h>
#include <sys/mman.h>
#include "base/time.h"

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

struct timespec transfer_time_after(int wait_ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);

	time_ns until = SECONDS(now.tv_sec) + (time_ns)now.tv_nsec + MILLISECONDS(wait_ms);

	return (struct timespec){.tv_sec = (time_t)(until / SECONDS(1)),
				 .tv_nsec = (long)(until % SECONDS(1))};
}

uint8_t *transfer_buffers_take(struct transfer_buffers *buffers, int wait_ms)
{
	int error = 0;

	pthread_mutex_lock(&buffers->mutex);
	if (!buffers->is_free) {
		struct timespec until = transfer_time_after(wait_ms);

		while (!buffers->is_free && !error)
			error = pthread_cond_clockwait(&buffers->returned, &buffers->mutex,
						       CLOCK_MONOTONIC, &until);
	}
	if (!buffers->is_free) {
		pthread_mutex_unlock(&buffers->mutex);
		return NULL;
	}

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
