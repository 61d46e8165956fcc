/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path of SENDs: a SEND of one packet, or a longer one by reference, that leaves at once
 * (vol 1, chapter 9).
 *
 * There are no rules of the transport here. fast_may_post checks that the common case applies: the
 * request is the next to transmit, nothing holds it back, its keys are valid. If a check fails
 * nothing has changed, and the caller uses the engine. Otherwise fast_write and fast_enqueue do
 * what the engine would have done; tests/unit/net/transport/fast/fast_path_test.c compares the two.
 *
 * In line: the peer polls for the message, so each instruction delays it. The callers know the type
 * of the queue pair, so that the compiler makes code for each type.
 */
#ifndef SOFTIB_NET_TRANSPORT_FAST_FAST_SEND_H
#define SOFTIB_NET_TRANSPORT_FAST_FAST_SEND_H

#include <assert.h>
#include <string.h>
#include "base/bytes.h"
#include "net/memory/memory.h"
#include "net/transport/fast/fast_copy.h"
#include "net/transport/fast/templates.h"
#include "net/transport/qp_error.h"
#include "net/transport/report.h"
#include "net/transport/requester.h"
#include "net/transport/retry.h"
#include "wire/packet.h"

enum { FAST_ZCOPY_BYTES_MAX = 1 << 20 };

static_assert(SEND_SEND_IMMEDIATE == (SEND_SEND | 1), "the opcodes of SENDs differ in one bit");

/* A SEND that may leave at once: found by fast_may_post, written by fast_write. */
struct fast_packet {
	const uint8_t *payload;
	uint32_t payload_bytes;
	uint32_t header_bytes;
	uint32_t byte_count;   /* LRH to the last pad byte */
	uint32_t packet_count; /* more than 1: only by reference */
	bool asks_ack;	       /* set by default: on a direct ring an ACK costs no packet */
	bool is_zcopy; /* the receiver's owner copies the payload; only the headers are written */
};

static inline bool fast_has_psns(const struct requester *requester, uint32_t packet_count)
{
	return (uint32_t)psn_distance(requester->oldest_psn, requester->next_psn) + packet_count <=
	       PSNS_OUTSTANDING_MAX;
}

/* Whether a request posted now would be the next one to transmit, and may be. */
static IN_LINE bool fast_sends_next(const struct qp *qp, enum qp_type type, uint32_t packet_count)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	return queue->started == queue->tail && requester->cursor == queue->tail &&
	       !send_queue_is_full(queue) && requester->rnr_deadline == TIME_NEVER &&
	       requester->hold == HOLD_NONE &&
	       (type != QP_RC ||
		(requester->credits != CREDITS_COUNTED && fast_has_psns(requester, packet_count)));
}

/* How many packets a message of the connection has. */
static inline uint32_t fast_packets_of(const struct qp *qp, uint32_t byte_count)
{
	const uint32_t mtu = qp->templates->send.mtu;

	return likely(byte_count <= mtu) ? 1 : (byte_count + mtu - 1) / mtu;
}

/* Finds the bytes of a SEND of one SGE. false: its key needs the engine's check. */
static IN_LINE bool fast_find_payload(struct qp *qp, const struct send_request *request,
				      struct fast_packet *ret_packet)
{
	const struct sge *sge = request->sges;

	ret_packet->payload = (const uint8_t *)(uintptr_t)sge->address;
	ret_packet->payload_bytes = sge->byte_count;
	if (request->flags & SEND_INLINE)
		return likely(sge->byte_count <= qp->requester.queue.inline_bytes_max);
	if (unlikely(!sge->byte_count))
		return true;
	ret_packet->payload = template_place(&qp->templates->send.region, qp->environment->memory,
					     qp->pd, sge, sge->byte_count, 0);
	return likely(ret_packet->payload);
}

/* The lengths of the packet, or of the headers if the SEND has several. */
static IN_LINE void fast_measure(enum qp_type type, const struct send_request *request,
				 uint32_t packet_count, struct fast_packet *ret_packet)
{
	const bool has_immediate = request->opcode & 1;

	ret_packet->header_bytes = FAST_HEADER_BYTES + (type == QP_UD ? DETH_BYTES : 0) +
				   (has_immediate ? IMMEDIATE_BYTES : 0);
	ret_packet->byte_count = ret_packet->header_bytes + ((ret_packet->payload_bytes + 3) & ~3u);
	ret_packet->packet_count = packet_count;
	ret_packet->asks_ack = true;
	ret_packet->is_zcopy = false;
}

