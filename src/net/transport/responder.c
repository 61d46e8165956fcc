/* SPDX-License-Identifier: Apache-2.0 */
/* The responder of a reliable connection (vol 1, chapter 9; transport 5.2). */
#include "net/transport/responder.h"

#include "net/transport/duplicates.h"
#include "net/transport/inbound.h"
#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"
#include "net/transport/rd/rd_hooks.h"
#include "net/transport/report.h"
#include "net/transport/responses.h"
#include "net/transport/rma/rma_bypass.h"
#include "wire/packet.h"

static enum verdict check_psn(struct qp *qp, struct inbound *inbound)
{
	int32_t ahead = psn_distance(qp->responder.expected_psn, inbound->packet->bth.psn);

	if (likely(ahead == 0))
		return VERDICT_ACCEPT;
	/* RMA may have used the PSNs that seem to be missing. */
	if (qp->responder.placed && rma_bypass_catch_up(qp))
		ahead = psn_distance(qp->responder.expected_psn, inbound->packet->bth.psn);
	if (ahead == 0)
		return VERDICT_ACCEPT;
	if (ahead > 0)
		return VERDICT_AHEAD;
	if ((uint32_t)-ahead >= inbound->packet_count)
		return VERDICT_DUPLICATE;
	inbound_trim(inbound, (uint32_t)-ahead, qp->path_mtu);
	return VERDICT_ACCEPT;
}

static enum verdict validate(struct qp *qp, struct inbound *inbound)
{
	enum verdict verdict = check_psn(qp, inbound);

	if (verdict == VERDICT_ACCEPT && unlikely(qp->type == QP_EEC))
		verdict = qp->environment->rd->check_destination(qp, inbound);
	if (verdict == VERDICT_ACCEPT)
		verdict = inbound_check_sequence(qp, inbound);
	if (verdict == VERDICT_ACCEPT)
		verdict = inbound_choose_queue(qp, inbound);
	if (verdict == VERDICT_ACCEPT)
		verdict = inbound_check_request(qp, inbound);
	return verdict;
}

/* How a request that breaks the connection is answered and reported: one row per fault class (vol
 * 1, chapter 9; transport 5.5). */
struct fatal_fault {
	int nak;	     /* enum nak_code; -1: no response at all */
	uint8_t status;	     /* of the receive request that the message holds or would have taken */
	enum qp_event event; /* if there is no receive request */
};

static const struct fatal_fault fatal_faults[] = {
	[VERDICT_BAD_SEQUENCE] = {NAK_INVALID_REQUEST, COMPLETION_LOCAL_QP_OPERATION,
				  QP_EVENT_REQUEST_ERROR},
	[VERDICT_INVALID_REQUEST] = {NAK_INVALID_REQUEST, COMPLETION_LOCAL_QP_OPERATION,
				     QP_EVENT_REQUEST_ERROR},
	[VERDICT_BAD_LENGTH] = {NAK_INVALID_REQUEST, COMPLETION_LOCAL_LENGTH,
				QP_EVENT_REQUEST_ERROR},
	[VERDICT_REMOTE_ACCESS] = {NAK_REMOTE_ACCESS, COMPLETION_LOCAL_ACCESS,
				   QP_EVENT_ACCESS_ERROR},
	[VERDICT_LOCAL_PROTECTION] = {NAK_REMOTE_OPERATIONAL, COMPLETION_LOCAL_PROTECTION,
				      QP_EVENT_FATAL},
	[VERDICT_INVALIDATE_REFUSED] = {-1, COMPLETION_LOCAL_QP_OPERATION, QP_EVENT_FATAL},
	[VERDICT_INVALID_RD_REQUEST] = {NAK_INVALID_RD_REQUEST, COMPLETION_REMOTE_ABORTED,
					QP_EVENT_REQUEST_ERROR},
};

/* Whether a receive request reports the fault: the one that the message holds, or that this packet
 * would have taken. */
static bool has_receive_to_blame(const struct qp *qp, const struct inbound *inbound,
				 enum verdict verdict)
{
	if (qp->responder.has_receive)
		return true;
	if (verdict == VERDICT_BAD_SEQUENCE || verdict == VERDICT_INVALID_REQUEST)
		return false;
	return inbound->info->takes_receive;
}

static void break_connection(struct qp *qp, time_ns now, const struct inbound *inbound,
			     enum verdict verdict)
{
	const struct fatal_fault *fault = &fatal_faults[verdict];

	if (unlikely(qp->type == QP_EEC)) {
		qp->environment->rd->fault(qp, now, inbound, verdict, (unsigned)fault->nak);
		return;
	}
	if (has_receive_to_blame(qp, inbound, verdict))
		report_receive_error(qp, now, (enum completion_status)fault->status);
	else
		qp->environment->event(qp, fault->event);
	if (fault->nak >= 0) {
		responses_nak(qp, qp->responder.expected_psn,
			      aeth_syndrome(AETH_NAK, (unsigned)fault->nak));
		qp->answers_last_nak = true;
	}
	qp_enter_error(qp, now);
}

static void nak_once(struct qp *qp, uint8_t syndrome)
{
	if (!qp->responder.nak_was_sent)
		responses_nak(qp, qp->responder.expected_psn, syndrome);
}

static void accept(struct qp *qp, time_ns now, const struct inbound *inbound)
{
	struct responder *responder = &qp->responder;
	const struct opcode_info *info = inbound->info;
	enum verdict verdict = inbound_execute(qp, now, inbound);

	if (unlikely(verdict != VERDICT_ACCEPT)) {
		break_connection(qp, now, inbound, verdict);
		return;
	}
	responder->expected_psn = psn_add(responder->expected_psn, inbound_psn_count(qp, inbound));
	responder->nak_is_due = false;
	responder->nak_was_sent = false;
	if (info->ends_message)
		responder->msn = (responder->msn + 1) & 0xffffff;
	if (inbound->packet->bth.ack_request &&
	    (info->kind == OPCODE_KIND_SEND || info->kind == OPCODE_KIND_WRITE))
		responses_acknowledge(qp, psn_previous(responder->expected_psn));
}

void responder_receive(struct qp *qp, time_ns now, const struct packet *packet)
{
	struct inbound inbound;

	inbound_init(&inbound, packet);

	enum verdict verdict = validate(qp, &inbound);

	switch (verdict) {
	case VERDICT_ACCEPT:
		accept(qp, now, &inbound);
		break;
	case VERDICT_DUPLICATE:
		duplicate_receive(qp, packet);
		break;
	case VERDICT_AHEAD:
		nak_once(qp, aeth_syndrome(AETH_NAK, NAK_PSN_SEQUENCE));
		break;
	case VERDICT_NOT_READY:
		/* Not limited to once: each try of the expected packet gets its RNR NAK. */
		responses_nak(qp, qp->responder.expected_psn,
			      aeth_syndrome(AETH_RNR_NAK, qp->attributes.min_rnr_timer));
		if (unlikely(qp->type == QP_EEC))
			qp->environment->rd->refuse(qp, qp->responder.nak_syndrome);
		break;
	case VERDICT_STILL_REFUSED:
		qp->environment->rd->refuse_again(qp);
		break;
	case VERDICT_BAD_SEQUENCE:
	case VERDICT_INVALID_REQUEST:
	case VERDICT_BAD_LENGTH:
	case VERDICT_REMOTE_ACCESS:
	case VERDICT_LOCAL_PROTECTION:
	case VERDICT_INVALIDATE_REFUSED:
	case VERDICT_INVALID_RD_REQUEST:
		break_connection(qp, now, &inbound, verdict);
		break;
	}
}
