/* SPDX-License-Identifier: Apache-2.0 */
/* Inline functions for both ways of sending on the fast path: from the send queue, and while
 * posting. */
#ifndef SOFTIB_NET_TRANSPORT_FAST_SHORT_PACKETS_H
#define SOFTIB_NET_TRANSPORT_FAST_SHORT_PACKETS_H

#include <assert.h>
#include <string.h>
#include "base/bytes.h"
#include "net/memory/memory.h"
#include "net/transport/fast/header_cache.h"
#include "net/transport/report.h"
#include "net/transport/requester.h"
#include "net/transport/retry.h"
#include "net/transport/qp_error.h"
#include "wire/mtu.h"
#include "wire/packet.h"

enum { FAST_BTH_ACK_REQUEST = 0x80 };

static_assert(OPCODE_SEND_ONLY_IMMEDIATE == (OPCODE_SEND_ONLY | 1),
	      "the lowest bit of the opcode says whether there is immediate data");

static inline bool fast_has_psns(const struct requester *requester, uint32_t packet_count)
{
	return (uint32_t)psn_distance(requester->oldest_psn, requester->next_psn) + packet_count <=
	       PSNS_OUTSTANDING_MAX;
}

/* Whether a request posted now would be the next one to transmit, as far as that depends on the
 * queue pair and not on the request. */
static inline bool fast_sends_next(const struct qp *qp)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	return queue->started == queue->tail && requester->cursor == queue->tail &&
	       !send_queue_is_full(queue) && requester->rnr_deadline == TIME_NEVER &&
	       requester->hold == HOLD_NONE;
}

/* Whether a reliable connection may send so many more packets. */
static inline bool fast_is_open(const struct qp *qp, uint32_t packet_count)
{
	return qp->requester.credits != CREDITS_COUNTED &&
	       fast_has_psns(&qp->requester, packet_count);
}

/* Whether a SEND on a reliable connection that matches the one posted before it may be sent at
 * once. */
static inline bool fast_may_post_by_template(const struct qp *qp)
{
	return qp->header_cache.sends == qp->environment->port_changes + 1 && fast_sends_next(qp) &&
	       fast_is_open(qp, 1);
}

/* byte_count is not 0. */
static inline uint32_t fast_packets_of(const struct qp *qp, uint32_t byte_count)
{
	return (byte_count + qp->path_mtu - 1) / qp->path_mtu;
}

/* The queue pair must have a port, so it is not in Reset. */
static inline uint32_t fast_largest_packet(const struct qp *qp)
{
	return qp->type == QP_UD ? mtu_bytes(qp->port->mtu_code) : qp->path_mtu;
}

/* The length field of the LRH. The cached headers have 0 there, and in opcode, solicited event and
 * pad count, which also differ between the SENDs of a queue pair. */
static inline uint64_t fast_lrh_length(uint32_t byte_count)
{
	return (uint64_t)((byte_count + ICRC_BYTES) / 4 & 0x7ff) << 16;
}

/* The fields of one SEND, from its slot or from the request; the last three are a datagram's. */
struct fast_message {
	uint32_t opcode;
	uint32_t flags;
	uint32_t immediate;
	const struct address_vector *address;
	uint32_t qpn;
	uint32_t qkey;
};

static inline uint64_t fast_bth_flags(const struct fast_message *message, uint32_t payload_bytes)
{
	uint64_t has_immediate = message->opcode == SEND_SEND_IMMEDIATE;
	uint64_t is_solicited = (message->flags & SEND_SOLICITED) != 0;

	return has_immediate << 56 | is_solicited << 55 | (uint64_t)(-payload_bytes & 3) << 52;
}

/* Writes the payload and its pad bytes. */
static inline void fast_write_payload(const uint8_t *payload, uint32_t byte_count,
				      uint8_t *ret_bytes)
{
	if (byte_count == sizeof(uint64_t)) {
		memcpy(ret_bytes, payload, sizeof(uint64_t));
		return;
	}
	if (byte_count & 3)
		put_be32(ret_bytes + (byte_count & ~3u), 0);
	memcpy(ret_bytes, payload, byte_count);
}

