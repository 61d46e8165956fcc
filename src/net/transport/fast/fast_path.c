/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of requests in the send queue, and of their ACKs: see fast_path.h. */
#include "net/transport/fast/short_packets.h"

#include "net/memory/gaps.h"
#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "net/transport/completer.h"
#include "net/transport/qp_error.h"
#include "wire/pkey.h"

/* Whether the request at the cursor of a queue pair in RTS has not been started, and neither an RNR
 * NAK nor the owner, a rate limit, credits or a fence holds it back. */
static bool may_begin(const struct qp *qp, const struct send_slot *slot, uint32_t packet_count)
{
	const struct requester *requester = &qp->requester;

	if (requester->cursor != requester->queue.started ||
	    requester->rnr_deadline != TIME_NEVER || requester->hold != HOLD_NONE ||
	    qp->attributes.rate_limit || slot->fault ||
	    (slot->opcode != SEND_SEND && slot->opcode != SEND_SEND_IMMEDIATE))
		return false;
	if (qp->type != QP_RC)
		return true;
	if (requester->credits == CREDITS_COUNTED ||
	    ((slot->flags & SEND_FENCE) && requester->reads_outstanding))
		return false;
	return fast_has_psns(requester, packet_count);
}

static bool find_payload(const struct qp *qp, struct send_slot *slot, const uint8_t **ret_payload)
{
	const struct sge *sge = send_slot_sges(slot);
	uint8_t *bytes = slot->data;

	*ret_payload = slot->data;
	if (slot->flags & SEND_INLINE || !slot->byte_count)
		return true;
	if (slot->sge_count != 1 ||
	    memory_resolve(qp->environment->memory, qp->pd, sge->lkey, sge->address,
			   sge->byte_count, 0, &bytes) != MEMORY_OK)
		return false;
	*ret_payload = bytes;
	return true;
}

/* Finds the packet of the request at the cursor of a queue pair in RTS, if it is a SEND of at most
 * byte_count_max bytes. */
static bool find_next(struct qp *qp, uint32_t byte_count_max, uint32_t packet_count,
		      struct fast_packet *ret_packet)
{
	const struct requester *requester = &qp->requester;
	struct send_slot *slot = send_queue_slot(&requester->queue, requester->cursor);
	bool is_datagram = qp->type == QP_UD;

	if (!may_begin(qp, slot, packet_count) || slot->byte_count > byte_count_max)
		return false;
	if (is_datagram ? slot->address.is_global || !lid_is_unicast(slot->address.dlid)
			: !fast_headers_are_known(qp))
		return false;
	if (!find_payload(qp, slot, &ret_packet->payload))
		return false;
	ret_packet->payload_bytes = slot->byte_count;
	ret_packet->header_bytes = FAST_HEADER_BYTES + (is_datagram ? DETH_BYTES : 0) +
				   (slot->opcode == SEND_SEND_IMMEDIATE ? IMMEDIATE_BYTES : 0);
	ret_packet->byte_count = ret_packet->header_bytes + ((slot->byte_count + 3) & ~3u);
	ret_packet->packet_count = packet_count;
	ret_packet->asks_ack = true;
	ret_packet->is_zcopy = false;
	return true;
}

bool fast_next(struct qp *qp, struct fast_packet *ret_packet)
{
	const struct requester *requester = &qp->requester;

	return requester->cursor != requester->queue.tail && qp->state == QP_RTS &&
	       fast_is_plain_type(qp) && find_next(qp, fast_largest_packet(qp), 1, ret_packet) &&
	       memory_has_pages(qp->environment->memory, ret_packet->payload,
				ret_packet->payload_bytes);
}

bool fast_next_zcopy(struct qp *qp, struct fast_packet *ret_packet)
{
	const struct requester *requester = &qp->requester;
	const struct send_slot *slot;

	if (qp->type != QP_RC || qp->state != QP_RTS || requester->cursor == requester->queue.tail)
		return false;
	slot = send_queue_slot(&requester->queue, requester->cursor);
	if (!slot->byte_count || slot->flags & SEND_INLINE ||
	    !find_next(qp, FAST_ZCOPY_BYTES_MAX, fast_packets_of(qp, slot->byte_count), ret_packet))
		return false;
	ret_packet->is_zcopy = true;
	return true;
}

void fast_ud_zcopy_done(struct qp *qp, time_ns now)
{
	const struct send_queue *queue = &qp->requester.queue;

	/* The oldest request that is not done is a zcopy one, since any other would be done. Others
	 * wait behind it. */
	do
		report_send(qp, now, COMPLETION_SUCCESS);
	while (queue->done != queue->started &&
	       !(send_queue_slot(queue, queue->done)->flags & SEND_ZCOPY));
	report_drain(qp);
	qp_settle(qp, now);
}

void fast_write(struct qp *qp, time_ns now, const struct fast_packet *packet, uint8_t *ret_bytes)
{
	struct send_slot *slot = send_queue_slot(&qp->requester.queue, qp->requester.cursor);
	const struct fast_message message = {
		.opcode = slot->opcode,
		.flags = slot->flags,
		.immediate = slot->immediate_or_rkey,
		.address = &slot->address,
		.qpn = slot->remote_qpn,
		.qkey = slot->remote_qkey,
	};

	fast_write_packet(qp, packet, &message, qp->type == QP_UD, ret_bytes);
	fast_advance(qp, now, slot, packet);
}

bool fast_acknowledge(struct qp *qp, time_ns now, struct psn psn)
{
	struct requester *requester = &qp->requester;

	/* In these states an ACK changes more than the retry timer, and that needs the time. */
	if (qp->type != QP_RC || qp->state != QP_RTS || requester->is_awaiting ||
	    requester->reads_outstanding || requester->rnr_deadline != TIME_NEVER ||
	    qp->attributes.path_migration != PATH_MIGRATED)
		return false;
	completer_acknowledge(qp, now, psn);
	if (requester->retry_deadline != TIME_NEVER)
		requester->retry_deadline = RETRY_UNDATED;
	qp_settle(qp, now);
	return true;
}
