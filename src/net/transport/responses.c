/* SPDX-License-Identifier: Apache-2.0 */
/* The responder's packets, in request order (vol 1, chapter 9; transport 5.2). */
#include "net/transport/responses.h"

#include <errno.h>
#include <stdlib.h>
#include "net/memory/gaps.h"
#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "net/transport/credits.h"
#include "net/transport/rd/inbound_qp.h"
#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"
#include "net/transport/rd/rd_hooks.h"
#include "net/transport/report.h"

/* The n-th newest saved request, from 1. */
static struct saved_request *newest(const struct responder *responder, unsigned n)
{
	unsigned index = responder->saved_tail + responder->saved_count - n;

	return &responder->saved[index % responder->saved_count];
}

int responses_resize(struct qp *qp, uint8_t saved_count)
{
	struct responder *responder = &qp->responder;
	struct saved_request *saved = NULL;

	if (saved_count == responder->saved_count)
		return 0;
	if (saved_count) {
		saved = calloc(saved_count, sizeof(*saved));
		if (!saved)
			return -ENOMEM;
	}

	uint8_t kept = saved_count < responder->saved_count ? saved_count : responder->saved_count;

	for (uint8_t i = 0; i < kept; i++)
		saved[i] = *newest(responder, (unsigned)(kept - i));
	free(responder->saved);
	responder->saved = saved;
	responder->saved_count = saved_count;
	responder->saved_tail = kept == saved_count ? 0 : kept;
	if (responder->saved_pending > kept)
		responder->saved_pending = kept;
	return 0;
}

void responses_release(struct qp *qp)
{
	free(qp->responder.saved);
	qp->responder.saved = NULL;
	qp->responder.saved_count = 0;
}

bool responses_have_room(const struct qp *qp)
{
	const struct responder *responder = &qp->responder;

	if (!responder->saved_count)
		return false;
	/* A peer that sends one more has received the oldest response, even if that is now being
	 * repeated. */
	return responder->saved_pending < responder->saved_count ||
	       newest(responder, responder->saved_count)->was_answered;
}

static void save(struct qp *qp, const struct saved_request *request)
{
	struct responder *responder = &qp->responder;

	responder->saved[responder->saved_tail] = *request;
	if (unlikely(qp->type == QP_EEC)) {
		responder->saved[responder->saved_tail].rd_source_qpn = qp->eec->peer_qpn;
		responder->saved[responder->saved_tail].rd_qpn = qp_inbound_qpn(qp);
	}
	responder->saved_tail = (uint8_t)((responder->saved_tail + 1) % responder->saved_count);
	if (responder->saved_pending < responder->saved_count)
		responder->saved_pending++;
	/* The response acknowledges all requests before this one. */
	responder->ack_is_due = false;
}

void responses_save_read(struct qp *qp, const struct packet *packet, uint32_t packet_count)
{
	save(qp, &(struct saved_request){
			 .address = packet->reth.address,
			 .byte_count = packet->reth.bytes,
			 .rkey = packet->reth.rkey,
			 .xrc_srqn = packet->xrc_srqn,
			 .first_psn = packet->bth.psn,
			 .packet_count = packet_count,
		 });
}

void responses_save_atomic(struct qp *qp, const struct packet *packet, uint64_t result)
{
	save(qp, &(struct saved_request){
			 .address = packet->atomic_eth.address,
			 .result = result,
			 .rkey = packet->atomic_eth.rkey,
			 .xrc_srqn = packet->xrc_srqn,
			 .first_psn = packet->bth.psn,
			 .packet_count = 1,
			 .is_atomic = true,
		 });
}

void responses_save_placement(struct qp *qp, const struct packet *packet)
{
	save(qp, &(struct saved_request){
			 .first_psn = packet->bth.psn,
			 .packet_count = 1,
			 .is_placement = true,
		 });
}