/* The last word of the next packet's BTH: AckReq and PSN. */
static inline uint32_t fast_psn_word(enum qp_type type, const struct qp *qp, bool asks_ack)
{
	return (type == QP_RC && asks_ack ? (uint32_t)FAST_BTH_ACK_REQUEST << 24 : 0) |
	       qp->requester.next_psn.value;
}

static inline void fast_write_deth(const struct qp *qp, uint32_t qkey, uint8_t *ret_bytes)
{
	put_be32(ret_bytes, qkey);
	put_be32(ret_bytes + 4, qp->qpn & 0xffffff);
}

/* Writes everything behind the BTH, up to the last pad byte. */
static IN_LINE void fast_write_rest(const struct qp *qp, const struct fast_packet *packet,
				    const struct fast_message *message, bool is_datagram,
				    uint8_t *ret_bytes)
{
	uint8_t *payload = ret_bytes + packet->header_bytes - FAST_HEADER_BYTES;

	if (is_datagram) {
		fast_write_deth(qp, qp_sent_qkey(qp, message->qkey), ret_bytes);
		ret_bytes += DETH_BYTES;
	}
	if (message->opcode == SEND_SEND_IMMEDIATE)
		memcpy(ret_bytes, &message->immediate, IMMEDIATE_BYTES);
	if (!packet->is_zcopy)
		fast_write_payload(packet->payload, packet->payload_bytes, payload);
}

/* Writes the packet with the next PSN. */
static IN_LINE void fast_write_packet(const struct qp *qp, const struct fast_packet *packet,
				      const struct fast_message *message, bool is_datagram,
				      uint8_t *ret_bytes)
{
	uint64_t lrh = is_datagram ? fast_lrh(qp, message->address) : qp->header_cache.lrh;
	uint64_t bth = is_datagram ? fast_bth(qp, message->qpn) : qp->header_cache.bth;

	/* The LRH of a train has no length. */
	put_be64(ret_bytes,
		 packet->packet_count > 1 ? lrh : lrh | fast_lrh_length(packet->byte_count));
	put_be64(ret_bytes + LRH_BYTES, bth | fast_bth_flags(message, packet->payload_bytes));
	put_be32(ret_bytes + FAST_PSN_OFFSET, fast_psn_word(qp->type, qp, packet->asks_ack));
	fast_write_rest(qp, packet, message, is_datagram, ret_bytes + FAST_HEADER_BYTES);
}

