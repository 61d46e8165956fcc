/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of receive work requests: a queue pair's own, or one shared by many (vol 1, chapter 10).
 */
#ifndef SOFTIB_NET_TRANSPORT_RECEIVE_QUEUE_H
#define SOFTIB_NET_TRANSPORT_RECEIVE_QUEUE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/attributes.h"
#include "net/transport/work_request.h"

struct protection_domain;

/* A slot as it lies in the queue. */
struct receive_slot {
	uint64_t wr_id;
	uint32_t sge_count;
	uint32_t reserved;
	struct sge sges[]; /* sges_max of the queue */
};

struct receive_queue {
	uint8_t *slots;
	uint32_t slot_bytes;
	uint32_t slot_count; /* a power of two, >= requests_max */
	uint32_t requests_max;
	uint32_t head; /* free-running; next to be taken */
	uint32_t tail; /* free-running; next to be posted */
	uint16_t sges_max;
	bool matches_tags; /* the owner chooses the request, by the first bytes of a message */
	bool is_external;  /* the slots are in memory that the owner provided */
	struct protection_domain *pd;
};

static inline uint32_t receive_slot_bytes(uint32_t sges_max)
{
	return (uint32_t)(sizeof(struct receive_slot) + sges_max * sizeof(struct sge));
}

MUST_USE int receive_queue_init(struct receive_queue *queue, struct protection_domain *pd,
				uint32_t requests_max, uint32_t sges_max);
void receive_queue_release(struct receive_queue *queue);
/* The bytes that the slots need, and using memory of the owner for them. The queue is empty. */
size_t receive_queue_bytes(const struct receive_queue *queue);
void receive_queue_use_memory(struct receive_queue *queue, void *memory);

static inline uint32_t receive_queue_count(const struct receive_queue *queue)
{
	return queue->tail - queue->head;
}

static inline struct receive_slot *receive_queue_slot(const struct receive_queue *queue,
						      uint32_t position)
{
	return (struct receive_slot *)(queue->slots + (size_t)(position & (queue->slot_count - 1)) *
							      queue->slot_bytes);
}

/* -ENOMEM when full, -EINVAL with too many SGEs. */
MUST_USE static inline int receive_queue_post(struct receive_queue *queue,
					      const struct receive_request *request)
{
	if (unlikely(request->sge_count > queue->sges_max))
		return -EINVAL;
	if (unlikely(receive_queue_count(queue) >= queue->requests_max))
		return -ENOMEM;

	struct receive_slot *slot = receive_queue_slot(queue, queue->tail);

	slot->wr_id = request->wr_id;
	slot->sge_count = request->sge_count;
	if (likely(request->sge_count == 1))
		sge_copy(&request->sges[0], &slot->sges[0]);
	else if (request->sge_count)
		memcpy(slot->sges, request->sges, request->sge_count * sizeof(*request->sges));
	queue->tail++;
	return 0;
}

/* The oldest request that is not taken yet; NULL when empty. */
static inline struct receive_slot *receive_queue_first(const struct receive_queue *queue)
{
	return queue->head == queue->tail ? NULL : receive_queue_slot(queue, queue->head);
}

#endif
