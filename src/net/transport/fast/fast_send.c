/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of queued SENDs by reference, and of ACKs: see fast_send.h. */
#include "net/transport/fast/fast_send.h"

#include "net/transport/completer.h"

/* The queued request as its consumer posted it. */
static struct send_request request_of(struct send_slot *slot)
{
	return (struct send_request){
		.opcode = (enum send_opcode)slot->opcode,
		.flags = slot->flags,
		.immediate_or_rkey = slot->immediate_or_rkey,
		.sge_count = slot->sge_count,
		.sges = send_slot_sges(slot),
	};
}

/* Whether the request at the cursor has not been started, and neither an RNR NAK nor the owner,
 * credits or a fence holds it back. */
static bool may_begin(const struct qp *qp, const struct send_slot *slot, uint32_t packet_count)
{
	const struct requester *requester = &qp->requester;

	return requester->cursor == requester->queue.started &&
	       requester->rnr_deadline == TIME_NEVER && requester->hold == HOLD_NONE &&
	       !slot->fault && requester->credits != CREDITS_COUNTED &&
	       !((slot->flags & SEND_FENCE) && requester->reads_outstanding) &&
	       fast_has_psns(requester, packet_count);
}

bool fast_next_zcopy(struct qp *qp, struct fast_packet *ret_packet)
{
	const struct requester *requester = &qp->requester;

	if (qp->type != QP_RC || requester->cursor == requester->queue.tail ||
	    !send_template_holds(qp) || !qp->templates->send.may_send)
		return false;

	struct send_slot *slot = send_queue_slot(&requester->queue, requester->cursor);
	const struct send_request request = request_of(slot);
	const uint32_t packet_count = fast_packets_of(qp, slot->byte_count);

	if ((slot->opcode | 1) != SEND_SEND_IMMEDIATE || slot->flags & SEND_INLINE ||
	    slot->sge_count != 1 || !slot->byte_count || slot->byte_count > FAST_ZCOPY_BYTES_MAX ||
	    !may_begin(qp, slot, packet_count) || !fast_find_payload(qp, &request, ret_packet))
		return false;
	fast_measure(QP_RC, &request, packet_count, ret_packet);
	ret_packet->is_zcopy = true;
	return true;
}

void fast_write_next(const struct qp *qp, const struct fast_packet *packet, uint8_t *ret_bytes)
{
	const struct requester *requester = &qp->requester;
	const struct send_request request =
		request_of(send_queue_slot(&requester->queue, requester->cursor));

	fast_write(qp, QP_RC, &request, packet, ret_bytes);
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
