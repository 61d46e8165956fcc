/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of receive work requests (vol 1, chapter 10). */
#include "net/transport/receive_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int receive_queue_init(struct receive_queue *queue, struct protection_domain *pd,
		       uint32_t requests_max, uint32_t sges_max)
{
	*queue = (struct receive_queue){
		.slot_bytes = receive_slot_bytes(sges_max),
		.slot_count = 1,
		.requests_max = requests_max,
		.sges_max = (uint16_t)sges_max,
		.pd = pd,
	};
	if (sges_max > UINT16_MAX)
		return -EINVAL;
	while (queue->slot_count < requests_max)
		queue->slot_count *= 2;
	if (!requests_max)
		return 0;
	queue->slots = malloc((size_t)queue->slot_count * queue->slot_bytes);
	return queue->slots ? 0 : -ENOMEM;
}

size_t receive_queue_bytes(const struct receive_queue *queue)
{
	return queue->slots ? (size_t)queue->slot_count * queue->slot_bytes : 0;
}

void receive_queue_use_memory(struct receive_queue *queue, void *memory)
{
	assert(queue->head == queue->tail && !queue->is_external);
	free(queue->slots);
	queue->slots = memory;
	queue->is_external = true;
}

void receive_queue_release(struct receive_queue *queue)
{
	if (!queue->is_external)
		free(queue->slots);
	*queue = (struct receive_queue){0};
}
