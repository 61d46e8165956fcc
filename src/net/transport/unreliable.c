/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving on the services that send no responses (vol 1, chapter 9; transport 5.2). */
#include "net/transport/unreliable.h"

#include "net/transport/inbound.h"
#include "net/transport/payload_scatter.h"
#include "net/transport/port_view.h"
#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"
#include "net/transport/report.h"
#include "net/transport/rma/rma_bypass.h"
#include "wire/mtu.h"
#include "wire/packet.h"
#include "wire/pkey.h"

/* Drops the message in progress. Its receive request is reused; one of a shared queue completes in
 * error instead. */
static void abandon(struct qp *qp, time_ns now)
{
	struct responder *responder = &qp->responder;

	if (responder->has_receive && qp_is_shared(qp))
		report_receive_error(qp, now, COMPLETION_REMOTE_ABORTED);
	responder->has_receive = false;
	responder->inbound = INBOUND_IDLE;
}

static void break_receiver(struct qp *qp, time_ns now, enum completion_status status)
{
	report_receive_error(qp, now, status);
	qp_enter_error(qp, now);
}

static enum verdict validate(struct qp *qp, time_ns now, struct inbound *inbound)
{
	if (unlikely(qp->responder.placed))
		(void)rma_bypass_catch_up(qp);
	/* A lost packet loses its whole message; a new message may begin here (transport 5.2). */
	if (!psn_equal(inbound->packet->bth.psn, qp->responder.expected_psn) ||
	    inbound_check_sequence(qp, inbound) != VERDICT_ACCEPT)
		abandon(qp, now);

	enum verdict verdict = inbound_check_sequence(qp, inbound);

	if (verdict == VERDICT_ACCEPT)
		verdict = inbound_check_request(qp, inbound);
	return verdict;
}

void unreliable_connection_receive(struct qp *qp, time_ns now, const struct packet *packet)
{
	struct inbound inbound;

	inbound_init(&inbound, packet);

	enum verdict verdict = validate(qp, now, &inbound);

	if (verdict == VERDICT_ACCEPT)
		verdict = inbound_execute(qp, now, &inbound);
	if (verdict == VERDICT_LOCAL_PROTECTION) {
		break_receiver(qp, now, COMPLETION_LOCAL_PROTECTION);
		return;
	}
	if (verdict != VERDICT_ACCEPT) {
		/* Class E: a request that this message took from a shared queue ends with it
		 * (transport 5.5). */
		if (inbound.info->takes_receive && !qp->responder.has_receive && qp_is_shared(qp) &&
		    (verdict == VERDICT_BAD_LENGTH || verdict == VERDICT_REMOTE_ACCESS))
			report_receive_take(qp);
		abandon(qp, now);
		return;
	}
	qp->responder.expected_psn = psn_add(packet->bth.psn, packet->packet_count);
}

static enum memory_verdict place_datagram(const struct qp *qp, const struct receive_slot *slot,
					  const struct packet *packet)
{
	const struct memory *memory = qp->environment->memory;
	const struct protection_domain *pd = qp->receive_queue->pd;
	enum memory_verdict verdict = MEMORY_OK;
	uint8_t header[GRH_BYTES];
	struct span span = {header, sizeof(header)};
	struct payload grh = {.spans = &span, .span_count = 1, .byte_count = GRH_BYTES};

	if (packet->has_grh) {
		grh_encode(&packet->grh, header);
		verdict = payload_scatter(memory, pd, slot->sges, slot->sge_count, 0, &grh, 0,
					  GRH_BYTES);
	}
	if (verdict == MEMORY_OK)
		verdict = payload_scatter(memory, pd, slot->sges, slot->sge_count, GRH_BYTES,
					  &packet->payload, 0, packet->payload.byte_count);
	return verdict;
}

static void complete_datagram(struct qp *qp, time_ns now, const struct packet *packet)
{
	bool has_immediate = opcode_info(packet->bth.opcode)->has_immediate;
	uint16_t dlid = packet->lrh.dlid;
	struct completion completion = {
		.status = COMPLETION_SUCCESS,
		.opcode = COMPLETED_RECEIVE,
		.flags = (uint8_t)((packet->has_grh ? COMPLETION_HAS_GRH : 0) |
				   (has_immediate ? COMPLETION_HAS_IMMEDIATE : 0)),
		.is_solicited = packet->bth.solicited,
		.byte_count = GRH_BYTES + packet->payload.byte_count,
		.immediate_or_rkey = has_immediate ? packet->immediate : 0,
		.source_qpn = packet->deth.source_qpn,
		.slid = packet->lrh.slid,
		.sl = packet->lrh.sl,
		.pkey_index = qp->attributes.pkey_index,
		.path_bits =
			(uint8_t)(lid_is_unicast(dlid) ? dlid & ((1u << qp->port->lmc) - 1) : 0),
	};

	report_receive(qp, now, &completion);
}

void datagram_receive(struct qp *qp, time_ns now, const struct packet *packet)
{
	struct receive_slot *slot = report_receive_slot(qp);

	if (!slot || packet->packet_count != 1 ||
	    packet->payload.byte_count > mtu_bytes(qp->port->mtu_code))
		return;
	/* The first 40 bytes are reserved for the GRH, even if the packet has none (transport 5.6).
	 */
	if (GRH_BYTES + packet->payload.byte_count > sges_bytes(slot->sges, slot->sge_count)) {
		if (qp_is_shared(qp))
			report_receive_error(qp, now, COMPLETION_REMOTE_ABORTED);
		return;
	}
	report_receive_take(qp);
	if (place_datagram(qp, report_receive_slot(qp), packet) != MEMORY_OK) {
		break_receiver(qp, now, COMPLETION_LOCAL_PROTECTION);
		return;
	}
	complete_datagram(qp, now, packet);
}