struct saved_request *responses_find(const struct qp *qp, struct psn psn)
{
	for (unsigned n = 1; n <= qp->responder.saved_count; n++) {
		struct saved_request *saved = newest(&qp->responder, n);
		int32_t index = psn_distance(saved->first_psn, psn);

		if (index >= 0 && index < (int32_t)saved->packet_count)
			return saved;
	}
	return NULL;
}

const struct saved_request *responses_first_after(const struct qp *qp, struct psn psn)
{
	const struct saved_request *found = NULL;

	for (unsigned n = 1; n <= qp->responder.saved_count; n++) {
		const struct saved_request *saved = newest(&qp->responder, n);

		if (!saved->packet_count || !psn_before(psn, saved->first_psn))
			break;
		found = saved;
	}
	return found;
}

const struct protection_domain *responses_domain(const struct qp *qp,
						 const struct saved_request *saved)
{
	if (unlikely(qp->type == QP_EEC))
		return qp->environment->rd->saved_domain(qp, saved->rd_qpn);
	if (likely(qp->type != QP_XRC_TGT))
		return qp->pd;

	const struct receive_queue *queue = qp->environment->find_xrc_queue(qp, saved->xrc_srqn);

	return queue ? queue->pd : NULL;
}

uint32_t responses_qpn(const struct qp *qp, const struct saved_request *saved)
{
	return unlikely(qp->type == QP_EEC) ? saved->rd_qpn : qp->qpn;
}

/* Answered requests at the front of the pending ones are no longer pending. */
static void skip_answered(struct responder *responder)
{
	while (responder->saved_pending) {
		const struct saved_request *saved = newest(responder, responder->saved_pending);

		if (saved->next_packet < saved->packet_count)
			return;
		responder->saved_pending--;
	}
}

void responses_repeat(struct qp *qp, struct saved_request *saved, uint32_t first_packet)
{
	struct responder *responder = &qp->responder;
	unsigned index = (unsigned)(saved - responder->saved);
	unsigned n = responder->saved_tail > index
			     ? responder->saved_tail - index
			     : responder->saved_tail + responder->saved_count - index;

	saved->start_packet = first_packet;
	saved->next_packet = first_packet;
	if (responder->saved_pending < n)
		responder->saved_pending = (uint8_t)n;
}

void responses_acknowledge(struct qp *qp, struct psn psn)
{
	struct responder *responder = &qp->responder;

	if (responder->ack_is_due && psn_before(psn, responder->ack_psn))
		return;
	responder->ack_is_due = true;
	responder->ack_psn = psn;
}

void responses_nak(struct qp *qp, struct psn psn, uint8_t syndrome)
{
	struct responder *responder = &qp->responder;

	responder->nak_is_due = true;
	responder->nak_was_sent = true;
	responder->nak_psn = psn;
	responder->nak_syndrome = syndrome;
}

bool responses_are_due(const struct qp *qp)
{
	const struct responder *responder = &qp->responder;

	if (qp->state == QP_ERROR && !qp->answers_last_nak)
		return false;
	return responder->saved_pending || responder->nak_is_due || responder->ack_is_due;
}

static void open_response(const struct qp *qp, uint8_t opcode, struct psn psn, uint8_t syndrome,
			  struct packet *ret_packet)
{
	packet_address(qp, &qp->attributes.address, qp->attributes.destination_qpn, ret_packet);
	ret_packet->bth.opcode = qp_transport(qp) | opcode;
	ret_packet->bth.psn = psn;
	ret_packet->aeth = (struct aeth){.syndrome = syndrome, .msn = qp->responder.msn};
	if (unlikely(qp->type == QP_EEC)) {
		ret_packet->bth.destination_qpn = qp->eec->peer_qpn;
		ret_packet->rdeth_eecn = qp->attributes.destination_qpn;
	}
}

/* The region was deregistered between the request and this part of its response. */
static void refuse_read(struct qp *qp, time_ns now, struct saved_request *saved, struct psn psn)
{
	saved->next_packet = saved->packet_count;
	skip_answered(&qp->responder);
	/* Errors of a duplicate are never reported (transport 5.3). */
	if (saved->was_answered)
		return;
	qp->responder.saved_pending = 0;
	responses_nak(qp, psn, aeth_syndrome(AETH_NAK, NAK_REMOTE_ACCESS));
	if (unlikely(qp->type == QP_EEC))
		return;
	qp->answers_last_nak = true;
	qp->environment->event(qp, QP_EVENT_ACCESS_ERROR);
	qp_enter_error(qp, now);
}

