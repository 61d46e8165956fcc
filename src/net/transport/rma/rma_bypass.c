/* SPDX-License-Identifier: Apache-2.0 */
/* RMA: the bookkeeping of requester and responder. PSNs, MSN and completions are as if packets had
 * carried the requests (transport 3.5; transport 4.1; transport 4.6). */
#include "net/transport/rma/rma_bypass.h"

#include "net/memory/memory.h"
#include "net/transport/credits.h"
#include "net/transport/qp_state.h"
#include "net/transport/report.h"
#include "net/transport/request_packet.h"
#include "net/transport/requester.h"

static uint32_t needed_access(const struct send_slot *slot)
{
	static const uint8_t access[] = {
		[SEND_RDMA_WRITE] = ACCESS_REMOTE_WRITE,
		[SEND_RDMA_READ] = ACCESS_REMOTE_READ,
		[SEND_COMPARE_SWAP] = ACCESS_REMOTE_ATOMIC,
		[SEND_FETCH_ADD] = ACCESS_REMOTE_ATOMIC,
	};

	return slot->opcode < ARRAY_COUNT(access) ? access[slot->opcode] : 0;
}

/* A null region has no bytes to write to. */
static bool has_places(const struct send_slot *slot, const struct span *spans)
{
	for (uint32_t i = 0; i < slot->sge_count; i++)
		if (!spans[i].bytes)
			return false;
	return true;
}

/* Whether everything before the next request has been acknowledged. */
static bool has_nothing_outstanding(const struct qp *qp)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	return requester->cursor == queue->done && queue->done == queue->started &&
	       !requester->cursor_packet && qp->state == QP_RTS && !qp->attributes.rate_limit;
}

bool rma_bypass_simple(struct qp *qp, uint32_t byte_count_max, struct simple_request *ret_request)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;
	uint8_t *bytes;

	if (requester->cursor == queue->tail || !has_nothing_outstanding(qp) ||
	    requester->rnr_deadline != TIME_NEVER || requester->hold)
		return false;

	struct send_slot *slot = send_queue_slot(queue, requester->cursor);
	const bool is_read = slot->opcode == SEND_RDMA_READ;

	if ((slot->opcode != SEND_RDMA_WRITE && !is_read) || slot->fault || !slot->byte_count ||
	    slot->byte_count > byte_count_max)
		return false;
	/* A READ that the queue pair may not send at all fails in the engine, which reports it. */
	if (is_read && (qp->type != QP_RC || !qp->attributes.initiator_depth))
		return false;
	if (slot->flags & SEND_INLINE) {
		if (is_read)
			return false;
		bytes = slot->data;
	} else {
		const struct sge *sge = send_slot_sges(slot);

		if (slot->sge_count != 1 ||
		    memory_resolve(qp->environment->memory, qp->pd, sge->lkey, sge->address,
				   sge->byte_count, is_read ? ACCESS_LOCAL_WRITE : 0,
				   &bytes) != MEMORY_OK ||
		    !bytes)
			return false;
	}
	*ret_request = (struct simple_request){
		.bytes = bytes,
		.remote_address = slot->remote_address,
		.byte_count = slot->byte_count,
		.remote_key = slot->remote_key,
		.is_read = is_read,
	};
	return true;
}

bool rma_bypass_next(struct qp *qp, struct bypass *ret_bypass)
{
	struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	if (!has_nothing_outstanding(qp) || !requester_is_ready(qp))
		return false;

	struct send_slot *slot = send_queue_slot(queue, requester->cursor);
	uint32_t access = needed_access(slot);

	/* A faulty request goes to the engine, which reports the fault. */
	if (!access || !slot->byte_count || requester_slot_fault(qp, slot) != COMPLETION_SUCCESS)
		return false;
	*ret_bypass = (struct bypass){
		.opcode = slot->opcode,
		.access = access,
		.remote_key = slot->remote_key,
		.remote_address = slot->remote_address,
		.byte_count = send_slot_is_atomic(slot) ? ATOMIC_BYTES : slot->byte_count,
		.psn_count = request_packet_count(qp, slot),
		.compare_or_add = slot->compare_or_add,
		.swap = slot->swap,
	};
	ret_bypass->payload.byte_count = ret_bypass->byte_count;
	if (slot->flags & SEND_INLINE) {
		ret_bypass->payload.single = (struct span){slot->data, slot->byte_count};
		ret_bypass->payload.spans = &ret_bypass->payload.single;
		ret_bypass->payload.span_count = 1;
		return true;
	}
	ret_bypass->payload.spans = send_slot_spans(slot);
	ret_bypass->payload.span_count = slot->sge_count;
	return has_places(slot, send_slot_spans(slot));
}

/* A due ACK was due before the requests that follow, so it goes first. Then the peer sees its
 * completions in the usual order. */
uint32_t rma_bypass_done(struct qp *qp, time_ns now)
{
	struct requester *requester = &qp->requester;
	struct send_slot *slot = send_queue_slot(&requester->queue, requester->cursor);
	const uint32_t packet_count = request_packet_count(qp, slot);

	slot->first_psn = requester->next_psn;
	slot->packet_count = packet_count;
	requester_issue(requester, packet_count, false);
	requester->oldest_psn = requester->next_psn;
	qp->requests_go_first = false;
	report_send(qp, now, COMPLETION_SUCCESS);
	return packet_count;
}

bool rma_bypass_is_fit(const struct qp *qp)
{
	return qp->state == QP_RTS && !qp->attributes.rate_limit &&
	       (qp->type == QP_RC || qp->type == QP_UC) && qp->requester.queue.sges_max;
}

uint32_t rma_bypass_posted(struct qp *qp, time_ns now, const struct simple_request *request)
{
	struct requester *requester = &qp->requester;
	const uint32_t byte_count = request->byte_count;
	const uint32_t packet_count =
		byte_count <= qp->path_mtu ? 1 : (byte_count + qp->path_mtu - 1) / qp->path_mtu;

	requester->queue.tail++;
	requester_issue(requester, packet_count, false);
	requester->oldest_psn = requester->next_psn;
	qp->requests_go_first = false;
	report_unqueued_send(qp, now, request->is_read ? SEND_RDMA_READ : SEND_RDMA_WRITE,
			     request->flags, request->wr_id, byte_count);
	return packet_count;
}

bool rma_bypass_catch_up(struct qp *qp)
{
	struct responder *responder = &qp->responder;
	struct rma_progress *placed = responder->placed;
	uint64_t word = __atomic_load_n(placed->word, __ATOMIC_ACQUIRE);

	/* RMA requests come only between messages, and each uses at least one PSN. */
	if (word == placed->seen || !rma_words_have_one_tag(word, placed->seen) ||
	    responder->inbound != INBOUND_IDLE)
		return false;

	/* The requester updates the word before it sends its next packet. So a changed word is
	 * ahead of everything that came by packets, even if the PSNs have wrapped. */
	uint32_t message_count = (uint32_t)(word >> 24) - (uint32_t)(placed->seen >> 24);

	placed->seen = word;
	responder->expected_psn = psn_from((uint32_t)word);
	responder->msn = (responder->msn + message_count) & 0xffffff;
	responder->nak_is_due = false;
	responder->nak_was_sent = false;
	return true;
}
