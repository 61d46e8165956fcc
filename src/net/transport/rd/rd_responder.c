/* SPDX-License-Identifier: Apache-2.0 */
/* The responder of an EE context (vol 1, chapter 9). */
#include "net/transport/rd/rd_responder.h"

#include "net/transport/admission.h"
#include "net/transport/rd/ee_context.h"
#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"
#include "net/transport/rd/rd_queue.h"
#include "net/transport/report.h"
#include "net/transport/responder.h"
#include "net/transport/responses.h"
#include "wire/packet.h"

/* The queue pair of this number, if it takes requests; NULL: none. */
static struct rd_queue *find_destination(const struct qp *channel, uint32_t qpn)
{
	struct qp *qp = channel->environment->find_qp(channel, qpn);

	if (!qp || qp->type != QP_RD || qp->rd_queue->domain != channel->eec->domain)
		return NULL;
	return qp->state >= QP_RTR && qp->state != QP_ERROR ? qp->rd_queue : NULL;
}

enum verdict rd_check_destination(struct qp *channel, const struct inbound *inbound)
{
	const struct packet *packet = inbound->packet;
	const struct rd_queue *found;

	if (channel->eec->is_refusing)
		return VERDICT_STILL_REFUSED;
	found = find_destination(channel, packet->bth.destination_qpn);
	if (!found)
		return VERDICT_INVALID_RD_REQUEST;
	if (packet->deth.qkey == found->qp->attributes.qkey)
		return VERDICT_ACCEPT;
	admission_violation(channel, packet, VIOLATED_QKEY);
	return VERDICT_INVALID_RD_REQUEST;
}

static void set_destination(struct eec *eec, struct rd_queue *destination)
{
	list_remove(&eec->inbound_link);
	eec->destination = destination;
	if (destination)
		list_append(&destination->inbound, &eec->inbound_link);
	eec->channel->receive_queue = destination ? destination->qp->receive_queue : NULL;
}

enum verdict rd_choose_destination(struct qp *channel, const struct inbound *inbound)
{
	struct eec *eec = channel->eec;
	struct rd_queue *found = find_destination(channel, inbound->packet->bth.destination_qpn);

	if (inbound->info->starts_message)
		set_destination(eec, found);
	/* A message is for one queue pair from its beginning to its end. */
	if (!found || found != eec->destination)
		return VERDICT_BAD_SEQUENCE;
	channel->attributes.access = found->qp->attributes.access;
	channel->attributes.min_rnr_timer = found->qp->attributes.min_rnr_timer;
	return VERDICT_ACCEPT;
}

void rd_refuse(struct qp *channel, uint8_t syndrome)
{
	channel->eec->is_refusing = true;
	channel->eec->refusal = syndrome;
	responses_nak(channel, channel->responder.expected_psn, syndrome);
}

void rd_refuse_again(struct qp *channel)
{
	responses_nak(channel, channel->responder.expected_psn, channel->eec->refusal);
}

/* The status for the receive request that the message holds, or that it would have taken but is too
 * long for. Success: no completion, the request stays for another message. */
static enum completion_status receive_status(const struct qp *channel,
					     const struct inbound *inbound, enum verdict verdict)
{
	bool has_receive = channel->responder.has_receive;

	if (verdict == VERDICT_BAD_LENGTH && inbound->info->kind == OPCODE_KIND_SEND)
		return COMPLETION_LOCAL_LENGTH;
	if (verdict == VERDICT_LOCAL_PROTECTION)
		return COMPLETION_LOCAL_PROTECTION;
	return has_receive ? COMPLETION_REMOTE_ABORTED : COMPLETION_SUCCESS;
}

void rd_fault(struct qp *channel, time_ns now, const struct inbound *inbound, enum verdict verdict,
	      unsigned nak_code)
{
	struct rd_queue *destination = channel->eec->destination;
	enum completion_status status = receive_status(channel, inbound, verdict);

	if (destination && status != COMPLETION_SUCCESS)
		report_receive_error(channel, now, status);
	channel->responder.inbound = INBOUND_IDLE;
	rd_refuse(channel, aeth_syndrome(AETH_NAK, nak_code));
	set_destination(channel->eec, NULL);
	/* The receive request itself is bad, so this queue pair can't continue whoever sends to it.
	 */
	if (verdict == VERDICT_LOCAL_PROTECTION && destination) {
		qp_enter_error(destination->qp, now);
		qp_settle(destination->qp, now);
	}
}

static void end_inbound(struct eec *eec, time_ns now, enum completion_status status)
{
	struct qp *channel = eec->channel;

	if (channel->responder.has_receive)
		report_receive_error(channel, now, status);
	channel->responder.inbound = INBOUND_IDLE;
	set_destination(eec, NULL);
}

void rd_lose_destination(struct eec *eec, time_ns now)
{
	end_inbound(eec, now, COMPLETION_FLUSHED);
}

void rd_abort_inbound(struct eec *eec, time_ns now)
{
	end_inbound(eec, now, COMPLETION_REMOTE_ABORTED);
}

const struct protection_domain *rd_saved_domain(const struct qp *channel, uint32_t qpn)
{
	const struct rd_queue *found = find_destination(channel, qpn);

	return found ? found->qp->pd : NULL;
}

/* The requester has abandoned a message and continues behind this PSN. A RESYNC is no message, so
 * the MSN stays (transport 9.3). */
static void resync(struct qp *channel, time_ns now, const struct packet *packet)
{
	struct responder *responder = &channel->responder;

	if (psn_before(packet->bth.psn, responder->expected_psn)) {
		responses_acknowledge(channel, psn_previous(responder->expected_psn));
		return;
	}
	rd_abort_inbound(channel->eec, now);
	channel->eec->is_refusing = false;
	responder->saved_pending = 0;
	responder->nak_is_due = false;
	responder->nak_was_sent = false;
	responder->expected_psn = psn_add(packet->bth.psn, 1);
	responses_acknowledge(channel, packet->bth.psn);
}

void rd_responder_receive(struct qp *channel, time_ns now, const struct packet *packet)
{
	struct eec *eec = channel->eec;

	eec->peer_qpn = packet->deth.source_qpn;
	if (opcode_info(packet->bth.opcode)->kind == OPCODE_KIND_RESYNC) {
		resync(channel, now, packet);
		return;
	}
	responder_receive(channel, now, packet);
	if (channel->responder.inbound == INBOUND_IDLE)
		set_destination(eec, NULL);
}