static bool answer_read(struct qp *qp, time_ns now, struct saved_request *saved,
			uint32_t train_bytes_max, struct packet *ret_packet)
{
	uint32_t mtu = qp->path_mtu;
	uint32_t index = saved->next_packet;
	uint32_t count = train_bytes_max >= 2 * mtu ? train_bytes_max / mtu : 1;

	if (count > saved->packet_count - index)
		count = saved->packet_count - index;

	bool starts = index == saved->start_packet;
	bool ends = index + count == saved->packet_count;
	uint32_t offset = index * mtu;
	uint32_t byte_count = ends ? saved->byte_count - offset : count * mtu;
	uint8_t opcode = starts ? (ends ? OPCODE_READ_RESPONSE_ONLY : OPCODE_READ_RESPONSE_FIRST)
				: (ends ? OPCODE_READ_RESPONSE_LAST : OPCODE_READ_RESPONSE_MIDDLE);
	struct psn psn = psn_add(saved->first_psn, index);
	uint8_t *bytes = NULL;

	if (byte_count &&
	    (memory_resolve_remote(qp->environment->memory, responses_domain(qp, saved),
				   responses_qpn(qp, saved), saved->rkey, saved->address + offset,
				   byte_count, ACCESS_REMOTE_READ, &bytes) != MEMORY_OK ||
	     !memory_has_pages(qp->environment->memory, bytes, byte_count))) {
		refuse_read(qp, now, saved, psn);
		return false;
	}
	open_response(qp, opcode, psn, credits_syndrome(qp), ret_packet);
	ret_packet->packet_count = count;
	packet_set_payload(ret_packet, bytes, byte_count);
	saved->next_packet += count;
	return true;
}

static bool answer(struct qp *qp, time_ns now, uint32_t train_bytes_max, struct packet *ret_packet)
{
	struct responder *responder = &qp->responder;
	struct saved_request *saved = newest(responder, responder->saved_pending);

	/* Later ACKs go to the same queue pair, since the next message waits for them. */
	if (unlikely(qp->type == QP_EEC))
		qp->eec->peer_qpn = saved->rd_source_qpn;
	if (saved->is_atomic) {
		open_response(qp, OPCODE_ATOMIC_ACKNOWLEDGE, saved->first_psn, credits_syndrome(qp),
			      ret_packet);
		ret_packet->atomic_ack = saved->result;
		saved->next_packet = 1;
	} else if (!answer_read(qp, now, saved, train_bytes_max, ret_packet)) {
		return false;
	}
	if (saved->next_packet == saved->packet_count)
		saved->was_answered = true;
	skip_answered(responder);
	return true;
}

unsigned responses_transmit(struct qp *qp, time_ns now, unsigned packets_max,
			    uint32_t train_bytes_max, struct packet ret_packets[])
{
	struct responder *responder = &qp->responder;
	unsigned count = 0;

	while (count < packets_max && responses_are_due(qp)) {
		struct packet *packet = &ret_packets[count];

		if (responder->saved_pending) {
			count += answer(qp, now, train_bytes_max, packet);
		} else if (responder->nak_is_due) {
			open_response(qp, OPCODE_ACKNOWLEDGE, responder->nak_psn,
				      responder->nak_syndrome, packet);
			responder->nak_is_due = false;
			/* The NAK acknowledges everything before it (transport 3.4). */
			responder->ack_is_due = false;
			qp->answers_last_nak = false;
			count++;
		} else {
			open_response(qp, OPCODE_ACKNOWLEDGE, responder->ack_psn,
				      credits_syndrome(qp), packet);
			responder->ack_is_due = false;
			count++;
		}
	}
	return count;
}
