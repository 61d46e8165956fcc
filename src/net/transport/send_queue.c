/* SPDX-License-Identifier: Apache-2.0 */
/* A queue pair's posted send requests (vol 1, chapter 10). */
#include "net/transport/send_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "net/transport/completion.h"
#include "wire/packet.h"

enum { SLOT_ALIGNMENT = 16 };

uint32_t send_queue_inline_room(uint32_t sges_max)
{
	return (uint32_t)(sges_max * (sizeof(struct sge) + sizeof(struct span)));
}

int send_queue_init(struct send_queue *queue, uint32_t requests_max, uint32_t sges_max,
		    uint32_t inline_bytes_max)
{
	*queue = (struct send_queue){.slot_count = 1, .requests_max = requests_max};
	if (sges_max > SEND_SGES_MAX || inline_bytes_max > SEND_INLINE_BYTES_MAX)
		return -EINVAL;

	size_t data_bytes = send_queue_inline_room(sges_max);

	if (data_bytes < inline_bytes_max)
		data_bytes = inline_bytes_max;
	data_bytes = (data_bytes + SLOT_ALIGNMENT - 1) & ~(size_t)(SLOT_ALIGNMENT - 1);
	queue->slot_bytes = (uint32_t)(sizeof(struct send_slot) + data_bytes);
	queue->sges_max = (uint16_t)sges_max;
	queue->inline_bytes_max = (uint16_t)inline_bytes_max;
	while (queue->slot_count < requests_max)
		queue->slot_count *= 2;
	if (!requests_max)
		return 0;
	queue->slots = malloc((size_t)queue->slot_count * queue->slot_bytes);
	return queue->slots ? 0 : -ENOMEM;
}

size_t send_queue_bytes(const struct send_queue *queue)
{
	return queue->slots ? (size_t)queue->slot_count * queue->slot_bytes : 0;
}

void send_queue_use_memory(struct send_queue *queue, void *memory)
{
	assert(queue->head == queue->tail && !queue->is_external);
	free(queue->slots);
	queue->slots = memory;
	queue->is_external = true;
}

void send_queue_release(struct send_queue *queue)
{
	if (!queue->is_external)
		free(queue->slots);
	*queue = (struct send_queue){0};
}

void send_queue_clear(struct send_queue *queue)
{
	queue->head = 0;
	queue->done = 0;
	queue->started = 0;
	queue->tail = 0;
}

static void copy_inline(const struct send_request *request, uint8_t *ret_bytes)
{
	/* A copy of eight bytes needs no call. */
	if (request->sge_count == 1 && request->sges[0].byte_count == sizeof(uint64_t)) {
		memcpy(ret_bytes, (const void *)(uintptr_t)request->sges[0].address,
		       sizeof(uint64_t));
		return;
	}
	for (uint32_t i = 0; i < request->sge_count; i++) {
		const struct sge *sge = &request->sges[i];

		if (sge->byte_count)
			memcpy(ret_bytes, (const void *)(uintptr_t)sge->address, sge->byte_count);
		ret_bytes += sge->byte_count;
	}
}

static void copy_addressing(const struct send_request *request, enum send_addressing addressing,
			    struct send_slot *ret_slot)
{
	if (addressing == SEND_DATAGRAM) {
		ret_slot->address = *request->address;
		ret_slot->address_origin = request->address;
		ret_slot->remote_qpn = request->remote_qpn;
		ret_slot->remote_qkey = request->remote_qkey;
		return;
	}
	ret_slot->remote_address = request->remote_address;
	ret_slot->remote_key = request->remote_key;
	ret_slot->remote_srqn = request->remote_srqn;
	if (unlikely(addressing == SEND_BY_EEC)) {
		ret_slot->eecn = request->eecn;
		ret_slot->rd_qpn = request->remote_qpn;
		ret_slot->rd_qkey = request->remote_qkey;
	}
	if (unlikely(request->opcode == SEND_BIND_WINDOW)) {
		ret_slot->bind_byte_count = request->bind_byte_count;
		ret_slot->bind_region_key = request->bind_region_key;
		ret_slot->bind_access = request->bind_access;
		return;
	}
	if (unlikely(request->opcode == SEND_FLUSH)) {
		ret_slot->flush_byte_count = request->flush_byte_count;
		ret_slot->flush_placement = request->flush_placement;
		ret_slot->flush_selectivity = request->flush_selectivity;
		return;
	}
	ret_slot->compare_or_add = request->compare_or_add;
	ret_slot->swap = request->swap;
}

int send_queue_post(struct send_queue *queue, const struct send_request *request,
		    enum send_addressing addressing)
{
	uint64_t byte_count = 0;

	uint32_t sges_max = request->flags & SEND_INLINE ? SEND_SGES_MAX : queue->sges_max;

	if (unlikely(request->sge_count > sges_max))
		return -EINVAL;
	if (likely(request->sge_count == 1))
		byte_count = request->sges[0].byte_count;
	else
		for (uint32_t i = 0; i < request->sge_count; i++)
			byte_count += request->sges[i].byte_count;
	if (unlikely((request->flags & SEND_INLINE) && byte_count > queue->inline_bytes_max))
		return -EINVAL;
	if (unlikely(send_queue_is_full(queue)))
		return -ENOMEM;

	struct send_slot *slot = send_queue_slot(queue, queue->tail);

	slot->wr_id = request->wr_id;
	slot->immediate_or_rkey = request->immediate_or_rkey;
	slot->byte_count = (uint32_t)byte_count;
	slot->opcode = (uint8_t)request->opcode;
	slot->flags = (uint8_t)(request->flags & SEND_FLAGS);
	slot->fault = byte_count > MESSAGE_BYTES_MAX ? COMPLETION_LOCAL_LENGTH : COMPLETION_SUCCESS;
	copy_addressing(request, addressing, slot);
	if (request->flags & SEND_INLINE) {
		slot->sge_count = 0;
		copy_inline(request, slot->data);
	} else {
		slot->sge_count = (uint8_t)request->sge_count;
		if (request->sge_count)
			memcpy(slot->data, request->sges, request->sge_count * sizeof(struct sge));
	}
	queue->tail++;
	return 0;
}
