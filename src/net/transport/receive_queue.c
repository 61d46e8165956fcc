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
		.sges_max = sges_max,
		.pd = pd,
	};
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

void receive_queue_lend(struct receive_queue *queue, void *memory)
{
	assert(queue->head == queue->tail && !queue->is_lent);
	free(queue->slots);
	queue->slots = memory;
	queue->is_lent = true;
}

void receive_queue_release(struct receive_queue *queue)
{
	if (!queue->is_lent)
		free(queue->slots);
	*queue = (struct receive_queue){0};
}

int receive_queue_post(struct receive_queue *queue, const struct receive_request *request)
{
	if (unlikely(request->sge_count > queue->sges_max))
		return -EINVAL;
	if (unlikely(receive_queue_count(queue) >= queue->requests_max))
		return -ENOMEM;

	struct receive_slot *slot = receive_queue_slot(queue, queue->tail);

	slot->wr_id = request->wr_id;
	slot->sge_count = request->sge_count;
	if (request->sge_count)
		memcpy(slot->sges, request->sges, request->sge_count * sizeof(*request->sges));
	queue->tail++;
	return 0;
}