/* Whether the request is a SEND that may be transmitted at once: sufficient for qp_post_send to
 * accept it, and for it to be the next to transmit. Only a SEND on a reliable connection may have
 * several packets, up to FAST_ZCOPY_BYTES_MAX. */
MUST_USE static IN_LINE bool fast_may_post(struct qp *qp, enum qp_type type,
					   const struct send_request *request,
					   struct fast_packet *ret_packet)
{
	if (unlikely((request->opcode | 1) != SEND_SEND_IMMEDIATE || request->sge_count != 1 ||
		     request->flags & SEND_FENCE))
		return false;
	if (unlikely(!(type == QP_UD ? send_template_leads_to(qp, request)
				     : send_template_holds(qp)) ||
		     !qp->templates->send.may_send))
		return false;

	const uint32_t byte_count = request->sges[0].byte_count;
	const uint32_t packet_count = fast_packets_of(qp, byte_count);

	if (unlikely(packet_count > 1 && (type != QP_RC || request->flags & SEND_INLINE ||
					  byte_count > FAST_ZCOPY_BYTES_MAX)))
		return false;
	if (unlikely(!fast_sends_next(qp, type, packet_count) ||
		     !fast_find_payload(qp, request, ret_packet)))
		return false;
	fast_measure(type, request, packet_count, ret_packet);
	return true;
}

/* Writes the payload and its pad bytes. */
static IN_LINE void fast_write_payload(const uint8_t *payload, uint32_t byte_count,
				       uint8_t *ret_bytes)
{
	if (byte_count & 3)
		put_be32(ret_bytes + (byte_count & ~3u), 0);
	fast_copy(ret_bytes, payload, byte_count);
}

/* Writes the packet with the next PSN, from its LRH to its last pad byte. The payload of a zcopy
 * message is not written, and the LRH of several packets has no length. */
static IN_LINE void fast_write(const struct qp *qp, enum qp_type type,
			       const struct send_request *request, const struct fast_packet *packet,
			       uint8_t *ret_bytes)
{
	const struct send_template *template = &qp->templates->send;
	const uint64_t length =
		packet->packet_count > 1 ? 0 : lrh_word_length(packet->byte_count + ICRC_BYTES);
	const bool has_immediate = request->opcode & 1;
	const bool is_solicited = request->flags & SEND_SOLICITED;
	uint8_t *behind = ret_bytes + FAST_HEADER_BYTES;

	put_be64(ret_bytes, template->lrh | length);
	put_be64(ret_bytes + LRH_BYTES, template->bth | (has_immediate ? BTH_WORD_IMMEDIATE : 0) |
						(is_solicited ? BTH_WORD_SOLICITED : 0) |
						bth_word_pad(packet->payload_bytes));
	put_be32(ret_bytes + FAST_PSN_OFFSET,
		 bth_psn_word(type == QP_RC && packet->asks_ack, qp->requester.next_psn));
	if (type == QP_UD) {
		put_be32(behind, qp_sent_qkey(qp, request->remote_qkey));
		put_be32(behind + 4, qp->qpn & 0xffffff);
		behind += DETH_BYTES;
	}
	if (has_immediate)
		memcpy(behind, &request->immediate_or_rkey, IMMEDIATE_BYTES);
	if (!packet->is_zcopy)
		fast_write_payload(packet->payload, packet->payload_bytes,
				   ret_bytes + packet->header_bytes);
}

/* Remembers a SEND of one packet that fast_write wrote, for fast_write_by_template. */
static IN_LINE void fast_remember(struct qp *qp, const struct send_request *request,
				  const uint8_t *headers)
{
	struct send_template *template = &qp->templates->send;

	template->flags = request->flags;
	template->byte_count = request->opcode == SEND_SEND ? request->sges[0].byte_count : 0;
	memcpy(template->headers, headers, sizeof(template->headers));
}

/* Whether a SEND of a reliable connection has the headers of the last one, but for the PSN, and may
 * be transmitted at once. If a SEND matches the last one of its queue pair, the request was checked
 * already. */
MUST_USE static IN_LINE bool fast_may_post_by_template(struct qp *qp, uint32_t flags,
						       const struct sge *sge)
{
	const struct send_template *template = &qp->templates->send;

	return template->epoch == qp->environment->epoch && template->byte_count &&
	       sge->byte_count == template->byte_count &&
	       !((flags ^ template->flags) & ~(uint32_t)SEND_SIGNALED) &&
	       fast_sends_next(qp, QP_RC, 1);
}

