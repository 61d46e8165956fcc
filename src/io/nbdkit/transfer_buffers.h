/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers between the clients' memory and the target's RDMA.
 *
 * They are registered once per connection, and a copy takes the place of two calls for each
 * command: a registration of its own, so that the target would lose access with its response, and a
 * deregistration, which has all processors pass a barrier.
 */
#ifndef SOFTIB_IO_NBDKIT_TRANSFER_BUFFERS_H
#define SOFTIB_IO_NBDKIT_TRANSFER_BUFFERS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "base/attributes.h"
#include "io/scsi/disk.h"

enum {
	TRANSFER_BUFFERS = 32, /* commands under way */
	TRANSFER_BUFFER_BYTES = SCSI_TRANSFER_BYTES_MAX,
};

struct transfer_buffers {
	uint8_t *memory; /* TRANSFER_BUFFERS of TRANSFER_BUFFER_BYTES */
	pthread_mutex_t mutex;
	pthread_cond_t returned;
	uint32_t is_free; /* a bit per buffer */
};

MUST_USE int transfer_buffers_open(struct transfer_buffers *buffers);
void transfer_buffers_close(struct transfer_buffers *buffers);

/* Waits until there is one; NULL: none came back in wait_ms. It is the lowest free one, so that a
 * client with few requests under way uses the same few buffers, which stay in a cache. */
uint8_t *transfer_buffers_take(struct transfer_buffers *buffers, int wait_ms);
/* The reading of CLOCK_MONOTONIC in wait_ms. */
struct timespec transfer_time_after(int wait_ms);
void transfer_buffers_return(struct transfer_buffers *buffers, const uint8_t *buffer);

#endif
