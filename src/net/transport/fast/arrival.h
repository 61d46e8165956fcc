/* SPDX-License-Identifier: Apache-2.0 */
/* A SEND that arrives on the fast path, in line: for single messages (fast_receive.h) and bursts
 * (rx_burst.h). arrival_report is in fast_receive.c. */
#ifndef SOFTIB_NET_TRANSPORT_FAST_ARRIVAL_H
#define SOFTIB_NET_TRANSPORT_FAST_ARRIVAL_H

#include <string.h>
#include "base/bytes.h"
#include "net/memory/memory.h"
#include "net/transport/completion_ring.h"
#include "net/transport/fast/fast_copy.h"
#include "net/transport/fast/templates.h"
#include "net/transport/qp_error.h"
#include "wire/packet.h"

/* The headers of a SEND; its payload is payload_bytes long. */
struct arrival {
	uint64_t lrh, bth;
	uint64_t deth; /* datagrams only */
	uint32_t psn_word;
	uint32_t immediate; /* as it stands in memory; only if there is any */
	uint32_t payload_offset;
	uint32_t payload_bytes;
};

/* Reads each header once: bytes may change concurrently. payload_bytes is not set. The callers know
 * whether the queue pair takes datagrams, so that the compiler makes code for either case. */
static IN_LINE struct arrival arrival_read(const uint8_t *bytes, bool is_datagram)
{
	struct arrival arrival = {
		.lrh = get_be64_once(bytes),
		.bth = get_be64_once(bytes + LRH_BYTES),
		.psn_word = get_be32_once(bytes + FAST_PSN_OFFSET),
		.payload_offset = FAST_HEADER_BYTES,
	};

	if (is_datagram) {
		arrival.deth = get_be64_once(bytes + FAST_HEADER_BYTES);
		arrival.payload_offset += DETH_BYTES;
	}
	if (arrival.bth & BTH_WORD_IMMEDIATE) {
		memcpy(&arrival.immediate, bytes + arrival.payload_offset, IMMEDIATE_BYTES);
		arrival.payload_offset += IMMEDIATE_BYTES;
	}
	return arrival;
}

/* The length of the payload in a packet of byte_count bytes. false: the lengths do not agree. */
MUST_USE static IN_LINE bool arrival_measure(struct arrival *arrival, uint32_t byte_count)
{
	const uint32_t other_bytes = arrival->payload_offset + bth_word_pad_bytes(arrival->bth);

	arrival->payload_bytes = byte_count - other_bytes;
	return byte_count >= other_bytes && lrh_word_bytes(arrival->lrh) == byte_count + ICRC_BYTES;
}

/* The bytes of the receive buffer before the payload. */
static inline uint32_t arrival_room(bool is_datagram)
{
	return is_datagram ? GRH_BYTES : 0;
}

/* Whether the queue pair may take a message with this PSN now; a datagram with any PSN, and the
 * right Q_Key. */
static IN_LINE bool arrival_is_next(const struct qp *qp, const struct arrival *arrival,
				    bool is_datagram)
{
	const struct responder *responder = &qp->responder;

	if (unlikely(responder->has_receive))
		return false;
	if (is_datagram)
		return (uint32_t)(arrival->deth >> 32) == qp->attributes.qkey;
	return psn_equal(psn_from(arrival->psn_word), responder->expected_psn) &&
	       responder->inbound == INBOUND_IDLE && (!responder->placed || qp->type == QP_RC);
}

/* The receive request that the message will use, if it has one SGE with room for byte_count bytes
 * in a region that the fast path covers. */
static IN_LINE struct receive_slot *arrival_find_place(struct qp *qp, uint32_t byte_count,
						       uint8_t **ret_bytes)
{
	const struct receive_queue *queue = qp->receive_queue;

	if (unlikely(!receive_queue_count(queue)))
		return NULL;

	struct receive_slot *slot = receive_queue_slot(queue, queue->head);

	if (unlikely(slot->sge_count != 1 || slot->sges[0].byte_count < byte_count))
		return NULL;
	*ret_bytes = NULL;
	if (unlikely(!byte_count))
		return slot;
	*ret_bytes = template_place(&qp->templates->receive.region, qp->environment->memory,
				    queue->pd, &slot->sges[0], byte_count, ACCESS_LOCAL_WRITE);
	return likely(*ret_bytes) ? slot : NULL;
}

/* The completion without wr_id and time. */
static IN_LINE struct completion arrival_completion(const struct qp *qp,
						    const struct arrival *arrival, bool is_datagram)
{
	const bool has_immediate = arrival->bth & BTH_WORD_IMMEDIATE;

	return (struct completion){
		.status = COMPLETION_SUCCESS,
		.opcode = COMPLETED_RECEIVE,
		.flags = has_immediate ? COMPLETION_HAS_IMMEDIATE : 0,
		.is_solicited = arrival->bth & BTH_WORD_SOLICITED,
		.byte_count = arrival->payload_bytes + arrival_room(is_datagram),
		.immediate_or_rkey = has_immediate ? arrival->immediate : 0,
		.qpn = qp->qpn,
		.source_qpn = is_datagram ? (uint32_t)arrival->deth & 0xffffff
					  : qp->attributes.destination_qpn,
		.slid = lrh_word_slid(arrival->lrh),
		.sl = lrh_word_sl(arrival->lrh),
		.path_bits = (uint8_t)(is_datagram ? lrh_word_dlid(arrival->lrh) &
							     ((1u << qp->port->lmc) - 1)
						   : 0),
		.pkey_index = qp->attributes.pkey_index,
	};
}

static IN_LINE void arrival_use_request(struct qp *qp)
{
	struct receive_queue *queue = qp->receive_queue;

	queue->head++;
	if (unlikely(queue != &qp->own_receives))
		qp->environment->shared_receive_taken(qp);
}

/* Completes a message for an owner that wants to hear of each completion. Not inline, so that the
 * common case needs no stack space for the completion. */
void arrival_report(struct qp *qp, time_ns now, struct completion value);

/* The payload is in place: advances the responder of a connection past the message, which has so
 * many packets. */
static IN_LINE void arrival_accept(struct qp *qp, const struct arrival *arrival,
				   uint32_t packet_count)
{
	struct responder *responder = &qp->responder;
	const struct psn last = psn_add(psn_from(arrival->psn_word), packet_count - 1);

	responder->expected_psn = psn_add(last, 1);
	responder->inbound_bytes = arrival->payload_bytes;
	if (qp->type != QP_RC)
		return;
	responder->nak_is_due = false;
	responder->nak_was_sent = false;
	responder->msn = (responder->msn + 1) & 0xffffff;
	/* This PSN is later than that of an ACK already due, since it was the expected one. */
	if (likely(bth_psn_word_asks(arrival->psn_word))) {
		responder->ack_is_due = true;
		responder->ack_psn = last;
	}
}

#endif