/* The packet of the slot at the cursor has been written and counts as sent. */
static inline void fast_advance(struct qp *qp, time_ns now, struct send_slot *slot,
				const struct fast_packet *packet)
{
	struct requester *requester = &qp->requester;

	slot->first_psn = requester->next_psn;
	slot->packet_count = packet->packet_count;
	if (packet->is_zcopy)
		requester->has_zcopy = true;
	requester->queue.started++;
	requester->cursor++;
	requester->next_psn = psn_add(requester->next_psn, packet->packet_count);
	/* A SEND takes one of the peer's receive requests, so it counts for credits even if they
	 * are not limited (transport 3.6). */
	requester->messages_started = psn_add(requester->messages_started, 1);
	if (qp->type == QP_RC) {
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

/* Whether a SEND goes where the last posted datagram of this queue pair went, with the same
 * headers. */
MUST_USE bool fast_is_same_destination(const struct qp *qp, const struct send_request *request);

/* The headers of the packet that the queue pair posted last, with the next PSN. */
static IN_LINE void fast_template_headers(const struct qp *qp, uint8_t *ret_bytes)
{
	const struct tx_header_cache *sent = tx_header_cache(qp);

	memcpy(ret_bytes, sent->bytes, sizeof(sent->bytes));
	put_be32(ret_bytes + sizeof(sent->bytes), fast_psn_word(qp->type, qp, true));
	if (qp->type == QP_UD)
		fast_write_deth(qp, sent->qkey, ret_bytes + FAST_HEADER_BYTES);
}

/* As fast_post_packet. Uses the headers of the packet that the queue pair posted last, if this one
 * differs only in PSN and payload. */
static IN_LINE void fast_write_posted(const struct qp *qp, const struct send_request *request,
				      const struct fast_packet *packet, uint8_t *ret_bytes)
{
	const struct tx_header_cache *sent = tx_header_cache(qp);

	if (unlikely(sent->qp != qp || sent->payload_bytes != packet->payload_bytes ||
		     (sent->flags ^ request->flags) & ~(uint32_t)SEND_SIGNALED ||
		     request->opcode != SEND_SEND) ||
	    (qp->type == QP_UD && !fast_is_same_destination(qp, request))) {
		fast_post_packet(qp, request, packet, ret_bytes);
		return;
	}
	fast_template_headers(qp, ret_bytes);
	if (!packet->is_zcopy)
		fast_write_payload(packet->payload, packet->payload_bytes,
				   ret_bytes + packet->header_bytes);
}

/* Enqueues a posted request whose packet has been written. The slot gets what a retransmission or
 * the completion needs; for a datagram only the latter. */
static IN_LINE void fast_enqueue(struct qp *qp, time_ns now, const struct send_request *request,
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
	if (qp->type == QP_RC && slot->sge_count)
		sge_copy(&request->sges[0], send_slot_sges(slot));
	else if (qp->type == QP_RC)
		fast_copy(slot->data, packet->payload, packet->payload_bytes);
	queue->tail++;
	fast_advance(qp, now, slot, packet);
}

/* How many more SENDs of one packet the send queue and the PSN space allow. */
static inline uint32_t fast_payloads_room(const struct qp *qp)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;
	uint32_t requests = queue->requests_max - (queue->tail - queue->head);
	uint32_t psns = PSNS_OUTSTANDING_MAX -
			(uint32_t)psn_distance(requester->oldest_psn, requester->next_psn);

	return requests < psns ? requests : psns;
}

/* Finds the packet of a SEND with one SGE, for which only the memory is left to check. false: the
 * check failed. */
static IN_LINE bool fast_find_packet(const struct qp *qp, const struct send_request *request,
				     bool is_datagram, struct fast_packet *ret_packet)
{
	const struct sge *sge = request->sges;
	const bool has_immediate = request->opcode == SEND_SEND_IMMEDIATE;

	ret_packet->payload = (const uint8_t *)(uintptr_t)sge->address;
	if (!(request->flags & SEND_INLINE) && likely(sge->byte_count)) {
		ret_packet->payload = memory_place(qp->environment->memory, qp->pd, sge->lkey,
						   sge->address, sge->byte_count, 0);
		if (unlikely(!ret_packet->payload))
			return false;
	}
	ret_packet->payload_bytes = sge->byte_count;
	ret_packet->header_bytes = FAST_HEADER_BYTES + (is_datagram ? DETH_BYTES : 0) +
				   (has_immediate ? IMMEDIATE_BYTES : 0);
	ret_packet->byte_count = ret_packet->header_bytes + ((sge->byte_count + 3) & ~3u);
	ret_packet->packet_count = 1;
	ret_packet->asks_ack = true;
	ret_packet->is_zcopy = false;
	return true;
}

/* Finds the packet of a SEND that may be a payload record. The caller has checked that nothing was
 * done since the SEND before it, that flags, length and destination are the same, and that there is
 * room. */
static IN_LINE bool fast_may_post_payload(const struct qp *qp, const struct send_request *request,
					  struct fast_packet *ret_packet)
{
	return likely(request->opcode == SEND_SEND && request->sge_count == 1) &&
	       fast_find_packet(qp, request, qp->type == QP_UD, ret_packet);
}

#endif