/* fast_write for that SEND. */
static IN_LINE void fast_write_by_template(const struct qp *qp, const uint8_t *payload,
					   uint8_t *ret_bytes)
{
	const struct send_template *template = &qp->templates->send;

	memcpy(ret_bytes, template->headers, sizeof(template->headers));
	put_be32(ret_bytes + FAST_PSN_OFFSET, bth_psn_word(true, qp->requester.next_psn));
	fast_write_payload(payload, template->byte_count, ret_bytes + FAST_HEADER_BYTES);
}

/* The SEND of the slot at the cursor has been written and counts as sent. */
static IN_LINE void fast_advance(struct qp *qp, enum qp_type type, time_ns now,
				 struct send_slot *slot, const struct fast_packet *packet)
{
	struct requester *requester = &qp->requester;

	slot->first_psn = requester->next_psn;
	slot->packet_count = packet->packet_count;
	requester->has_zcopy |= packet->is_zcopy;
	requester_issue(requester, packet->packet_count, true);
	if (type == QP_RC) {
		if (likely(packet->asks_ack))
			requester->asked_psn = requester->next_psn;
		if (requester->retry_deadline == TIME_NEVER && qp->attributes.timeout)
			requester->retry_deadline = RETRY_UNDATED;
		return;
	}
	requester->oldest_psn = requester->next_psn;
	if (unlikely(packet->is_zcopy))
		slot->flags |= SEND_ZCOPY;
	else if (likely(requester->queue.started - requester->queue.done == 1))
		report_send(qp, now, COMPLETION_SUCCESS);
	qp_settle(qp, now);
}

/* Posts the request, whose packet has been written. The slot gets what a retransmission or the
 * completion needs; for a datagram only the latter. now: for completions only. The caller must have
 * retry_date called with the right time soon after. */
static IN_LINE void fast_enqueue(struct qp *qp, enum qp_type type, time_ns now,
				 const struct send_request *request,
				 const struct fast_packet *packet)
{
	struct send_queue *queue = &qp->requester.queue;
	struct send_slot *slot = send_queue_slot(queue, queue->tail);

	slot->wr_id = request->wr_id;
	slot->immediate_or_rkey = request->immediate_or_rkey;
	slot->byte_count = packet->payload_bytes;
	slot->opcode = (uint8_t)request->opcode;
	slot->flags = (uint8_t)(request->flags & SEND_FLAGS);
	slot->fault = COMPLETION_SUCCESS;
	slot->sge_count = !(request->flags & SEND_INLINE);
	if (type == QP_RC && slot->sge_count)
		sge_copy(&request->sges[0], send_slot_sges(slot));
	else if (type == QP_RC)
		fast_copy(slot->data, packet->payload, packet->payload_bytes);
	queue->tail++;
	fast_advance(qp, type, now, slot, packet);
}

/* fast_may_post and fast_write for the request at the cursor of a reliable connection, if it may go
 * by reference. fast_advance comes next. */
MUST_USE bool fast_next_zcopy(struct qp *qp, struct fast_packet *ret_packet);
void fast_write_next(const struct qp *qp, const struct fast_packet *packet, uint8_t *ret_bytes);

/* By reference: the payload stays in place until it is acknowledged, as for a retransmission. If
 * the request ends in another way, environment->take_back is called first. A datagram is done when
 * the owner calls this for the oldest one by reference. */
void fast_ud_zcopy_done(struct qp *qp, time_ns now);

/* Whether the only response that is due is an ACK without a credit limit. The ACK then counts as
 * sent. send_template_holds must be true. */
MUST_USE static inline bool fast_take_ack(struct qp *qp, struct psn *ret_psn)
{
	struct responder *responder = &qp->responder;

	if (unlikely(!responder->ack_is_due ||
		     (responder->saved_pending || responder->nak_is_due) || qp->state == QP_ERROR ||
		     qp->promises_receives))
		return false;
	responder->ack_is_due = false;
	*ret_psn = responder->ack_psn;
	return true;
}

/* The requester's side of fast_take_ack; now and the timer as with fast_enqueue. false: nothing was
 * done. */
MUST_USE bool fast_acknowledge(struct qp *qp, time_ns now, struct psn psn);

#endif
